// Normalizes CUDA texts for comparison.
#pragma once

#include <string>

#include "plain_cuda/lexer.hpp"

namespace tessera::plain_cuda {

inline const std::string kMarker = "# 1 \"k.cu\"\n";

/// Tokens with one blank between them where that changes nothing; the room's name is left out.
inline std::string plain(std::string text) {
  const std::string room = "::tessera::plain_cuda::";
  for (std::size_t at; (at = text.find(room)) != text.npos;) text.erase(at, room.size());
  const Tokens tokens = tokens_of(text);
  std::string out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_mark = tokens.is_kind(i, Token::Kind::mark);
    const bool was_mark = tokens.is_kind(i - 1, Token::Kind::mark);
    if (i > 0 && !is_mark && !was_mark) out += ' ';
    out += tokens.spelling(i);
  }
  return out;
}

}  // namespace tessera::plain_cuda
