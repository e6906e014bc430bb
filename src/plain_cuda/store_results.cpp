// Finds `s[i] = f(x);` in code of the device: see passes.hpp.
#include <algorithm>
#include <iterator>

#include "passes.hpp"

namespace tessera::plain_cuda {

namespace {

bool is_name(const Tokens& t, std::size_t i) { return t.is_kind(i, Token::Kind::name); }

/// A single `=`, neither a comparison nor a part of `+=`.
bool assigns(const Tokens& t, std::size_t i) {
  constexpr std::string_view kParts = "=!<>+-*/%&|^";
  const bool follows = t.is_kind(i - 1, Token::Kind::mark) && t[i - 1].end == t[i].begin &&
                       kParts.find(t.spelling(i - 1)) != kParts.npos;
  return t.is(i, "=") && !follows && !(t.is(i + 1, "=") && t[i].end == t[i + 1].begin);
}

/// Where the statement begins in which this token is outside of brackets; kNone: nowhere.
std::size_t begin_of_statement(const Tokens& t, std::size_t i) {
  while (i > 0 && !begins_statement(t, i)) {
    --i;
    if (t.is(i, "(") || t.is(i, "[") || t.is(i, "{") || t.is(i, ";")) return Tokens::kNone;
    if (t.is(i, ")") || t.is(i, "]")) i = t.pairs[i];
  }
  return i == 0 ? Tokens::kNone : i;
}

/// Do these tokens name an object in memory? Not if they declare a variable.
bool is_place(const Tokens& t, std::size_t first, std::size_t last) {
  if (t.is(first, "auto") || (is_name(t, first) && is_keyword(t.spelling(first)))) return false;
  bool out = t.is(first, "*");
  for (std::size_t i = first; i < last; i = t.after(i)) {
    if (t.is(i, "=") || t.is(i, ",") || t.is(i, "?")) return false;
    const bool ends_type = is_name(t, i) || t.is(i, ")") || (t.is(i, ">") && !t.is(i - 1, "-"));
    const bool points = t.is(i + 1, "*") || t.is(i + 1, "&");
    if (i + 1 < last && ends_type && (is_name(t, i + 1) || points)) return false;
    out = out || t.is(i, "[") || t.is(i, ".") || t.is(i, ">");
  }
  return out;
}

/// The ; after a call, from here on; kNone: it is anything else.
std::size_t end_of_call(const Tokens& t, std::size_t first) {
  static constexpr std::string_view kOthers[] = {"{", "=", ",", "new", "throw", "delete"};
  std::size_t last = first;
  for (std::size_t i = first; i < t.size() && !t.is(i, ";"); last = i, i = t.after(i))
    if (std::any_of(std::begin(kOthers), std::end(kOthers),
                    [&](std::string_view each) { return t.is(i, each); }))
      return Tokens::kNone;
  if (last == first || !t.is(last, "(")) return Tokens::kNone;
  const bool is_named = is_name(t, last - 1) && !is_keyword(t.spelling(last - 1));
  return is_named || t.is(last - 1, ">") ? t.after(last) : Tokens::kNone;
}

}  // namespace

void store_results(const Tokens& tokens, PlacedText& out) {
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (!assigns(tokens, i) || tokens.file(i).is_system || !is_in_device_code(tokens, i)) continue;
    const std::size_t begin = begin_of_statement(tokens, i), end = end_of_call(tokens, i + 1);
    if (begin == Tokens::kNone || end == Tokens::kNone || !is_place(tokens, begin, i)) continue;
    out.insert_before(i + 1, "::tessera::plain_cuda::stored(");
    out.insert_before(end, ")");
  }
}

}  // namespace tessera::plain_cuda
