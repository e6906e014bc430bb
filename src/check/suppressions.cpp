// Reads suppressions and applies them to a report: see check/suppressions.hpp.
#include "tessera/check/suppressions.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "base/edit_distance.hpp"
#include "finding_places.hpp"
#include "key_values.hpp"

namespace tessera::check {

namespace {

/// The Error for a name that is not in `known`.
template <class Names>
Error unknown(const std::string& where, const char* what, const std::string& name,
              const Names& known) {
  std::string all, nearest;
  int least = 4;
  for (const auto& each : known) {
    all += cat(all.empty() ? "one of " : ", ", each);
    if (const int distance = edit_distance(name, each); distance < least)
      least = distance, nearest = each;
  }
  return Error(Category::file, cat(where, ": unknown ", what, " '", name, "'"), all, {},
               nearest.empty() ? "" : cat("did you mean '", nearest, "'?"));
}

constexpr std::string_view kKeys[] = {"kind", "kernel", "memory", "tensor",
                                      "file", "line",   "reason"};
constexpr std::string_view kMemories[] = {"none", "local", "shared", "global"};

void set(Suppression& out, const std::string& key, const std::string& value) {
  if (key == "kind") {
    const auto at = std::find(kKindNames.begin(), kKindNames.end(), value);
    if (at == kKindNames.end()) throw unknown(out.origin, "kind", value, kKindNames);
    out.kind = static_cast<Kind>(at - kKindNames.begin());
  } else if (key == "memory") {
    if (std::find(std::begin(kMemories), std::end(kMemories), value) == std::end(kMemories))
      throw unknown(out.origin, "memory", value, kMemories);
    out.memory = value;
  } else if (key == "line") {
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, out.line);
    if (error != std::errc{} || stop != end || out.line < 1)
      throw Error(Category::file, cat(out.origin, ": line is no number of a line"), "1 or more",
                  cat("'", value, "'"));
  } else if (key == "kernel") out.kernel = value;
  else if (key == "tensor") out.tensor = value;
  else if (key == "file") out.file = value;
  else if (key == "reason") out.reason = value;
  else throw unknown(out.origin, "key", key, kKeys);
}

bool fits(const std::string& pattern, const std::string& text) {
  std::string glob;
  for (const char c : pattern)
    glob += c == '[' ? std::string("\\[") : std::string(1, c);  // "s.a[1]"
  return glob.empty() || fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

/// Is `file` the path, or its end after a slash?
bool is_at(const Suppression& s, const Location& at) {
  if (at.line == 0) return s.file.empty() && s.line == 0;
  return (s.line == 0 || s.line == at.line) &&
         (fits(s.file, at.file) || fits("*/" + s.file, at.file));
}

bool matches(const Suppression& s, const Report& report, const Finding& f) {
  return (!s.kind || *s.kind == f.kind) && fits(s.kernel, kernel_of(report, f)) &&
         (s.memory.empty() || s.memory == name(f.memory)) && fits(s.tensor, f.tensor) &&
         (is_at(s, f.location) || is_at(s, f.other));
}

}  // namespace

std::vector<Suppression> parse_suppressions(std::string_view text, const std::string& name) {
  std::vector<Suppression> out;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '#') continue;
    Suppression next;
    next.origin = cat(name, ":", number);
    const KeyValues words = parse_key_values(line, next.origin, Category::file);
    for (const auto& [key, value] : words) set(next, key, value);
    if (next.reason.empty())
      throw Error(Category::file, cat(next.origin, ": a suppression without a reason"),
                  "reason=\"why it is no mistake\"");
    if (words.size() == 1)
      throw Error(Category::file, cat(next.origin, ": this would suppress every finding"),
                  "a kind, kernel, memory, tensor, file or line");
    out.push_back(std::move(next));
  }
  return out;
}

std::vector<Suppression> read_suppressions(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad())
    throw Error(Category::file, cat("the suppressions in ", path, " cannot be read"));
  return parse_suppressions(text, path);
}

std::string to_string(const Suppression& s) {
  std::string out = s.kind ? cat("kind=", name(*s.kind), " ") : std::string();
  for (const auto& [key, value] : {std::pair{"kernel", s.kernel},
                                   {"memory", s.memory},
                                   {"tensor", s.tensor},
                                   {"file", s.file}}) {
    if (!value.empty())
      out += value.find(' ') == std::string::npos ? cat(key, "=", value, " ")
                                                  : cat(key, "=\"", value, "\" ");
  }
  if (s.line > 0) out += cat("line=", s.line, " ");
  return cat(out, "reason=\"", s.reason, "\"");
}

namespace {
bool is_for(const Suppression& s, const Report& report) {
  return fits(s.kernel, report.kernel) ||
         std::any_of(report.launches.begin(), report.launches.end(),
                     [&](const LaunchedKernel& each) { return fits(s.kernel, each.kernel); });
}
}  // namespace

void suppress(Report& report, const std::vector<Suppression>& suppressions) {
  std::vector<bool> used(suppressions.size());
  std::vector<Finding> kept;
  for (auto& finding : report.findings) {
    const auto by = std::find_if(suppressions.begin(), suppressions.end(),
                                 [&](const auto& s) { return matches(s, report, finding); });
    if (by == suppressions.end()) {
      kept.push_back(std::move(finding));
      continue;
    }
    used[static_cast<std::size_t>(by - suppressions.begin())] = true;
    --(finding.severity == Severity::error     ? report.summary.errors
       : finding.severity == Severity::warning ? report.summary.warnings
                                               : report.summary.notes);
    report.suppressed.push_back({std::move(finding), by->reason});
  }
  report.findings = std::move(kept);
  report.summary.suppressed = static_cast<std::int64_t>(report.suppressed.size());
  const Summary& s = report.summary;
  report.summary.clean = s.errors == 0 && s.warnings == 0 && !s.timed_out && s.incomplete.empty();
  for (std::size_t i = 0; i < used.size(); ++i) {
    const Suppression& each = suppressions[i];
    if (!used[i] && is_for(each, report))
      report.unused_suppressions.push_back(
          cat(each.origin, each.origin.empty() ? "" : ": ", to_string(each)));
  }
}

}  // namespace tessera::check
