// Finds atomic updates whose results nobody uses: see passes.hpp.
#include <algorithm>
#include <iterator>

#include "passes.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

namespace {

constexpr std::string_view kUpdates[] = {"atomicAdd", "atomicSub", "atomicMin", "atomicMax",
                                         "atomicAnd", "atomicOr",  "atomicXor"};

template <class List>
bool is_any_of(const Tokens& t, std::size_t i, const List& words) {
  return i < t.size() &&
         std::find(std::begin(words), std::end(words), t.spelling(i)) != std::end(words);
}

/// Does the program itself declare a function of this name?
bool is_declared(const Tokens& t, std::string_view name) {
  for (std::size_t i = 1; i + 1 < t.size(); ++i) {
    if (!t.is(i, name) || t.file(i).is_system || !t.is(i + 1, "(")) continue;
    const bool follows_type = t.is_kind(i - 1, Token::Kind::name) && !is_keyword(t.spelling(i - 1));
    if (follows_type || t.is(i - 1, "*") || t.is(i - 1, "&") || t.is(i - 1, ">")) return true;
  }
  return false;
}

}  // namespace

bool begins_statement(const Tokens& t, std::size_t i) {
  static constexpr std::string_view kBefore[] = {";", "{", "}", "else", "do"},
                                    kConditions[] = {"if", "while", "for", "constexpr"};
  if (is_any_of(t, i - 1, kBefore)) return true;
  return t.is(i - 1, ")") && is_any_of(t, t.pairs[i - 1] - 1, kConditions);
}

void free_order(const Tokens& tokens, PlacedText& out) {
  for (const std::string_view name : kUpdates) {
    if (is_declared(tokens, name)) continue;
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      if (!tokens.is(i, name) || !tokens.is(i + 1, "(") || tokens.file(i).is_system ||
          !begins_statement(tokens, i) || !tokens.is(tokens.after(i + 1), ";"))
        continue;
      out.insert_before(tokens.pairs[i + 1],
                        cat(", ::tessera::plain_cuda::Unused{{\"", tokens.file(i).name, "\", ",
                            tokens[i].line, ", ", tokens[i].column, "}}"));
    }
  }
}

}  // namespace tessera::plain_cuda
