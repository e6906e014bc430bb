// What the program dies of outside of watched kernels: the host's own faults, and those of blocks
// that nobody watches. The report is printed all the same. Private to the run-time.
#pragma once

#include <cstdint>

#include "tessera/plain_cuda/parts/place.h"

namespace tessera::plain_cuda {

struct Crash {
  int signal = 0;
  std::uint64_t address = 0;  ///< of the access; 0: none, or null
  bool is_access = false;     ///< a fault at that address
  bool in_kernel = false;
  Place place;  ///< the innermost of the user's files; line 0: nobody knows
};

/// From now on a signal that would end the process stops the thread that has met it. The calling
/// thread is the one that asks crashed() and prints the report: its own faults end the process.
void catch_crashes();
/// The calling thread, the program's own, may overflow its stack: its handler runs elsewhere.
void use_stack_for_crashes();
/// Has a thread met such a signal?
bool has_crashed();
/// What it was.
Crash crashed();

}  // namespace tessera::plain_cuda
