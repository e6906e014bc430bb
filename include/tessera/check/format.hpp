// A report as text that a person reads, as JSON that programs read, and as JUnit for CI.
#pragma once

#include <string>

#include "tessera/check/device_model.hpp"
#include "tessera/check/report.hpp"

namespace tessera::check {

/// Findings first, each with what happened, where and what to try; then what the kernel costs on
/// `device`, by line; the last line is the summary, also where there is nothing to find.
std::string to_text(const Report& report, const DeviceModel& device);

/// "clean: no findings in 4 blocks" or "2 errors, 1 warning in 4 blocks".
std::string summary_line(const Report& report);

/// One document; docs/checker.md has its members.
std::string to_json(const Report& report, const DeviceModel& device);

/// One test suite: a case for the kernel, failed where it is not clean, with the findings as its
/// text.
std::string to_junit(const Report& report);

}  // namespace tessera::check
