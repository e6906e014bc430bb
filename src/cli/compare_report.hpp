// Results of `tessera compare`, as JSON and as a table for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shell/context.hpp"
#include "tessera/matmul/plan.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::cli {

/// The compared product and its data.
struct Comparison {
  Problem problem;
  std::string data, order;
  std::vector<std::string> devices;
  std::uint64_t seed = 0;
  int threads = 1;
};

enum class Status { ok, out_of_bound, different_bits, failed, unsupported };

/// The result of one algorithm on one device.
struct Compared {
  const Algorithm* algorithm = nullptr;
  Status status = Status::unsupported;
  TileShape tile = {};
  std::string device = {};
  bool is_replaced = false;  ///< another kernel ran, with a tile of its own
  std::string reason = {};   ///< why it is not ok, or which kernel took its place
  Verification found = {};
  double seconds = 0, gflops = 0;  ///< of the fastest timed run
  index_t runs = 0;                ///< timed runs
};

/// "tiled", "tiled on opencl:0"
std::string who(const Compared& result);
nlohmann::ordered_json to_json(const Comparison& comparison, const std::vector<Compared>& results);
/// Of one device: a line for each algorithm; of several: their times and bits side by side.
std::string to_table(const shell::Context& context, const Comparison& comparison,
                     const std::vector<Compared>& results);

}  // namespace tessera::cli
