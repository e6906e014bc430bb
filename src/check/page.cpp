// Frame and small pieces of a page: see page.hpp. All foreign text is escaped.
#include "page.hpp"

#include <algorithm>
#include <filesystem>

#include "base/markup.hpp"
#include "counter_tables.hpp"
#include "finding_places.hpp"
#include "page_style.hpp"
#include "pictures.hpp"
#include "tessera/core/text.hpp"
#include "units.hpp"

namespace tessera::check {

namespace {

std::string card(std::string_view title, const std::string& value, const std::string& below) {
  return cat("<div class=\"card\"><span class=\"small dim\">", escaped(title), "</span><b>",
             escaped(value), "</b><span class=\"small dim\">", escaped(below), "</span></div>\n");
}

std::string summary_badge(const Summary& s) {
  const char* classes = s.errors > 0 ? "bad" : s.clean ? "good" : "warn";
  std::string text = s.clean ? "clean" : s.errors + s.warnings == 0 ? "could not check" : "";
  if (s.errors > 0) text += counted(s.errors, "error");
  if (s.warnings > 0) text += (text.empty() ? "" : ", ") + counted(s.warnings, "warning");
  if (s.notes > 0) text += (text.empty() ? "" : ", ") + counted(s.notes, "note");
  return cat("<span class=\"badge ", classes, "\">", text, "</span>");
}

/// The other tiles of one mistake.
std::string also_in(const Finding& f) {
  std::string out;
  for (const Also& also : f.also)
    out += cat(out.empty() ? "; also in " : ", ", escaped(also.tensor));
  return out;
}

}  // namespace

std::string page(std::string_view title, std::string_view body) {
  return cat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\"/>\n<title>",
      escaped(title), "</title>\n<style>", kPageStyle, "</style>\n</head>\n<body>\n", body,
      "</body>\n</html>\n");
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view classes) {
  std::string out = cat("<div class=\"scroll\"><table class=\"", classes, "\">\n");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const char* tag = i == 0 ? "th" : "td";
    out += "<tr>";
    for (const std::string& cell : rows[i]) out += cat("<", tag, ">", cell, "</", tag, ">");
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string file_name(const Report& report, const std::string& file) {
  const std::filesystem::path path(file);
  const auto is_namesake = [&](const Location& at) {
    return at.file != file && std::filesystem::path(at.file).filename() == path.filename();
  };
  const bool twice =
      std::any_of(report.by_line.begin(), report.by_line.end(),
                  [&](const LineCounters& line) { return is_namesake(line.location); }) ||
      std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& f) {
        return is_namesake(f.location) || is_namesake(f.other);
      });
  return ((twice ? path.parent_path().filename() : "") / path.filename()).string();
}

std::string place(const Subject& subject, const Location& at) {
  if (at.line == 0) return {};
  const std::string name = file_name(subject.report, at.file);
  return cat("<a class=\"code\" href=\"#", subject.anchor, escaped(name), "-", at.line, "\">",
             escaped(name), ":", at.line, "</a>");
}

std::string heading(const Subject& subject) {
  const Report& r = subject.report;
  std::string out = cat("<h1>", escaped(r.kernel), "</h1>\n");
  if (!r.problem.empty()) out += cat("<p class=\"code\">", escaped(r.problem), "</p>\n");
  if (!r.remark.empty()) out += cat("<p class=\"warn\">", escaped(r.remark), "</p>\n");
  out += cat("<p>", summary_badge(r.summary), " <span class=\"dim\">grid ", to_string(r.grid),
             ", block ", to_string(r.block), ", ", bytes_text(r.shared_bytes),
             " of shared memory for each block, threads ", escaped(r.order), "</span></p>\n");
  if (r.summary.checked_blocks < r.summary.blocks)
    out += cat("<p class=\"warn\">Only ", r.summary.checked_blocks, " of ", r.summary.blocks,
               " blocks were checked; the counters are theirs, the model scales them up.</p>\n");
  if (r.summary.timed_out)
    out +=
        cat("<p class=\"bad\">The time limit ended the run: findings and counters are "
            "incomplete",
            r.summary.incomplete.empty() ? "" : "; ", escaped(r.summary.incomplete), ".</p>\n");
  else if (!r.summary.incomplete.empty())
    out += cat("<p class=\"bad\">Incomplete: ", escaped(r.summary.incomplete), ".</p>\n");
  return out;
}

