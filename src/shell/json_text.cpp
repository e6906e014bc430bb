// A separate file, since the serializer takes seconds to compile.
#include "json_text.hpp"

namespace tessera::shell {

std::string json_text(const nlohmann::ordered_json& document, int indent) {
  return document.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tessera::shell
