// Processes that the program forks. Only the first process is checked: one that it forked ends
// where it would use the device, and the report says so. Private to the runtime.
#pragma once

#include <string>

namespace tessera::plain_cuda {

/// From now on forks are counted.
void watch_forks();
bool is_forked();
/// Ends a forked process, which uses the device here.
[[noreturn]] void leave_forked(const std::string& what);
/// The first process has ended: why forked ones leave the check incomplete; empty: they do not.
std::string why_forks_matter();

}  // namespace tessera::plain_cuda