std::string key_numbers(const Subject& subject) {
  const Explanation& e = subject.explanation;
  const Counters& c = subject.report.total;
  const auto requests = c.global_load_requests + c.global_store_requests;
  const auto ideal = c.global_load_sectors_ideal + c.global_store_sectors_ideal;
  std::string out = "<div class=\"cards\">\n";
  out += card("busiest resource", std::string(e.resources[e.busiest].name),
              cat(time_text(e.resources[e.busiest].least_us), " at least, ", e.device->full_name));
  if (const auto boxes = c.bulk_copies + c.bulk_stores; requests == 0 && boxes > 0)
    out += card("bulk copies and stores", cat(boxes, " boxes"),
                counted(c.bulk_copy_sectors + c.bulk_store_sectors, "sector"));
  else
    out += card("sectors for each global request", number_text(sectors_per_request(c)),
                requests == 0 ? "no such request"
                              : cat("ideal ", number_text(static_cast<double>(ideal) /
                                                          static_cast<double>(requests))));
  out += card("shared memory conflicts", cat(number_text(conflict_factor(c)), " x"),
              c.shared_load_requests + c.shared_store_requests + c.unit_operands == 0
                  ? "no shared access"
                  : "wavefronts / those without conflicts");
  out +=
      card("occupancy", cat(number_text(100 * e.occupancy.fraction()), " %"),
           cat(counted(e.occupancy.blocks, "block"), " on an SM, limited by ",
               to_string(e.occupancy.limit), " (", registers_text(subject.report, *e.device), ")"));
  if (c.flops + c.mma_flops == 0)
    out += card("intensity", "unknown", "no fma() and no matrix instruction was seen");
  else if (e.traffic.compulsory_bytes > 0)
    out += card("intensity", cat(number_text(e.roofline.compulsory), " flop/B"),
                cat("compulsory; at L1 ", number_text(e.roofline.l1), ", ridge ",
                    number_text(e.roofline.ridge)));
  else
    out += card("intensity", cat(number_text(e.roofline.l1), " flop/B"),
                cat("at L1; ridge ", number_text(e.roofline.ridge)));
  return out + "</div>\n";
}

std::string resources_table(const Subject& subject) {
  const Explanation& e = subject.explanation;
  std::vector<std::vector<std::string>> rows = {{"resource", "busy for", "work"}};
  for (const ResourceTime& r : e.resources)
    rows.push_back({escaped(r.name),
                    r.least_us == r.most_us
                        ? time_text(r.least_us)
                        : cat(time_text(r.least_us), " to ", time_text(r.most_us)),
                    escaped(r.work)});
  return cat("<p>", escaped(subject.report.kernel), " is ", escaped(e.verdict), ".</p>\n",
             table(rows, "text"), "<p class=\"small dim\">", escaped(e.device->full_name),
             ": the least time that each part needs for its share of the work, ",
             number_text(e.busy_sms), " of ", e.device->sms,
             " multiprocessors busy. A model, no measurement.</p>\n");
}

std::string advice_list(const Subject& subject) {
  const auto& advice = subject.explanation.advice;
  if (advice.empty()) return "<p>Nothing that the counters show.</p>\n";
  std::string out = "<ol>\n";
  for (const Advice& a : advice)
    out += cat("<li><p>", escaped(a.problem), a.location.line > 0 ? " " : "",
               a.location.line > 0 ? cat("(", place(subject, a.location), ")") : "",
               ".</p>\n<p class=\"dim\">", escaped(a.remedy), ".</p></li>\n");
  return out + "</ol>\n";
}

std::string findings_list(const Subject& subject) {
  const Report& r = subject.report;
  std::string out = r.findings.empty() ? "<p class=\"good\">None.</p>\n" : "";
  for (std::size_t i = 0; i < r.findings.size(); ++i) {
    const Finding& f = r.findings[i];
    std::string where = place(subject, f.location);
    if (f.other.line > 0) where += " and " + place(subject, f.other);
    std::string who = f.block.linear < 0 ? "all blocks" : cat("block ", to_string(f.block));
    for (std::size_t t = 0; t < f.threads.size(); ++t)
      who += cat(t == 0 ? ", thread " : " and ", to_string(f.threads[t]));
    if (f.other_block.linear >= 0 && f.threads.size() > 1)
      who += cat(" of block ", to_string(f.other_block));
    if (const std::string kernel = where_of(r, f); !kernel.empty())
      who = cat("kernel ", escaped(kernel), ", ", who);
    if (!f.superstep.empty()) who += cat(", superstep ", escaped(f.superstep));
    if (f.memory != Memory::none) who += cat(", ", name(f.memory), " memory");
    out += cat("<div class=\"finding ", name(f.severity), "\" id=\"", subject.anchor, "finding-",
               i + 1, "\">\n<h3><span class=\"kind\">", name(f.severity), ": ", name(f.kind),
               "</span> ", where,
               f.count > 1 ? cat(" <span class=\"dim small\">", f.count, " times</span>") : "",
               "</h3>\n<p>", escaped(f.problem), "</p>\n<p class=\"small dim\">", who, also_in(f),
               "</p>\n", f.hint.empty() ? "" : cat("<p>", escaped(f.hint), "</p>\n"), "</div>\n");
  }
  for (const auto& [finding, reason] : r.suppressed)
    out += cat("<p class=\"small dim\">Suppressed: ", name(finding.kind), " ",
               place(subject, finding.location), ": ", escaped(reason), "</p>\n");
  for (const std::string& unused : r.unused_suppressions)
    out += cat("<p class=\"small dim\">Unused suppression: ", escaped(unused), "</p>\n");
  return out;
}

