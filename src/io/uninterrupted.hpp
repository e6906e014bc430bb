// A signal may interrupt a system call before it has done anything: then it is made again. Not for
// close(), after which the descriptor is gone in any case.
#pragma once

#include <cerrno>

namespace tessera::io {

/// What `call` returns, once it was not interrupted.
template <class Call>
auto uninterrupted(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace tessera::io
