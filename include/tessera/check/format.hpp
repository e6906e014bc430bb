// A report as text for people, as JSON for programs, and in the formats of editors, code scanning
// and CI. formats.hpp has all of them by name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tessera/check/device_model.hpp"
#include "tessera/check/report.hpp"

namespace tessera::check {

/// Findings first, each with what happened, where and what to try; then what the kernel costs on
/// `device`, by line; the last line is the summary, also where there are no findings. Tables omit
/// columns to fit into `columns` characters (0: any).
std::string to_text(const Report& report, const DeviceModel& device, std::size_t columns = 0);

/// "clean: no findings in 4 blocks" or "2 errors, 1 warning in 4 blocks".
std::string summary_line(const Report& report);

/// One document; docs/checker.md has its members.
std::string to_json(const Report& report, const DeviceModel& device);

/// The head, summary and findings of such a document, without counters, tensors and device: what a
/// separate program has found. Throws Error(file) where it is none.
Report read_report(std::string_view json);

/// One test suite: a case for the kernel, failed where it is not clean, with the findings as its
/// text.
std::string to_junit(const Report& report);

/// A line for each finding in the compilers' format, `file:line:column: error: text [race]`, and
/// notes for its other places and for what to try; the last line is the summary. Files below the
/// current folder are named from there.
std::string to_gcc(const Report& report);

/// A workflow command of GitHub Actions for each finding, `::error file=...,line=...::text`, and
/// the summary. Files are named from the root of the checkout: GITHUB_WORKSPACE, else the nearest
/// folder with .git.
std::string to_github(const Report& report);

/// A log of SARIF 2.1.0 with one run: all kinds as rules, each finding with its other places as
/// related locations, accepted ones as suppressed. Files are named as in to_github(). The
/// environment variable TESSERA_DOCS, the URL of the folder docs, makes links of the rules.
std::string to_sarif(const Report& report);

}  // namespace tessera::check
