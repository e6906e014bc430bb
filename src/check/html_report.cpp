// Puts the sections of a page together: see check/html_report.hpp.
#include "tessera/check/html_report.hpp"

#include "page.hpp"
#include "pictures.hpp"
#include "tessera/core/markup.hpp"
#include "tessera/core/text.hpp"

namespace tessera::check {

namespace {

std::string picture_box(const std::string& picture) {
  return picture.empty() ? picture : cat("<div class=\"scroll picture\">", picture, "</div>\n");
}

std::string supersteps(const Subject& s) {
  const std::string picture = timeline_picture(s.report, s.explanation);
  if (picture.empty()) return {};
  return cat(
      "<p class=\"small dim\">In the order of the kernel, a dotted line for each barrier."
      "<span class=\"key global\"></span>global memory through L1"
      "<span class=\"key shared\"></span>shared memory"
      "<span class=\"key multiply\"></span>multiply-adds</p>\n",
      picture_box(picture));
}

constexpr std::string_view kNavigation =
    "<nav><a href=\"#findings\">findings</a><a href=\"#bound\">what bounds it</a><a "
    "href=\"#advice\">advice</a><a href=\"#source\">source</a><a href=\"#accesses\">accesses</a>"
    "<a href=\"#supersteps\">supersteps</a><a href=\"#counters\">counters</a></nav>\n";

constexpr std::string_view kRooflineNote =
    "<p class=\"small dim\">A kernel is a band: its left edge holds if no sector is found in a "
    "cache, its right edge if each byte is loaded once. The dots are what its busiest resource "
    "allows there.</p>\n";

/// One section with the same piece of both kernels side by side.
template <class Piece>
std::string both(std::string_view id, std::string_view title, const std::vector<Subject>& subjects,
                 const Piece& piece) {
  const std::string left = piece(subjects[0]), right = piece(subjects[1]);
  if (left.empty() && right.empty()) return {};
  return section(
      id, title,
      cat("<div class=\"pair\">\n<div>\n", left, "</div>\n<div>\n", right, "</div>\n</div>\n"));
}

}  // namespace

std::string html_report(const Report& report, const DeviceModel& device,
                        const SourceReader& source) {
  const Explanation e = explain(report, device);
  const Subject s{report, e, source, ""};
  std::string body = cat("<main>\n", heading(s), key_numbers(s), kNavigation);
  body += section("findings", "Findings", findings_list(s));
  const std::string roof = roofline_picture({{report.kernel, &e}});
  body += section("bound", "What bounds it",
                  cat(resources_table(s), picture_box(roof), roof.empty() ? "" : kRooflineNote));
  body += section("advice", "Advice", advice_list(s));
  body += section("source", "Source", sources(s));
  body += section("accesses", "Accesses: the worst warp of each", access_pictures(s));
  body += section("supersteps", "Supersteps", supersteps(s));
  body += section("coverage", "Tensors", coverage_table(s));
  body += section("counters", "Counters", counters_table({s}));
  return page(cat(report.kernel, ": ", report.summary.clean ? "clean" : "findings"),
              body + "</main>\n");
}

std::string html_comparison(const Report& a, const Report& b, const DeviceModel& device,
                            const SourceReader& source) {
  const Explanation ea = explain(a, device), eb = explain(b, device);
  const std::vector<Subject> subjects = {{a, ea, source, "a-"}, {b, eb, source, "b-"}};
  std::string body = "<main class=\"wide\">\n<div class=\"pair\">\n";
  for (const Subject& s : subjects) body += cat("<div>\n", heading(s), key_numbers(s), "</div>\n");
  body += cat("</div>\n", kNavigation);
  body += both("findings", "Findings", subjects, findings_list);
  const std::string roof = roofline_picture({{a.kernel, &ea}, {b.kernel, &eb}});
  body += section("bound", "What bounds them",
                  cat("<div class=\"pair\">\n<div>\n", resources_table(subjects[0]),
                      "</div>\n<div>\n", resources_table(subjects[1]), "</div>\n</div>\n",
                      picture_box(roof), roof.empty() ? "" : kRooflineNote));
  body += both("advice", "Advice", subjects, advice_list);
  body += both("source", "Source", subjects, sources);
  body += both("accesses", "Accesses: the worst warp of each", subjects, access_pictures);
  body += both("supersteps", "Supersteps", subjects, supersteps);
  body += section("counters", "Counters", counters_table(subjects));
  return page(cat(a.kernel, " against ", b.kernel), body + "</main>\n");
}

}  // namespace tessera::check
