// The sources that a report mentions, with the counters of each line beside it. Short files are
// shown whole, long ones around active lines.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "advice.hpp"
#include "base/markup.hpp"
#include "page.hpp"
#include "tessera/core/text.hpp"
#include "units.hpp"

namespace tessera::check {

namespace {

constexpr int kWholeFile = 120, kAround = 4;

struct LineNotes {
  Counters counters;
  std::vector<std::size_t> findings;  ///< their numbers, from 1
  const Finding* worst = nullptr;
};

using FileNotes = std::map<int, LineNotes>;

std::map<std::string, FileNotes> notes_of(const Report& report) {
  std::map<std::string, FileNotes> out;
  for (const LineCounters& line : report.by_line)
    out[line.location.file][line.location.line].counters += line.counters;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const Finding& f = report.findings[i];
    std::set<Location> places;
    for (const Location& at : {f.location, f.other})
      if (at.line > 0) places.insert({at.file, at.line, 0});
    for (const Location& at : places) {
      LineNotes& notes = out[at.file][at.line];
      notes.findings.push_back(i + 1);
      if (notes.worst == nullptr || f.severity > notes.worst->severity) notes.worst = &f;
    }
  }
  return out;
}

/// The clocks of a multiprocessor that a line costs, according to the model.
double cost(const Counters& c, const Explanation& e) {
  return data_stage_cycles(c, true, true) +
         static_cast<double>(c.fma_threads) / e.device->f32_fma_per_sm_clock;
}

std::string ratio(std::int64_t a, std::int64_t b) {
  return b == 0 ? std::string{} : number_text(static_cast<double>(a) / static_cast<double>(b));
}

std::string count_or_nothing(std::int64_t value) {
  return value == 0 ? std::string{} : count_text(value);
}

/// "32", in red if 4 would do.
std::string judged(std::int64_t taken, std::int64_t ideal, std::int64_t requests) {
  const bool bad = static_cast<double>(taken) >= 1.25 * static_cast<double>(ideal) && taken > ideal;
  return cat(bad ? "<b class=\"bad\">" : "", ratio(taken, requests), bad ? "</b>" : "");
}

std::int64_t global_requests(const Counters& c) {
  return c.global_load_requests + c.global_store_requests + c.async_copy_requests +
         c.global_atomic_requests;
}

std::string global_sectors(const Counters& c) {
  const auto others = c.async_copy_sectors + c.global_atomic_sectors;
  return judged(c.global_load_sectors + c.global_store_sectors + others,
                c.global_load_sectors_ideal + c.global_store_sectors_ideal + others,
                global_requests(c));
}

std::int64_t shared_requests(const Counters& c) {
  return c.shared_load_requests + c.shared_store_requests + c.shared_atomic_requests +
         c.unit_operands;
}

std::string shared_wavefronts(const Counters& c) {
  const auto others = c.shared_atomic_wavefronts;
  return judged(
      c.shared_load_wavefronts + c.shared_store_wavefronts + c.unit_operand_wavefronts + others,
      c.shared_load_wavefronts_ideal + c.shared_store_wavefronts_ideal +
          c.unit_operand_wavefronts_ideal + others,
      shared_requests(c));
}

/// A number beside each line; a column that is empty for the whole kernel is omitted.
struct Column {
  std::string_view title;  ///< markup
  std::string_view label;  ///< the same where each number has its own line, in narrow windows
  std::string (*cell)(const Counters& c);
};

constexpr Column kColumns[] = {
    {"global<br/>requests", "global requests",
     [](const Counters& c) { return count_or_nothing(global_requests(c)); }},
    {"sectors<br/>each", "sectors each", global_sectors},
    {"shared<br/>requests", "shared requests",
     [](const Counters& c) { return count_or_nothing(shared_requests(c)); }},
    {"wavefronts<br/>each", "wavefronts each", shared_wavefronts},
    {"bulk copies,<br/>boxes", "boxes of bulk copies",
     [](const Counters& c) { return count_or_nothing(c.bulk_copies + c.bulk_stores); }},
    {"sectors<br/>each", "sectors of each box",
     [](const Counters& c) {
       return ratio(c.bulk_copy_sectors + c.bulk_store_sectors, c.bulk_copies + c.bulk_stores);
     }},
    {"multiply-<br/>adds", "multiply-adds",
     [](const Counters& c) { return count_or_nothing(c.fma_threads + c.mma_flops / 2); }},
    {"barriers", "barriers",
     [](const Counters& c) { return count_or_nothing(c.block_barriers + c.warp_barriers); }}};

class Listing {
 public:
  Listing(const Subject& subject, double most) : subject_(subject), most_(most) {
    for (const Column& column : kColumns)
      if (!column.cell(subject.report.total).empty()) columns_.push_back(column);
  }

