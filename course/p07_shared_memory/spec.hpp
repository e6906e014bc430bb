#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 1, 64, 0.25);
  auto out = puzzle::output("out", 1, 64, [](index_t, index_t i) { return (63.0 - i) / 4; });
  puzzle::expect_mistakes(out, {{"all-wrong", [](index_t, index_t i) { return i / 4.0; },
                                 "out is a itself: it is reversed twice, or not at all",
                                 "s.values(0, i) = a(i), and then out(i) from 63 - i"}});
  run.launch("64 elements, one block", Dim3{1}, Reversed{}, puzzle::line(a), puzzle::line(out));
  const auto& total = run.total();
  run.goal("elements that do not go through shared memory",
           64 - double(std::min(total.shared_store_bytes, total.shared_load_bytes)) / 4, 0,
           "every thread writes its element to s.values and reads another one's from there");
}
