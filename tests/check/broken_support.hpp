// The law of the broken kernels: the defect is found with its kind, severity and lines, and nothing
// is said of the clean twin.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "broken_kernels/broken.hpp"
#include "check/report_text.hpp"
#include "support/sanitizers.hpp"
#include "tessera/core/text.hpp"

namespace tessera::broken {

/// The line of a file that ends with this mark; 0 where none does.
inline int marked_line(const Case& c, const std::string& mark) {
  std::ifstream file{std::string(c.file)};
  EXPECT_TRUE(file.is_open()) << c.file;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.ends_with("// " + mark)) return number;
  }
  return 0;
}

inline void expect_found(const Case& c) {
  const bool is_signal = c.kind == check::Kind::stack_overflow || c.kind == check::Kind::endless ||
                         c.name == "tensor_beyond_its_memory";
  if (tessera::testing::kSanitized && is_signal)
    GTEST_SKIP() << "NOT tested: a sanitizer takes the signals that end these kernels";
  const check::Report report = c.broken();
  const int here = marked_line(c, "here"), other = marked_line(c, "other");
  bool found = false;
  for (const auto& f : report.findings) {
    found = found || (f.kind == c.kind && f.severity == c.severity &&
                      (here == 0 || (f.location.line == here && f.location.file == c.file)) &&
                      (other == 0 || f.other.line == other));
  }
  EXPECT_TRUE(found) << "wanted " << check::name(c.severity) << " " << check::name(c.kind)
                     << " at line " << here << " with " << other << "\n"
                     << text_of(report);
  // Kept with the case for oclgrind_test.py.
  const std::string verdict = cat(check::name(c.severity), ": ", check::name(c.kind));
  ::testing::Test::RecordProperty("verdict", found ? verdict : "silent");
  EXPECT_EQ(report.summary.clean, c.severity == check::Severity::note);
}

inline void expect_clean_twin(const Case& c) {
  const check::Report report = c.clean();
  ::testing::Test::RecordProperty("verdict", report.findings.empty() ? "silent" : "not silent");
  EXPECT_TRUE(report.findings.empty()) << text_of(report);
  EXPECT_TRUE(report.summary.clean);
}

inline std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return std::string(info.param.name);
}

}  // namespace tessera::broken
