// The results of a benchmark: rows of samples, the figures computed from them, and the groups of
// rows. Every figure is recomputed from its samples. Rows whose result was not verified have no
// figures and take no part in ratios and plots.
#pragma once

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contestant.hpp"
#include "statistics.hpp"

namespace tessera::bench {

/// Enough to detect a change of 2 % if samples scatter by 1 %: see compare.cpp.
inline constexpr int kDefaultRepetitions = 11, kDeviceRepetitions = 15;

enum class RowStatus {
  verified,
  refused,      ///< its result was wrong: not measured
  failed,       ///< it crashed or reported an error
  unsupported,  ///< it does not offer this case
  skipped,      ///< one product would take longer than allowed
  interrupted   ///< a signal came before its first sample
};
inline constexpr std::array<std::string_view, 6> kRowStatusNames = {
    "verified", "refused", "failed", "unsupported", "skipped", "interrupted"};
std::string to_string(RowStatus status);

inline constexpr std::array<std::string_view, 3> kKindNames = {"algorithm", "peer", "peak"};
constexpr std::string_view name_of(Contestant::Kind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

/// One contestant on one case.
struct BenchRow {
  std::string name;
  Contestant::Kind kind = Contestant::Kind::algorithm;
  BenchCase on;
  RowStatus status = RowStatus::verified;
  std::string message;         ///< why it is not verified, or a remark
  double max_error_ratio = 0;  ///< largest |error| / bound over all elements
  std::vector<Sample> samples;
  std::string units = {};  ///< which peak bounds it, if a device has several

  std::vector<double> seconds() const;  ///< of one call, sample by sample
};

struct BenchResults {
  nlohmann::ordered_json context;
  std::vector<BenchRow> rows;
};

/// The figures of a row, from it and the other rows of its case. Ratios are computed round by
/// round, between neighbours in time, then the median, which cancels most disturbances of a shared
/// machine. Shares of the peak are those of peak_shares().
struct Figures {
  Summary seconds;                                     ///< of one call
  double gflops = 0;                                   ///< at the median
  Summary percent_of_peak;                             ///< NaN without a share
  bool peak_disturbed = false;                         ///< shares of this case are uncertain
  std::vector<std::pair<std::string, double>> ratios;  ///< speed as a multiple of each peer's
};
Figures figures(const BenchResults& results, const BenchRow& row);

/// True for rows of the same element types, shape and conditions.
bool same_case(const BenchRow& a, const BenchRow& b);

bool measured(const BenchRow& row);
/// True for rows of the same element types and conditions: threads, readiness.
bool same_group(const BenchRow& a, const BenchRow& b);
bool same_contestant(const BenchRow& a, const BenchRow& b);
std::vector<BenchRow> group_of(const BenchResults& results, const BenchRow& row);

/// other's seconds / row's seconds in every round of both: how many times as fast `row` is.
std::vector<std::pair<int, double>> speed_ratios(const BenchRow& row, const BenchRow& other);
/// The row's speed divided by the peak's, 1 for the peak itself, in every round of both. A value
/// above 1 shows that the peak was disturbed in that round; then the fastest round of the peak of
/// these types and threads, at any size, replaces it. Empty if the peak was not measured, or if the
/// median would still be above 1: the peak was disturbed throughout.
std::vector<std::pair<int, double>> peak_shares(const BenchResults& results, const BenchRow& row);
/// True if the peak's spread in the row's case is above 5 %, if it is below 85 % of this run's best
/// peak with these types and threads, or if a product is faster than the peak beside it, by the
/// medians.
bool peak_disturbed(const BenchResults& results, const BenchRow& row);
inline constexpr const char* kPeakDisturbed = "the peak was disturbed";
/// "At 64, 128 the peak was disturbed: ...": the cases of the row's group; empty if there are none.
std::string disturbed_text(const BenchResults& results, const BenchRow& like);
/// The measured rows of the same case and of this kind; of peaks, that of the row's units.
std::vector<const BenchRow*> others(const BenchResults& results, const BenchRow& row,
                                    Contestant::Kind kind);
std::vector<std::string> peer_names(const std::vector<BenchRow>& rows);
/// NaN if there is none.
double ratio_to(const Figures& found, const std::string& peer);

/// The first of each group of rows that `same` calls equal.
template <class Same>
std::vector<const BenchRow*> distinct(const std::vector<BenchRow>& rows, Same&& same) {
  std::vector<const BenchRow*> out;
  for (const auto& row : rows) {
    const bool known =
        std::any_of(out.begin(), out.end(), [&](const BenchRow* each) { return same(*each, row); });
    if (!known) out.push_back(&row);
  }
  return out;
}

/// Names, remarks and versions come from a file: control characters are escaped, line by line.
std::string plain_lines(const std::string& text);
/// "measured peak", or the row's name (a device's peak is computed).
std::string shown_name(const BenchRow& row);
/// Three significant digits: 0.512, 5.12, 51.2, 512, 5120; "-" for NaN and infinity.
std::string short_number(double value);
/// "512 ns", "5.12 us", "51.2 ms"
std::string time_text(double seconds);
/// The text under a key of the results' context.
std::string context_text(const BenchResults& results, const char* key);
/// "AMD EPYC, 2 processors; GCC 12.2.0, release; 2026-11-21": the content of a caption.
std::string machine_line(const BenchResults& results);

}  // namespace tessera::bench
