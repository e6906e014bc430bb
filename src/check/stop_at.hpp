// The position where a debugger stops a kernel. Private to src/check.
#pragma once

#include "tessera/check/check.hpp"

extern "C" void tessera_stop();

namespace tessera::check {

/// The number of a thread or block at these coordinates.
inline int linear_of(const Dim3& at, const Dim3& extents) {
  return at.x + extents.x * (at.y + extents.y * at.z);
}

/// Throws Error(argument) if the launch has no such block or thread.
void require_inside(const StopAt& stop, const detail::Launch& launch);

}  // namespace tessera::check
