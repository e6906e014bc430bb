// A report as text, for the messages of tests that fail.
#pragma once

#include <string>

#include "tessera/check/format.hpp"

namespace tessera {

inline std::string text_of(const check::Report& report) {
  return check::to_text(report, check::device_model("h200"));
}

}  // namespace tessera
