// The kernel tables of every instruction set that this CPU runs, whichever it would choose.
#pragma once

#include <type_traits>
#include <vector>

#include "kernels.hpp"
#include "tessera/core/cpu.hpp"

namespace tessera::testing {

inline std::vector<const cpu::KernelSet*> runnable_sets() {
  std::vector<const cpu::KernelSet*> out;
  for (const auto& each : cpu::every_kernel_set()) {
    if (each.path <= best_vector_path()) out.push_back(each.set);
  }
  return out;
}

/// The table for f32 or f64 of each of them.
template <class T>
std::vector<const cpu::Kernels<T, T, T>*> runnable_tables() {
  std::vector<const cpu::Kernels<T, T, T>*> out;
  for (const cpu::KernelSet* set : runnable_sets()) {
    if constexpr (std::is_same_v<T, float>) {
      out.push_back(&set->f32);
#if defined(__x86_64__)
      if (set == &cpu::kAvx512) out.push_back(&cpu::kAvx512Narrow);
#endif
    } else {
      out.push_back(&set->f64);
    }
  }
  return out;
}

}  // namespace tessera::testing
