// Repeats a system call that a signal interrupted before it did anything. Not for close(), which
// frees the descriptor in any case.
#pragma once

#include <cerrno>

namespace tessera::io {

/// The result of `call` once no signal interrupts it.
template <class Call>
auto uninterrupted(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace tessera::io
