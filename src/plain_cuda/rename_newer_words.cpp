// Finds names that C++20 has made keywords: see passes.hpp.
#include <algorithm>
#include <iterator>
#include <set>

#include "passes.hpp"

namespace tessera::plain_cuda {

namespace {

constexpr std::string_view kNewer[] = {"char8_t",  "concept",   "consteval", "constinit",
                                       "co_await", "co_return", "co_yield",  "requires"};

template <class List>
bool is_one_of(const Tokens& t, std::size_t i, const List& words) {
  return i < t.size() &&
         std::find(std::begin(words), std::end(words), t.spelling(i)) != std::end(words);
}

/// `int concept = 3`, `typedef unsigned char char8_t;`: as a keyword of C++20 it never occurs like
/// this.
bool is_declared(const Tokens& t, std::size_t i) {
  static constexpr std::string_view kTypes[] = {
      "auto", "bool",     "char",   "double", "float",  "int",  "long",  "short",
      "void", "unsigned", "signed", "class",  "struct", "enum", "using", "union"};
  static constexpr std::string_view kMarks[] = {"*", "&", ">"}, kOthers[] = {"const", "volatile"};
  static constexpr std::string_view kBehind[] = {"=", ";", ",", ")", "["}, kBody[] = {"{", ":"};
  if (i == 0) return false;
  const bool ends = is_one_of(t, i + 1, kBehind);
  if (is_one_of(t, i - 1, kTypes)) return ends || is_one_of(t, i + 1, kBody);
  if (!t.is(i, "char8_t") && !t.is(i, "co_return")) return ends;
  const bool is_name = t.is_kind(i - 1, Token::Kind::name) && !is_keyword(t.spelling(i - 1)) &&
                       !is_one_of(t, i - 1, kOthers);
  return ends && (is_name || is_one_of(t, i - 1, kMarks));
}

}  // namespace

void rename_newer_words(const Tokens& tokens, PlacedText& out) {
  std::set<std::string_view> renamed;
  const auto for_each = [&](const auto& body) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens.is_kind(i, Token::Kind::name) && is_one_of(tokens, i, kNewer) &&
          !tokens.file(i).is_system)
        body(i);
    }
  };
  for_each([&](std::size_t i) {
    if (is_declared(tokens, i)) renamed.insert(tokens.spelling(i));
  });
  for_each([&](std::size_t i) {
    if (renamed.count(tokens.spelling(i)) > 0)
      out.replace(i, std::string(tokens.spelling(i)) + "_");
  });
}

}  // namespace tessera::plain_cuda
