// Every format of a report, by name: what `--format` takes and what files are written in. A new one
// is a line in formats().
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tessera/check/device_model.hpp"
#include "tessera/check/html_report.hpp"
#include "tessera/check/report.hpp"

namespace tessera::check {

struct Format {
  std::string_view name;     ///< as users type it: "sarif"
  std::string_view meaning;  ///< what it is for, without a full stop
  /// `columns`: the width that tables of text fit, 0 for any.
  std::string (*text)(const Report&, const DeviceModel&, const SourceReader&, std::size_t columns);
};

/// In the order in which help shows them.
std::span<const Format> formats();
/// The format of that name; null: there is none.
const Format* find_format(std::string_view name);

}  // namespace tessera::check
