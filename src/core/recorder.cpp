// Who listens to the kernels of an OS thread.
#include "tessera/core/recorder.hpp"

namespace tessera::detail {

constinit thread_local Recorder* recorder = nullptr;

}  // namespace tessera::detail
