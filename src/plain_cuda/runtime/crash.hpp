// Crashes outside of watched kernels: the host's own faults, and those of unwatched blocks. The
// report is still printed. Private to the runtime.
#pragma once

#include <cstdint>

#include "tessera/plain_cuda/parts/place.h"

namespace tessera::plain_cuda {

struct Crash {
  int signal = 0;
  std::uint64_t address = 0;  ///< of the access; 0: none, or null
  bool is_access = false;     ///< a fault at that address
  bool in_kernel = false;
  Place place;  ///< the innermost in the user's files; line 0: unknown
};

/// Where a signal interrupted the code: `context` is the third argument of its handler.
std::uintptr_t counter_of(const void* context);
/// From now on a signal that would end the process only stops the thread that raised it. The
/// calling thread calls crashed() and prints the report: its own faults end the process.
void catch_crashes();
/// The calling thread, the program's own, may overflow its stack: its handler uses another stack.
void use_stack_for_crashes();
/// Has a thread raised such a signal?
bool has_crashed();
/// What it was.
Crash crashed();

}  // namespace tessera::plain_cuda
