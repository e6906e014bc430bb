// What `tessera explain` says of one kernel or of two, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tessera/check/explain.hpp"
#include "tessera/check/html_report.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::cli {

/// A kernel that was checked, and the step of the ladder that follows it.
struct Explained {
  check::Report report;
  check::Explanation explanation;
  const Algorithm* next = nullptr;  ///< none behind the last step and outside of the ladder
};

/// What bounds the kernel, its counters, what to change, and what the next step does; in lines of
/// at most `columns` characters, 0: of any length.
std::string explain_text(const Explained& e, std::size_t columns);
/// Of a file: with the lines that cost most.
std::string explain_text(const Explained& e, const check::SourceReader& source,
                         std::size_t columns);
/// Both, the counters that differ side by side, and the lines that cost most of each.
std::string explain_text(const Explained& a, const Explained& b, const check::SourceReader& source,
                         std::size_t columns);

nlohmann::ordered_json explain_json(const Explained& e);
nlohmann::ordered_json explain_json(const Explained& a, const Explained& b);

}  // namespace tessera::cli
