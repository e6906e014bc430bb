// Two kept results side by side: is a contestant as fast as it was? Nothing is measured. What is
// compared is the share of the peak, turn by turn, where both files have it undisturbed (a machine
// that clocks lower today changes both alike), else the time; and a verdict is given only where the
// samples carry it.
#pragma once

#include <string>
#include <vector>

#include "results.hpp"

namespace tessera::bench {

enum class Verdict {
  same,    ///< the interval is within the threshold on both sides of 1
  faster,  ///< the interval is above 1, and the ratio beyond the threshold
  slower,  ///< the interval is below 1, and the ratio beyond the threshold
  unclear  ///< the samples do not tell
};
inline constexpr std::array<std::string_view, 4> kVerdictNames = {"SAME", "FASTER", "SLOWER",
                                                                  "UNCLEAR"};
std::string to_string(Verdict verdict);

/// One contestant on one case in both files.
struct RowComparison {
  const BenchRow *before = nullptr, *after = nullptr;
  bool by_share = false;  ///< of the peak; else by time
  double ratio = 0;       ///< the new median speed as a multiple of the old one
  Interval interval;      ///< of the ratio, with a confidence of 95 %; NaN: too few samples
  Verdict verdict = Verdict::unclear;
  bool peak_disturbed = false;                   ///< on either side, where both have it
  double old_percent = 0, new_percent = 0;       ///< of the peak, where compared by share
  std::size_t old_samples = 0, new_samples = 0;  ///< that were compared
  std::string why;                               ///< it is UNCLEAR
};

struct ComparedResults {
  const BenchResults *before = nullptr, *after = nullptr;
  double threshold = 0;  ///< 0.02: two percent
  std::vector<RowComparison> comparisons;
  /// Rows that have a verified result in one of the files only, and why; first those that count
  /// for `broke`.
  std::vector<std::string> left_out;
  /// Is an algorithm among them whose result was verified in the old file, and is wrong or failed
  /// in the new?
  bool broke = false;
};

/// Compares every row that both files have. Both must outlive what is returned.
ComparedResults compare_results(const BenchResults& before, const BenchResults& after,
                                double threshold);

/// What tells that the files come from different machines, "" where nothing does.
std::string machine_difference(const BenchResults& before, const BenchResults& after);

/// In lines of at most `columns` characters, 0: of any length.
std::string comparison_table(const ComparedResults& compared, std::size_t columns = 0);
std::string comparison_markdown(const ComparedResults& compared);
std::string comparison_json(const ComparedResults& compared);

/// True where an algorithm is SLOWER, or broke. Peers do not count: where they are, the machine
/// changed.
bool any_worse(const ComparedResults& compared);

}  // namespace tessera::bench
