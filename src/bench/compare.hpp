// Compares two result files: is a contestant as fast as before? Nothing is measured. It compares
// the shares of the peak, round by round, if both files have an undisturbed peak (a machine with a
// lower clock today changes both alike), else the times. It gives a verdict only if the samples
// support it.
#pragma once

#include <string>
#include <vector>

#include "results.hpp"

namespace tessera::bench {

enum class Verdict {
  same,    ///< the interval is within the threshold on both sides of 1
  faster,  ///< the interval is above 1, and the ratio beyond the threshold
  slower,  ///< the interval is below 1, and the ratio beyond the threshold
  unclear  ///< the samples do not decide
};
inline constexpr std::array<std::string_view, 4> kVerdictNames = {"SAME", "FASTER", "SLOWER",
                                                                  "UNCLEAR"};
std::string to_string(Verdict verdict);

/// One contestant on one case in both files.
struct RowComparison {
  const BenchRow *before = nullptr, *after = nullptr;
  bool by_share = false;  ///< of the peak; else by time
  double ratio = 0;       ///< new median speed / old median speed
  Interval interval;      ///< of the ratio, with a confidence of 95 %; NaN: too few samples
  Verdict verdict = Verdict::unclear;
  bool peak_disturbed = false;                   ///< in either file, if both have one
  double old_percent = 0, new_percent = 0;       ///< of the peak, if compared by share
  std::size_t old_samples = 0, new_samples = 0;  ///< compared samples
  std::string why;                               ///< why it is UNCLEAR
};

struct ComparedResults {
  const BenchResults *before = nullptr, *after = nullptr;
  double threshold = 0;  ///< 0.02: two percent
  std::vector<RowComparison> comparisons;
  /// Rows with a verified result in only one of the files, with the reason; first those that count
  /// for `broke`.
  std::vector<std::string> left_out;
  /// Was an algorithm's result verified in the old file, and is it wrong or failed in the new?
  bool broke = false;
};

/// Compares every row that both files have. Both must outlive the returned object.
ComparedResults compare_results(const BenchResults& before, const BenchResults& after,
                                double threshold);

/// Evidence that the files come from different machines; "" without any.
std::string machine_difference(const BenchResults& before, const BenchResults& after);

/// In lines of at most `columns` characters, 0: of any length.
std::string comparison_table(const ComparedResults& compared, std::size_t columns = 0);
std::string comparison_markdown(const ComparedResults& compared);
std::string comparison_json(const ComparedResults& compared);

/// True if an algorithm is SLOWER, or broke. Peers do not count: if a peer is slower, the machine
/// changed.
bool any_worse(const ComparedResults& compared);

}  // namespace tessera::bench
