// expect: run passes plain values and managed tensors
// expect: run passes no pointers, which hold on one device: give it a Vector instead
// expect: a kernel is copied to the device: its members are plain values
#include <string>

#include "tessera/device/device.hpp"

using namespace tessera;

struct TakesOne {
  static constexpr Dim3 block{32};
  TESSERA_KERNEL void operator()(auto, auto) const {}
};
struct HoldsText {
  static constexpr Dim3 block{32};
  std::string text;
  TESSERA_KERNEL void operator()(auto, auto) const {}
};

void use(const Device& device, float* pointer) {
  run(device, Dim3{1}, Dim3{32}, TakesOne{}, std::string("text"));  // refused
  run(device, Dim3{1}, Dim3{32}, TakesOne{}, pointer);              // refused
  run(device, Dim3{1}, Dim3{32}, HoldsText{}, 1);                   // refused
}
