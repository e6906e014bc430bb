// The cores that the threads of this process may run on. Private to src/core.
#pragma once

#include <sched.h>
#include <unistd.h>

namespace tessera {

/// The union of the masks of the calling thread and the main thread: a program that pins each of
/// its threads to one core still has the others. Empty where the system does not say.
inline cpu_set_t allowed_cores() {
  cpu_set_t own, first;
  CPU_ZERO(&own);
  CPU_ZERO(&first);
  if (sched_getaffinity(0, sizeof own, &own) != 0) CPU_ZERO(&own);
  if (sched_getaffinity(getpid(), sizeof first, &first) != 0) CPU_ZERO(&first);
  CPU_OR(&own, &own, &first);
  return own;
}

}  // namespace tessera
