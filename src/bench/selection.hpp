// What `tessera bench` measures: sizes, threads, the device, algorithms and peers, as selected by
// its options.
#pragma once

#include <cstddef>
#include <vector>

#include "options.hpp"
#include "run.hpp"

namespace tessera::bench {

/// Throws Error for options that contradict each other and for what this machine does not have;
/// warns about libraries that are installed but do not work.
BenchSettings settings_of(const shell::Context& context, const BenchRequest& request);
/// Throws Error if the largest size does not fit in memory.
void require_memory_for(const std::vector<Shape>& shapes, const shell::Types& types,
                        std::size_t contestants);

}  // namespace tessera::bench
