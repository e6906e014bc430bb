// The one way in which the command prints JSON: indented, a line break at the end, and never an
// error for file names and arguments that are not UTF-8.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tessera::cli {

inline std::string json_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tessera::cli
