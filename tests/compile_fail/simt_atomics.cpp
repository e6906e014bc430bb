// expect: an atomic load moves 4 or 8 bytes
// expect: an atomic store moves 4 or 8 bytes
#include <cstdint>

#include "tessera/simt/launch.hpp"
#include "tessera/tensor/host_tensor.hpp"

using namespace tessera;

struct LoadsBytes {
  static constexpr Dim3 block{32};
  void operator()(auto t, auto F) const {
    if (t.atomic_load(F(0, 0)) == 0) return;  // refused
  }
};
struct StoresBytes {
  static constexpr Dim3 block{32};
  void operator()(auto t, auto F) const {
    t.atomic_store(F(0, 0), 1);  // refused
  }
};

void use(HostTensor<std::int8_t>& F) {
  launch(Dim3{1}, LoadsBytes{}, F.view());
  launch(Dim3{1}, StoresBytes{}, F.view());
}
