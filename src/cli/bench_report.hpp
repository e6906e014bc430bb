// What a benchmark found, and its forms: JSON shaped like google/benchmark's (raw samples kept),
// CSV, Markdown, a plot. The JSON reads back, and every figure is computed again from its samples,
// so tables and plots can be made later from a kept file. Rows whose result was not verified carry
// no figures and take no part in ratios and plots.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "contestant.hpp"
#include "statistics.hpp"

namespace tessera::cli {

enum class RowStatus {
  verified,
  refused,      ///< its result was wrong: not measured
  failed,       ///< it crashed or reported an error
  unsupported,  ///< it does not offer this case
  skipped       ///< one product would take longer than allowed
};
std::string to_string(RowStatus status);

/// One contestant on one case.
struct BenchRow {
  std::string name;
  Contestant::Kind kind = Contestant::Kind::algorithm;
  BenchCase on;
  RowStatus status = RowStatus::verified;
  std::string message;         ///< why it is not verified, or a remark
  double max_error_ratio = 0;  ///< largest |error| / bound over all elements
  std::vector<Sample> samples;
};

struct BenchResults {
  nlohmann::ordered_json context;
  std::vector<BenchRow> rows;
};

/// What is computed from a row and the other rows of its case. Ratios are taken turn by turn
/// between neighbours in time, then the median, which cancels most of what a shared machine does.
struct Figures {
  Summary seconds;                                     ///< of one product
  double gflops = 0;                                   ///< at the median
  Summary percent_of_peak;                             ///< NaN where the peak was not measured
  std::vector<std::pair<std::string, double>> ratios;  ///< speed as a multiple of each peer's
};
Figures figures(const BenchResults& results, const BenchRow& row);

/// True for rows of the same element type, extents and number of threads.
bool same_case(const BenchRow& a, const BenchRow& b);

std::string to_json(const BenchResults& results);
/// Inverse of to_json. Throws Error(file) naming what is missing.
BenchResults parse_bench_json(const std::string& text, const std::string& source);
/// One header line, then one line for each row.
std::string to_csv(const BenchResults& results);
/// A table for each element type and number of threads, best algorithms against peers below.
std::string to_markdown(const BenchResults& results);
/// Speed over size, or bars in the order of the ladder where there is one size.
std::string to_svg(const BenchResults& results);
/// The rows of one case for a terminal, without the case's title.
struct CaseTable {
  std::string title, text;
};
CaseTable case_table(const BenchResults& results, const BenchRow& of);

}  // namespace tessera::cli
