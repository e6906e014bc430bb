// What the first call would wait for is done when the library is loaded: CPUID, which virtual
// machines trap, and the page faults of the code that small products run. Not where a variable
// changes the choice of kernels, because the library may complain about its value: only a process
// that multiplies should say so.
#include <cstdlib>

#include "tessera/core/team.hpp"
#include "tessera/cpu/gemm.hpp"

namespace tessera {
namespace {

template <class T>
void multiply_zeros() {
  constexpr index_t tiny = 8, small = 64;
  static T zeros[small * small];
  for (const index_t n : {tiny, small}) {
    cpu::Gemm<T> call{.M = n, .N = n, .K = n, .A = zeros, .a_row = n, .B = zeros, .b_row = n};
    call.C = zeros, call.c_row = n, call.threads = 2;
    cpu::gemm(call);
  }
}

[[gnu::constructor]] void warm_up() {
  for (const char* name : {"TESSERA_CPU", "TESSERA_CPU_TUNING"}) {
    if (std::getenv(name) != nullptr) return;
  }
  const PredictOnly starts_no_workers;  // but decides whether they would help
  multiply_zeros<float>();
  multiply_zeros<double>();
}

}  // namespace
}  // namespace tessera
