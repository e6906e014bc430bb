// Reports of runs that did not complete. Private to src/check.
#pragma once

#include "block/recorder.hpp"

namespace tessera::check {

/// The running thread of this block calls exit(): the report keeps only that.
Report report_of_exit(const BlockRecorder& recorder);

}  // namespace tessera::check
