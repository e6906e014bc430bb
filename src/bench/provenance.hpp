// What is known about a run of `tessera bench` before it begins: machine, build, settings, peers
// and method. It heads every file of results, so that figures can be compared later.
#pragma once

#include "options.hpp"
#include "run.hpp"

namespace tessera::bench {

/// Refuses a --context that is no KEY=VALUE or names what is measured.
nlohmann::ordered_json context_json(const BenchRequest& request, const BenchSettings& settings);

}  // namespace tessera::bench
