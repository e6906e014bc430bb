// Results of `tessera compare`, as JSON and as a table for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "comparison.hpp"
#include "shell/context.hpp"

namespace tessera::product {

/// The compared product and its data.
struct Comparison {
  Problem problem;
  std::string data, order;
  std::vector<std::string> devices;
  std::uint64_t seed = 0;
  int threads = 1;
};

/// "tiled", "tiled on opencl:0"
std::string who(const Compared& result);
nlohmann::ordered_json to_json(const Comparison& comparison, const std::vector<Compared>& results);
/// Of one device: a line for each algorithm; of several: their times and bits side by side.
std::string to_table(const shell::Context& context, const Comparison& comparison,
                     const std::vector<Compared>& results);

}  // namespace tessera::product