  std::string file(const std::string& path, const FileNotes& notes) const {
    const std::string name = file_name(subject_.report, path);
    const std::optional<std::string> text = subject_.source(path);
    std::string out = cat("<h3 class=\"code\">", escaped(name), "</h3>\n");
    if (!text) out += "<p class=\"dim small\">The source is not on this machine.</p>\n";
    out += "<div class=\"scroll\"><table class=\"source\">\n<tr><th></th><th></th>";
    for (const Column& column : columns_) out += cat("<th>", column.title, "</th>");
    out += "<th class=\"code\">source</th></tr>\n";
    const std::vector<std::string> lines = split(text.value_or(""));
    int last = 0;
    for (const int line : shown(lines, notes)) {
      if (line != last + 1)
        out += cat("<tr><td class=\"gap\" colspan=\"", width(), "\">⋯</td></tr>\n");
      last = line;
      const auto note = notes.find(line);
      out += row(name, line, static_cast<std::size_t>(line) <= lines.size() ? lines[line - 1] : "",
                 note == notes.end() ? nullptr : &note->second);
    }
    if (last < static_cast<int>(lines.size()))
      out += cat("<tr><td class=\"gap\" colspan=\"", width(), "\">⋯</td></tr>\n");
    return out + "</table></div>\n";
  }

 private:
  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      if (line.ends_with('\r')) line.pop_back();
      out.push_back(line);
    }
    return out;
  }

  static std::set<int> shown(const std::vector<std::string>& lines, const FileNotes& notes) {
    const int count = static_cast<int>(lines.size());
    std::set<int> out;
    if (count > 0 && count <= kWholeFile)
      for (int line = 1; line <= count; ++line) out.insert(line);
    for (const auto& [at, note] : notes) {
      out.insert(at);
      for (int line = std::max(1, at - kAround); line <= std::min(count, at + kAround); ++line)
        out.insert(line);
    }
    return out;
  }

  std::string row(const std::string& file, int line, const std::string& text,
                  const LineNotes* note) const {
    const Counters none, &c = note == nullptr ? none : note->counters;
    const double heat = most_ > 0 ? cost(c, subject_.explanation) / most_ : 0;
    const std::string style = heat > 0.005 ? cat(" style=\"background:rgba(var(--heat),",
                                                 number_text(0.06 + 0.3 * heat), ")\"")
                                           : "";
    std::string flag;
    if (note != nullptr && note->worst != nullptr)
      flag = cat("<a class=\"", name(note->worst->severity), "\" href=\"#", subject_.anchor,
                 "finding-", note->findings.front(), "\" title=\"", name(note->worst->kind),
                 "\">●</a>");
    std::string out =
        cat("<tr id=\"", subject_.anchor, escaped(file), "-", line, "\"", style,
            "><td class=\"flag\">", flag, "</td><td class=\"number\">", line, "</td>");
    for (const Column& column : columns_) {
      const std::string cell = column.cell(c);
      out +=
          cell.empty() ? "<td></td>" : cat("<td data-label=\"", column.label, "\">", cell, "</td>");
    }
    return cat(out, "<td class=\"code\">", escaped(text), "</td></tr>\n");
  }

  std::size_t width() const { return columns_.size() + 3; }

  const Subject& subject_;
  double most_;  ///< the cost of the line that costs most
  std::vector<Column> columns_;
};

}  // namespace

std::string sources(const Subject& subject) {
  const auto files = notes_of(subject.report);
  double most = 0;
  for (const auto& [path, notes] : files)
    for (const auto& [line, note] : notes)
      most = std::max(most, cost(note.counters, subject.explanation));
  std::string out;
  const Listing listing(subject, most);
  for (const auto& [path, notes] : files) out += listing.file(path, notes);
  return out;
}

}  // namespace tessera::check
