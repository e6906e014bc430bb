// The list of formats: see check/formats.hpp.
#include "tessera/check/formats.hpp"

#include <algorithm>

#include "tessera/check/format.hpp"

namespace tessera::check {

namespace {

/// For functions that need neither the device nor the sources.
template <std::string (*Text)(const Report&)>
std::string alone(const Report& report, const DeviceModel&, const SourceReader&) {
  return Text(report);
}
template <std::string (*Text)(const Report&, const DeviceModel&)>
std::string on_device(const Report& report, const DeviceModel& device, const SourceReader&) {
  return Text(report, device);
}

}  // namespace

std::span<const Format> formats() {
  static constexpr Format kFormats[] = {
      {"text", "for people: findings, counters, what the kernel costs", on_device<to_text>},
      {"json", "one document with everything", on_device<to_json>},
      {"gcc", "file:line:column: error: ..., which editors jump to", alone<to_gcc>},
      {"sarif", "SARIF 2.1.0, for code scanning", alone<to_sarif>},
      {"github", "annotations of GitHub Actions", alone<to_github>},
      {"junit", "a case for each finding", alone<to_junit>},
      {"html", "a page with source, pictures and roofline", html_report}};
  return kFormats;
}

const Format* find_format(std::string_view name) {
  const auto all = formats();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace tessera::check
