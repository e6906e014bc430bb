// Assembles the sections of a page: see check/html_report.hpp.
#include "tessera/check/html_report.hpp"

#include "base/markup.hpp"
#include "page.hpp"
#include "pictures.hpp"
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

std::string stages(const Subject& s) {
  const std::string picture = stages_picture(s.report);
  if (picture.empty()) return {};
  return cat("<p class=\"small dim\">A row for each gate that bulk copies deliver to. At most ",
             most_in_flight(s.report.gate_phases),
             " are in flight at once.<span class=\"key global\"></span>from the first copy to the "
             "first wait for it<span class=\"key multiply\"></span>in use, or free again</p>\n",
             picture_box(picture));
}

/// The sections of a page, after links to them; an empty one is omitted.
struct Section {
  std::string_view id, title;
  std::string body;
};

std::string with_navigation(const std::vector<Section>& sections) {
  std::string links, out;
  for (const Section& s : sections) {
    if (s.body.empty()) continue;
    links += cat("<a href=\"#", s.id, "\">", escaped(s.title), "</a>\n");
    out += cat("<section id=\"", s.id, "\">\n<h2>", escaped(s.title), "</h2>\n", s.body,
               "</section>\n");
  }
  return cat("<nav>\n", links, "</nav>\n", out);
}

constexpr std::string_view kRooflineNote =
    "<p class=\"small dim\">A kernel is a band: its left edge holds if no sector is found in a "
    "cache, its right edge if each byte is loaded once. The dots are what its busiest resource "
    "allows there.</p>\n";

/// The same piece of both kernels side by side.
template <class Piece>
std::string both(const std::vector<Subject>& subjects, const Piece& piece) {
  const std::string left = piece(subjects[0]), right = piece(subjects[1]);
  if (left.empty() && right.empty()) return {};
  return cat("<div class=\"pair\">\n<div>\n", left, "</div>\n<div>\n", right, "</div>\n</div>\n");
}

/// The same for wide pieces: one below the other in narrow windows.
template <class Piece>
std::string both_wide(const std::vector<Subject>& subjects, const Piece& piece) {
  std::string out;
  bool any = false;
  for (const Subject& s : subjects) {
    const std::string body = piece(s);
    any = any || !body.empty();
    out +=
        cat("<div>\n<h3 class=\"which\">", escaped(s.report.kernel), "</h3>\n", body, "</div>\n");
  }
  return any ? cat("<div class=\"pair wide\">\n", out, "</div>\n") : std::string{};
}

std::string roofline_section(const std::vector<RooflineMark>& marks) {
  const std::string picture = roofline_picture(marks);
  return picture.empty() ? picture : cat(picture_box(picture), kRooflineNote);
}

}  // namespace

std::string html_report(const Report& report, const DeviceModel& device,
                        const SourceReader& source) {
  const Explanation e = explain(report, device);
  const Subject s{report, e, source, ""};
  return page(cat(report.kernel, ": ", report.summary.clean ? "clean" : "findings"),
              cat("<main>\n", heading(s), key_numbers(s),
                  with_navigation({{"findings", "Findings", findings_list(s)},
                                   {"bound", "What bounds it",
                                    resources_table(s) + roofline_section({{report.kernel, &e}})},
                                   {"advice", "Advice", advice_list(s)},
                                   {"source", "Source", sources(s)},
                                   {"accesses", "Worst warp of each access", access_pictures(s)},
                                   {"supersteps", "Supersteps", supersteps(s)},
                                   {"stages", "Stages in flight", stages(s)},
                                   {"tensors", "Tensors", coverage_table(s)},
                                   {"counters", "Counters", counters_table({s})}}),
                  "</main>\n"));
}

std::string html_comparison(const Report& a, const Report& b, const DeviceModel& device,
                            const SourceReader& source) {
  const Explanation ea = explain(a, device), eb = explain(b, device);
  const std::vector<Subject> two = {{a, ea, source, "a-"}, {b, eb, source, "b-"}};
  const auto top = [](const Subject& s) { return heading(s) + key_numbers(s); };
  return page(
      cat(a.kernel, " against ", b.kernel),
      cat("<main class=\"wide\">\n", both(two, top),
          with_navigation(
              {{"findings", "Findings", both(two, findings_list)},
               {"bound", "What bounds them",
                both(two, resources_table) + roofline_section({{a.kernel, &ea}, {b.kernel, &eb}})},
               {"advice", "Advice", both(two, advice_list)},
               {"source", "Source", both_wide(two, sources)},
               {"accesses", "Worst warp of each access", both_wide(two, access_pictures)},
               {"supersteps", "Supersteps", both_wide(two, supersteps)},
               {"stages", "Stages in flight", both_wide(two, stages)},
               {"counters", "Counters", counters_table(two)}}),
          "</main>\n"));
}

}  // namespace tessera::check
