// A report as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format): see format.hpp.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "check/finding_places.hpp"
#include "check/rules.hpp"
#include "tessera/check/format.hpp"
#include "tessera/core/config.hpp"
#include "tessera/core/text.hpp"

namespace tessera::check {

namespace {

using nlohmann::ordered_json;

/// Relative paths refer to this folder.
constexpr const char* kRoot = "%SRCROOT%";

/// A path as a URI: RFC 3986, everything but unreserved characters and slashes percent-encoded.
std::string uri_path(const std::string& path) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  static constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/+@,=";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != std::string_view::npos) out += c;
    else out += {'%', kDigits[byte / 16], kDigits[byte % 16]};
  }
  return out;
}

/// Brackets would start a link in a message.
std::string message_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

ordered_json text_json(std::string_view text) { return {{"text", text}}; }

std::string_view level_of(Severity severity) { return name(severity); }  // SARIF's own names

ordered_json artifact_json(const std::string& folder, const std::string& file) {
  const std::string path = path_from(folder, file);
  if (path.starts_with('/')) return {{"uri", "file://" + uri_path(path)}};
  return {{"uri", uri_path(path)}, {"uriBaseId", kRoot}};
}

ordered_json physical_json(const std::string& folder, const Location& at) {
  ordered_json region = {{"startLine", at.line}};
  if (at.column > 0) region["startColumn"] = at.column;
  return {{"physicalLocation",
           {{"artifactLocation", artifact_json(folder, at.file)}, {"region", std::move(region)}}}};
}

/// The link to a document, if the location of the documents is known.
std::string docs_link(const char* page) {
  const char* const docs = std::getenv("TESSERA_DOCS");
  if (docs == nullptr || *docs == '\0') return {};
  const std::string folder = docs;
  return cat(folder, folder.ends_with('/') ? "" : "/", page);
}

ordered_json rules_json() {
  ordered_json out = ordered_json::array();
  const std::string link = docs_link("checker.md#what-it-finds");
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    const Rule& rule = rule_of(static_cast<Kind>(i));
    ordered_json each = {{"id", kKindNames[i]},
                         {"shortDescription", text_json(rule.summary)},
                         {"fullDescription", text_json(cat(rule.summary, " ", rule.help))}};
    const std::string more = "See 'What it finds' in docs/checker.md.";
    each["help"] = {
        {"text", cat(rule.help, "\n", more)},
        {"markdown", cat(rule.help, "\n\n",
                         link.empty() ? more : cat("[What the checker finds](", link, ")"))}};
    if (!link.empty()) each["helpUri"] = link;
    each["defaultConfiguration"] = {{"level", level_of(rule.severity)}};
    each["properties"] = {{"tags", {"cuda", "gpu", "correctness"}}};
    out.push_back(std::move(each));
  }
  return out;
}

/// A stable identifier of a finding: it does not depend on line numbers.
std::string fingerprint(const Report& report, const Finding& f, const std::string& file) {
  return cat(kernel_of(report, f), "|", name(f.kind), "|", name(f.memory), "|", f.tensor, "|", file,
             "|", f.superstep, "|", f.location.column, "|", f.other.column);
}

std::string message_of(const Finding& f, const std::vector<OtherPlace>& others) {
  std::string out = message_text(counted_problem(f)) + ".";
  for (std::size_t i = 0; i < others.size(); ++i)
    out += cat(i == 0 ? " See " : ", ", "[", message_text(others[i].what), "](", i + 1, ")",
               i + 1 == others.size() ? "." : "");
  if (!f.hint.empty()) out += cat("\nTry: ", message_text(f.hint), ".");
  return out;
}

ordered_json properties_json(const Finding& f) {
  ordered_json out = {{"memory", name(f.memory)}, {"tensor", f.tensor}, {"superstep", f.superstep}};
  if (f.block.linear >= 0) out["block"] = to_string(f.block);
  if (f.other_block.linear >= 0) out["otherBlock"] = to_string(f.other_block);
  ordered_json threads = ordered_json::array();
  for (const Position& each : f.threads) threads.push_back(to_string(each));
  out["threads"] = std::move(threads);
  out["element"] = f.element;
  return out;
}

