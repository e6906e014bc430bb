// The output is declared larger than its memory.
#pragma once

#include <sys/mman.h>

#include "broken_kernels/broken.hpp"

namespace tessera::broken::tensor_beyond_its_memory {

struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{32};
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    C(t.block, t.lane) = 1;  // here
  }
};

/// C (rows,1024 x 32 bits) in 4 KiB of memory, which hold one row, before memory that may not be
/// touched.
inline check::Report checked(int rows) {
  constexpr std::size_t page = 4096;
  void* const memory =
      mmap(nullptr, 64 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  mprotect(memory, page, PROT_READ | PROT_WRITE);
  auto report = check::check({.threads = 1}, Dim3{rows}, Kernel{},
                             tensor<kRowMajorMatrix>(static_cast<float*>(memory), rows, 32, 1024));
  munmap(memory, 64 * page);
  return report;
}

inline const Case kCase{"tensor_beyond_its_memory", __FILE__,
                        check::Kind::out_of_bounds, check::Severity::error,
                        [] { return checked(3); },  [] { return checked(1); }};

}  // namespace tessera::broken::tensor_beyond_its_memory