std::string access_pictures(const Subject& subject) {
  std::string out;
  for (const AccessSample& s : subject.report.samples) {
    const std::string picture = access_picture(s);
    if (picture.empty()) continue;
    const bool shared = s.memory == Memory::shared;
    const char* verb = s.is_async    ? "asynchronous copy"
                       : s.is_atomic ? "atomic"
                       : s.is_store  ? "store"
                                     : "load";
    out += cat("<h3>", verb, " ", s.is_store ? "to " : "from ", escaped(s.tensor), ", ",
               place(subject, s.location), "</h3>\n<p class=\"small\">", s.bytes,
               " bytes for each lane: <b", s.transfers > s.ideal ? " class=\"bad\"" : "", ">",
               counted(s.transfers, shared ? "wavefront" : "sector"), "</b>, ideal ", s.ideal,
               is_merged(s) ? ", by the rule of merging" : "", ". <span class=\"dim\">Block ",
               to_string(s.block), ", warp ", s.warp, ", the worst of ", count_text(s.requests),
               " requests; on average ",
               number_text(s.requests == 0 ? 0
                                           : static_cast<double>(s.all_transfers) /
                                                 static_cast<double>(s.requests)),
               ".</span></p>\n<div class=\"scroll picture\">", picture, "</div>\n");
  }
  if (out.empty()) return out;
  return cat(
      "<p class=\"small dim\">In each cell the lanes that touch its 4 bytes. Global memory: a row "
      "is a line of "
      "128 bytes, thick rules part its sectors.<span class=\"key lane\"></span>used<span "
      "class=\"key "
      "wasted\"></span>travels with the sector, not used. Shared memory: a column is a bank, a row "
      "one wavefront.<span class=\"key conflict\"></span>waits for an earlier pass.</p>\n",
      out);
}

std::string coverage_table(const Subject& subject) {
  if (subject.report.coverage.empty()) return {};
  std::vector<std::vector<std::string>> rows = {
      {"tensor", "shape", "elements", "read", "written", "written once"}};
  for (const Coverage& c : subject.report.coverage)
    rows.push_back(
        {escaped(c.tensor),
         cat("(", c.rows, ",", c.cols, ")", c.dtype ? " " : "", c.dtype ? name(*c.dtype) : ""),
         cat(c.elements), cat(c.read), cat(c.written), cat(c.written_once)});
  return table(rows);
}

std::string counters_table(const std::vector<Subject>& subjects) {
  std::vector<std::vector<std::string>> rows = {{"counter"}};
  for (const Subject& s : subjects) rows[0].push_back(escaped(s.report.kernel));
  if (subjects.size() == 2) rows[0].push_back("ratio");
  rows[0].push_back("meaning");
  for (const CounterName& counter : kCounters) {
    std::vector<std::string> row = {cat("<code>", counter.name, "</code>")};
    bool any = false;
    for (const Subject& s : subjects) {
      const std::int64_t value = s.report.total.*counter.value;
      any = any || value != 0;
      row.push_back(cat(value));
    }
    if (!any) continue;
    if (subjects.size() == 2) {
      const auto a = static_cast<double>(subjects[0].report.total.*counter.value),
                 b = static_cast<double>(subjects[1].report.total.*counter.value);
      row.push_back(a == 0 ? "" : number_text(b / a));
    }
    row.push_back(escaped(counter.meaning));
    rows.push_back(std::move(row));
  }
  if (rows.size() == 1) return {};
  std::string out = table(rows, "counters");
  for (const Subject& s : subjects)
    for (const std::string& note : counter_notes(s.report.total))
      out +=
          cat("<p class=\"small dim\">", escaped(s.report.kernel), ": ", escaped(note), ".</p>\n");
  return out;
}

}  // namespace tessera::check