ordered_json result_json(const Report& report, const Finding& f, const std::string& folder) {
  const Location at = place_of(report, f);
  const auto others = other_places(report, f);
  ordered_json out = {{"ruleId", name(f.kind)},
                      {"ruleIndex", static_cast<int>(f.kind)},
                      {"level", level_of(f.severity)},
                      {"message", text_json(message_of(f, others))}};
  ordered_json location = at.line > 0 ? physical_json(folder, at) : ordered_json::object();
  location["logicalLocations"] = {{{"name", kernel_of(report, f)}, {"kind", "function"}}};
  out["locations"] = ordered_json::array({std::move(location)});
  ordered_json related = ordered_json::array();
  for (std::size_t i = 0; i < others.size(); ++i) {
    ordered_json each = {{"id", i + 1}};
    each.update(physical_json(folder, others[i].location));
    each["message"] = text_json(message_text(others[i].what));
    related.push_back(std::move(each));
  }
  if (!related.empty()) out["relatedLocations"] = std::move(related);
  out["occurrenceCount"] = std::max<std::int64_t>(f.count, 1);
  out["partialFingerprints"] = {
      {"tesseraFinding/v1",
       fingerprint(report, f, at.line > 0 ? path_from(folder, at.file) : std::string())}};
  out["properties"] = properties_json(f);
  return out;
}

ordered_json results_json(const Report& report, const std::string& folder) {
  ordered_json out = ordered_json::array();
  for (const Finding& f : report.findings) {
    out.push_back(result_json(report, f, folder));
    // If one result of a run is suppressed, SARIF requires that all others say they are not.
    if (!report.suppressed.empty()) out.back()["suppressions"] = ordered_json::array();
  }
  for (const Suppressed& s : report.suppressed) {
    out.push_back(result_json(report, s.finding, folder));
    out.back()["suppressions"] = ordered_json::array(
        {{{"kind", "external"}, {"status", "accepted"}, {"justification", s.reason}}});
  }
  return out;
}

ordered_json invocation_json(const Report& report, const std::string& folder) {
  const Summary& summary = report.summary;
  const int code = exit_code(summary);
  const auto notice = [](const char* level, const std::string& text) {
    return ordered_json{{"level", level}, {"message", text_json(message_text(text))}};
  };
  ordered_json said = ordered_json::array(), settings = ordered_json::array();
  if (!summary.incomplete.empty()) said.push_back(notice("error", summary.incomplete));
  if (!said.empty() && summary.incomplete_at.line > 0)
    said.back()["locations"] = ordered_json::array({physical_json(folder, summary.incomplete_at)});
  for (const std::string& each : report.unused_suppressions)
    settings.push_back(notice("note", "unused suppression: " + each));
  return {{"executionSuccessful", summary.incomplete.empty() && code != 4},
          {"exitCode", code},
          {"exitCodeDescription", summary_line(report)},
          {"toolExecutionNotifications", std::move(said)},
          {"toolConfigurationNotifications", std::move(settings)}};
}

}  // namespace

std::string to_sarif(const Report& report) {
  const std::string folder = checkout_folder();
  ordered_json driver = {{"name", "tessera check"},
                         {"version", TESSERA_VERSION},
                         {"semanticVersion", TESSERA_VERSION},
                         {"rules", rules_json()}};
  if (const std::string link = docs_link("checker.md"); !link.empty())
    driver["informationUri"] = link;
  // One log for each file: code scanning distinguishes them by the part before the last slash.
  const std::string what = report.source.empty() ? report.kernel : path_from(folder, report.source);
  const ordered_json run = {
      {"tool", {{"driver", std::move(driver)}}},
      {"automationDetails", {{"id", cat("tessera check/", what, "/")}}},
      {"originalUriBaseIds",
       {{kRoot, {{"uri", cat("file://", uri_path(folder), folder.ends_with('/') ? "" : "/")}}}}},
      {"columnKind", "utf16CodeUnits"},
      {"invocations", ordered_json::array({invocation_json(report, folder)})},
      {"results", results_json(report, folder)},
      {"properties", {{"kernel", report.kernel}, {"problem", report.problem}}}};
  const ordered_json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                            {"version", "2.1.0"},
                            {"runs", ordered_json::array({run})}};
  return log.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tessera::check
