// What `tessera explain` says about one kernel or about two, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tessera/check/explain.hpp"
#include "tessera/check/html_report.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::inspect {

/// A checked kernel and the next step of the ladder.
struct Explained {
  check::Report report;
  check::Explanation explanation;
  const Algorithm* next = nullptr;  ///< none after the last step and outside the ladder
};

/// What bounds the kernel, its counters, what to change, and what the next step does; in lines of
/// at most `columns` characters, 0: of any length.
std::string explain_text(const Explained& e, std::size_t columns);
/// For a file: adds the lines that cost most.
std::string explain_text(const Explained& e, const check::SourceReader& source,
                         std::size_t columns);
/// Both kernels, the counters that differ side by side, and the lines that cost most in each.
std::string explain_text(const Explained& a, const Explained& b, const check::SourceReader& source,
                         std::size_t columns);

nlohmann::ordered_json explain_json(const Explained& e);
nlohmann::ordered_json explain_json(const Explained& a, const Explained& b);

}  // namespace tessera::inspect
