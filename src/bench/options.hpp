// The options of `tessera bench` as typed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shell/options.hpp"

namespace tessera::bench {

struct BenchRequest {
  std::string sizes, suite, m, n, k;
  std::vector<std::string> algorithms;  // empty: all; "blas" is this project's
  std::string dtype = "f32";
  std::string threads, peers = "auto", device = "cpu";
  int repetitions = 0;  // 0: kDefaultRepetitions, on a device kDeviceRepetitions
  double min_time = 0.05, max_time = 5;
  double idle = 0;  // seconds; 0: not measured
  bool first_call = false;
  std::uint64_t seed = 1;
  bool csv = false, markdown = false, no_host = false, force = false;
  std::string plot, output, from;
  std::vector<std::string> compare;  // two files
  double threshold = 2;              // percent
  bool other_machine = false;
  std::vector<std::string> extra_context;
  /// The options on the command line, such as "--sizes"; without those that files set and those
  /// that every command has.
  std::vector<std::string> given;
};

/// Each option checks its value when it is parsed.
void add_bench_options(CLI::App& app, shell::Context& context, BenchRequest& request);

}  // namespace tessera::bench
