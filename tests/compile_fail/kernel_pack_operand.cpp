// expect: pack_operand: one plane, or three of bf16
#include "tessera/kernels/pack_operand.hpp"

using namespace tessera;

constexpr auto use_1 = sizeof(PackOperand<2>);  // refused
