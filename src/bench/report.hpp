// The forms of a benchmark's results: JSON shaped like google/benchmark's (raw samples kept), CSV,
// Markdown, a table for a terminal, a plot. The JSON reads back, so that every other form can be
// made later from a kept file.
#pragma once

#include <string>

#include "results.hpp"

namespace tessera::bench {

std::string to_json(const BenchResults& results);
/// Inverse of to_json. Throws Error(file) that names the missing field.
BenchResults parse_bench_json(const std::string& text, const std::string& source);
/// One header line, then one line for each row.
std::string to_csv(const BenchResults& results);
/// A table for each element type and number of threads, best algorithms against peers below.
std::string to_markdown(const BenchResults& results);
/// Speed over size; over named shapes if they differ in more than one extent; for one shape, bars
/// in the order of the ladder.
std::string to_svg(const BenchResults& results);
/// The rows of one case for a terminal, without the case's title.
struct CaseTable {
  std::string title, text;
};
CaseTable case_table(const BenchResults& results, const BenchRow& of, std::size_t columns = 0);

}  // namespace tessera::bench
