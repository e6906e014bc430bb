// The pieces that pages of the checker are made of. Private to src/check.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/check/explain.hpp"
#include "tessera/check/html_report.hpp"

namespace tessera::check {

/// One kernel of a page. On a page of two every anchor begins with the kernel's own letter.
struct Subject {
  const Report& report;
  const Explanation& explanation;
  const SourceReader& source;
  std::string anchor;  ///< "", or "a-" and "b-"
};

/// The frame: doctype, style, `body`.
std::string page(std::string_view title, std::string_view body);
std::string heading(const Subject& subject);
std::string key_numbers(const Subject& subject);
std::string findings_list(const Subject& subject);
std::string advice_list(const Subject& subject);
std::string resources_table(const Subject& subject);
std::string sources(const Subject& subject);
std::string access_pictures(const Subject& subject);
std::string coverage_table(const Subject& subject);
std::string counters_table(const std::vector<Subject>& subjects);

/// Rows of cells, the first row the head; cells are markup.
std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view classes = "");
/// "naive.hpp", with its folder in front where the report has two files of that name.
std::string file_name(const Report& report, const std::string& file);
/// "naive.hpp:27", a link to the line where the page shows it.
std::string place(const Subject& subject, const Location& at);

}  // namespace tessera::check
