// expect: meet<id>: barriers of a part of the block are 1 to 15
// expect: a thread has 24 to 256 registers, a multiple of 8
#include "tessera/simt/gate.hpp"
#include "tessera/simt/launch.hpp"

using namespace tessera;

void use(CpuThread<Dim3{128}, 32>& t) {
  meet<0>(t, 128);         // refused
  fewer_registers<20>(t);  // refused
  more_registers<236>(t);  // refused
}
