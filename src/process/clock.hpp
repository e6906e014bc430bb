// The clock of all measurements of the command.
#pragma once

#include <chrono>

namespace tessera::process {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace tessera::process
