// A report in lines: like compiler messages, and as commands of GitHub Actions. See format.hpp.
#include "check/finding_places.hpp"
#include "tessera/check/format.hpp"
#include "tessera/core/text.hpp"

namespace tessera::check {

namespace {

/// One line of text: a finding's message may have several.
std::string in_one_line(std::string text) {
  for (char& c : text) c = c == '\n' || c == '\r' ? ' ' : c;
  return text;
}

/// "a.cpp:3:4: ", without a column where none is known, "tessera: " without a place.
std::string gcc_place(const std::string& folder, const Location& at) {
  if (at.line == 0) return "tessera: ";
  const std::string column = at.column > 0 ? cat(":", at.column) : std::string();
  return cat(path_from(folder, at.file), ":", at.line, column, ": ");
}

std::string gcc_finding(const Report& report, const Finding& f, const std::string& folder) {
  const std::string place = gcc_place(folder, place_of(report, f));
  const std::string rule = cat(" [", name(f.kind), "]\n");
  const std::string kernel = where_of(report, f);
  std::string out = cat(place, name(f.severity), ": ", kernel, kernel.empty() ? "" : ": ",
                        in_one_line(counted_problem(f)), rule);
  for (const OtherPlace& other : other_places(report, f))
    out += cat(gcc_place(folder, other.location), "note: ", other.what, rule);
  if (!f.hint.empty()) out += cat(place, "note: try: ", in_one_line(f.hint), rule);
  return out;
}

/// Escapes as GitHub's runner unescapes; in a property a colon or a comma would end it.
std::string github_text(std::string_view text, bool is_property) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '%': out += "%25"; break;
      case '\r': out += "%0D"; break;
      case '\n': out += "%0A"; break;
      case ':': out += is_property ? "%3A" : ":"; break;
      case ',': out += is_property ? "%2C" : ","; break;
      default: out += c;
    }
  }
  return out;
}

std::string github_command(const char* command, const std::string& folder, const Location& at,
                           const std::string& title, const std::string& text) {
  std::string out = cat("::", command, " ");
  if (at.line > 0) {
    out += cat("file=", github_text(path_from(folder, at.file), true), ",line=", at.line, ",");
    if (at.column > 0) out += cat("col=", at.column, ",");
  }
  return cat(out, "title=", github_text(title, true), "::", github_text(text, false), "\n");
}

/// Everything in one annotation, since GitHub shows few for each step.
std::string github_finding(const Report& report, const Finding& f, const std::string& folder) {
  std::string text = counted_problem(f);
  for (const OtherPlace& other : other_places(report, f))
    text += cat("\n", other.what, ": ", path_from(folder, other.location.file), ":",
                other.location.line);
  if (!f.hint.empty()) text += cat("\ntry: ", f.hint);
  const char* const command = f.severity == Severity::error     ? "error"
                              : f.severity == Severity::warning ? "warning"
                                                                : "notice";
  return github_command(command, folder, place_of(report, f),
                        cat(kernel_of(report, f), ": ", title_of(f)), text);
}

/// The last line of both formats, after the unused suppressions and which kernel ran instead.
std::string ending(const Report& report) {
  std::string out = report.remark.empty() ? "" : report.remark + "\n";
  for (const std::string& each : report.unused_suppressions)
    out += cat("unused suppression: ", each, "\n");
  return cat(out, report.kernel, ": ", summary_line(report), "\n");
}

/// What could not be checked.
Location place_of_gap(const Report& report) {
  const Location& known = report.summary.incomplete_at;
  return known.line > 0 ? known : place_of(report, {});
}

bool could_not_check(const Report& report) { return exit_code(report.summary) == 4; }

}  // namespace

std::string to_gcc(const Report& report) {
  const std::string folder = current_folder();
  std::string out;
  for (const Finding& f : report.findings) out += gcc_finding(report, f, folder);
  if (could_not_check(report))
    out += cat(gcc_place(folder, place_of_gap(report)),
               "error: ", in_one_line(summary_line(report)), " [incomplete]\n");
  return out + ending(report);
}

std::string to_github(const Report& report) {
  const std::string folder = checkout_folder();
  std::string out;
  for (const Finding& f : report.findings) out += github_finding(report, f, folder);
  if (could_not_check(report))
    out += github_command("error", folder, place_of_gap(report), report.kernel + ": not checked",
                          summary_line(report));
  return out + ending(report);
}

}  // namespace tessera::check
