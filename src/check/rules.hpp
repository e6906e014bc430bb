// The meaning of each kind of finding, for readers who see it in a code review: the rules of a
// SARIF log. docs/checker.md has the same in a table. Private to src/check.
#pragma once

#include "tessera/check/report.hpp"

namespace tessera::check {

struct Rule {
  Severity severity;         ///< of most of its findings
  std::string_view summary;  ///< one sentence
  std::string_view help;     ///< what is wrong with it and what to do
};
const Rule& rule_of(Kind kind);

}  // namespace tessera::check
