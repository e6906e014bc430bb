// Finds calls of member templates: see passes.hpp.
#include "passes.hpp"

namespace tessera::plain_cuda {

namespace {

using Kind = Token::Kind;

/// >::name
bool follows_arguments(const Tokens& t, std::size_t name) {
  return name >= 3 && t.is(name - 1, ":") && t.is(name - 2, ":") && t.is(name - 3, ">") &&
         t[name - 3].end == t[name - 2].begin && t[name - 2].end == t[name - 1].begin;
}

bool begins_launch(const Tokens& t, std::size_t i) {
  return t.is(i, "<") && t.pairs[i] != Tokens::kNone;
}

/// Template arguments begin at `open`, and a call or a launch follows them. Only types, names and
/// numbers count: a comparison has more.
bool are_arguments_of_call(const Tokens& t, std::size_t open) {
  if (begins_launch(t, open)) return false;
  int depth = 0;
  for (std::size_t i = open; i < t.size(); ++i) {
    if (t.is(i, "<")) {
      ++depth;
    } else if (t.is(i, ">")) {
      if (--depth == 0) return t.is(i + 1, "(") || begins_launch(t, i + 1);
    } else if (!t.is_kind(i, Kind::name) && !t.is_kind(i, Kind::number) && !t.is(i, ",") &&
               !t.is(i, ":") && !t.is(i, "*")) {
      return false;
    }
  }
  return false;
}

/// In a namespace it is a definition.
bool is_in_function(const Tokens& t, std::size_t i) {
  std::size_t parent = t.parents[i];
  while (parent != Tokens::kNone && !t.is(parent, "{")) parent = t.parents[parent];
  return parent != Tokens::kNone && !begins_namespace(t, parent);
}

}  // namespace

void name_templates(const Tokens& tokens, PlacedText& out) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens.is(i + 1, "<") && tokens.is_kind(i, Kind::name) && follows_arguments(tokens, i) &&
        !tokens.file(i).is_system && is_in_function(tokens, i) &&
        are_arguments_of_call(tokens, i + 1))
      out.insert_before(i, "template ");
  }
}

}  // namespace tessera::plain_cuda
