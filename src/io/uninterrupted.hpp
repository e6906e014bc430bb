// Repeats a system call that a signal interrupted before it did anything. Not for close(), after
// which the descriptor is closed in any case.
#pragma once

#include <cerrno>

namespace tessera::io {

/// Calls until no signal interrupts; returns the result.
template <class Call>
auto uninterrupted(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace tessera::io
