// Reports of runs that did not come to their end. Private to src/check.
#pragma once

#include "block_recorder.hpp"

namespace tessera::check {

/// The running thread of this block calls exit(): of all that was seen, only that is left.
Report report_of_exit(const BlockRecorder& recorder);

}  // namespace tessera::check
