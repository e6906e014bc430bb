// How the command makes and prints JSON: indented, with a final line break, and without errors for
// file names and arguments that are not UTF-8.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace tessera::shell {

/// An empty object, to start a document or a part of it. A null value also becomes an object by its
/// first key, but if memory runs out there, nlohmann 3.11.2 crashes in its destructor.
inline nlohmann::ordered_json json_object() { return nlohmann::ordered_json::object(); }

/// JSON has no NaN and no infinity.
inline nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

std::string json_text(const nlohmann::ordered_json& document, int indent = 2);

}  // namespace tessera::shell
