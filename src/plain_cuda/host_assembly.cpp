// Tells the host's inline assembly from PTX: see host_assembly.hpp.
#include "host_assembly.hpp"

namespace tessera::plain_cuda {

bool is_host_assembly(const Tokens& tokens, std::size_t open) {
  constexpr std::string_view kOfPtx = "\"=+&hrlqfdbCn";
  int section = 0;
  bool has_operands = false, has_semicolon = false;
  for (std::size_t at = open + 1; at < tokens.pairs[open]; at = tokens.after(at)) {
    if (tokens.is(at, ":")) {
      if (++section > 2) break;
      continue;
    }
    const bool is_text = tokens.is_kind(at, Token::Kind::text);
    const std::string_view text = tokens.spelling(at);
    if (section == 0) {
      has_semicolon = has_semicolon || text.find(';') != text.npos;
    } else {
      has_operands = true;
      if (is_text && text.find_first_not_of(kOfPtx) != text.npos) return true;
    }
  }
  return !has_operands && !has_semicolon;
}

}  // namespace tessera::plain_cuda
