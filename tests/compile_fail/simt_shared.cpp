// expect: shared<S>(t) is storage of the whole block, and this would be a copy for one thread: write auto& s = shared<Shared>(t), capture s by reference ([&]) and pass it on as auto&
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"

using namespace tessera;

struct Thread {
  void* shared_memory(std::size_t) { return nullptr; }
};
// One type for each use: the compiler says a sentence once for each.
template <int Use>
struct Shared {
  Tile<float, 16, 16> a, b;
};
float by_value(auto s) { return s.a(0, 0); }

void use(Thread& t) {
  auto forgotten = shared<Shared<0>>(t);             // refused
  auto& s = shared<Shared<1>>(t);                    // 's' is the storage itself
  const auto captured = [=] { return s.a(0, 0); };   // refused
  const float sum = by_value(shared<Shared<2>>(t));  // refused
  auto [a, b] = shared<Shared<3>>(t);                // refused
  auto tile = shared<Tile<float, 4, 4>>(t);          // refused
  auto& [of_the_block, too] = shared<Shared<4>>(t);  // both are the storage itself
  const auto by_reference = [&] { return s.a(0, 0) + sum; };
}
