// The recorder of an OS thread's kernels.
#include "tessera/core/recorder.hpp"

namespace tessera::detail {

constinit thread_local Recorder* recorder = nullptr;

}  // namespace tessera::detail
