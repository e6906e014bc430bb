// The facts of a run of `tessera bench` before it begins: machine, build, settings, peers and
// method. They head every file of results, so that figures can be compared later.
#pragma once

#include "options.hpp"
#include "run.hpp"

namespace tessera::bench {

/// Refuses a --context that is not KEY=VALUE or that names a measured field.
nlohmann::ordered_json context_json(const BenchRequest& request, const BenchSettings& settings);

}  // namespace tessera::bench
