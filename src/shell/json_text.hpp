// How the command makes and prints JSON: indented, a line break at the end, and never an error for
// file names and arguments that are not UTF-8.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace tessera::shell {

/// Where a document or a part of it begins. A null value that becomes an object by its first key
/// will do only while there is memory: without, nlohmann 3.11.2 crashes in its destructor.
inline nlohmann::ordered_json json_object() { return nlohmann::ordered_json::object(); }

/// JSON has no NaN and no infinity.
inline nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

std::string json_text(const nlohmann::ordered_json& document, int indent = 2);

}  // namespace tessera::shell
