// expect: a ManagedTensor has 1 to 8 modes
// expect: a ManagedTensor holds plain values, which can be copied byte for byte
// expect: a ManagedTensor takes one coordinate for each mode
#include <string>

#include "tessera/device/device.hpp"

using namespace tessera;

ManagedTensor<float, 9> nine;        // refused
ManagedTensor<std::string, 1> text;  // refused

float use(const ManagedMatrix<float>& A) {
  return A(0);  // refused
}
