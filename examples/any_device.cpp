// One kernel, any device, one call: TESSERA_DEVICE=checked any_device runs it under the checker,
// TESSERA_DEVICE=cuda:0 on a GPU. Vectors are copied to the device that needs them, and back.
#include <cstdio>

#include "tessera/device/device.hpp"

using namespace tessera;

struct Add {
  static constexpr const char* name = "add";
  static constexpr Dim3 block{256};

  TESSERA_KERNEL void operator()(auto t, auto a, auto b, auto c) const {
    const index_t i = index_t{t.block.x} * block.x + t.thread.x;
    if (i < c.size()) c(i) = a(i) + b(i);
  }
};

int main(int count, char** words) try {
  const Vector<float> a({1, 2, 3, 4}), b({10, 20, 30, 40});
  Vector<float> c(a.size());
  const Device device = count > 1 ? Device::parse(words[1]) : Device::get_default();
  run(device, Dim3{1}, Add::block, Add{}, a, b, c);
  std::printf("%g %g %g %g on %s\n", double{c(0)}, double{c(1)}, double{c(2)}, double{c(3)},
              to_string(device).c_str());
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return exit_code(error.category());
}
