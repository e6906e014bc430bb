// The work of `tessera tune` after the device is open.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device.hpp"
#include "matmul/tuning.hpp"
#include "shell/context.hpp"

namespace tessera::bench {

struct TuneRequest {
  std::string device = "cuda", sizes, dtype = "f32", peer = "auto", cache;
  double seconds = 120;
  bool again = false;
  std::function<std::vector<Candidate>(const Problem&)> candidates;
};

/// Tunes the products that are not in the file, adds each result at once, and reports the results;
/// returns the exit code. Throws Error and Interrupted.
int tune_on(const shell::Context& context, const TuneRequest& request, BenchDevice& device,
            const TunedOn& on);

/// Adds a product to a file; entries that others add at the same time are kept.
void keep_tuned(const std::string& file, const TunedOn& on, const TunedProduct& product);

}  // namespace tessera::bench
