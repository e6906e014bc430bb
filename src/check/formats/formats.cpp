// The list of formats: see check/formats.hpp.
#include "formats.hpp"

#include <algorithm>

#include "tessera/check/format.hpp"

namespace tessera::check {

namespace {

/// For functions that need only the report.
template <std::string (*Text)(const Report&)>
std::string alone(const Report& report, const DeviceModel&, const SourceReader&, std::size_t) {
  return Text(report);
}
std::string text(const Report& report, const DeviceModel& device, const SourceReader&,
                 std::size_t columns) {
  return to_text(report, device, columns);
}
std::string json(const Report& report, const DeviceModel& device, const SourceReader&,
                 std::size_t) {
  return to_json(report, device);
}
std::string html(const Report& report, const DeviceModel& device, const SourceReader& source,
                 std::size_t) {
  return html_report(report, device, source);
}

}  // namespace

std::span<const Format> formats() {
  static constexpr Format kFormats[] = {
      {"text", "for people: findings, counters, what the kernel costs", text},
      {"json", "one document with everything", json},
      {"gcc", "file:line:column: error: ..., which editors jump to", alone<to_gcc>},
      {"sarif", "SARIF 2.1.0, for code scanning", alone<to_sarif>},
      {"github", "annotations of GitHub Actions", alone<to_github>},
      {"junit", "a case for each finding", alone<to_junit>},
      {"html", "a page with source, pictures and roofline", html}};
  return kFormats;
}

const Format* find_format(std::string_view name) {
  const auto all = formats();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace tessera::check
