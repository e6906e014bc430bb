// Finds declarations: see scopes.hpp.
#include "scopes.hpp"

#include <algorithm>

namespace tessera::course {

namespace {

/// Walks through the tokens once, from declaration to declaration.
class DeclarationReader {
 public:
  explicit DeclarationReader(const SourceTokens& tokens)
      : tokens_(tokens), match_(matches_of(tokens)) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (match_[i] != kNoToken && match_[i] < i) open.pop_back();
      around_.push_back(open.empty() ? kNoToken : open.back());
      if (match_[i] != kNoToken && match_[i] > i) open.push_back(i);
    }
  }

  std::vector<SourceName> read() {
    for (std::size_t i = 1; i < tokens_.size(); ++i) {
      if (is("auto", i - 1) && is("[", i)) bindings(i, i);
      if ((is("&", i - 1) || is("&&", i - 1)) && is("[", i) && i > 1 && is("auto", i - 2))
        bindings(i, i);
      if (tokens_[i].is_name() && is_declared(i)) declare_all(i);
    }
    return std::move(names_);
  }

 private:
  using Kind = SourceName::Kind;

  bool is(std::string_view text, std::size_t at) const {
    return at < tokens_.size() && tokens_[at].is(text);
  }
  bool is_type_word(std::size_t at) const {
    return tokens_[at].is_name() && !is_keyword(tokens_[at].text);
  }
  /// The first token of the type that ends at `last`; kNoToken: no type ends there.
  std::size_t type_at(std::size_t last) const {
    std::size_t at = last;
    while (at > 0 && (is("&", at) || is("*", at) || is("&&", at) || is("const", at) ||
                      is("__restrict__", at)))
      --at;
    if (is(">", at)) {
      int depth = 1;
      while (at > 0 && depth > 0) {
        --at;
        depth += is(">", at) ? 1 : is("<", at) ? -1 : 0;
        if (is(";", at) || is("{", at) || is("}", at)) return kNoToken;
      }
      if (at == 0) return kNoToken;
      --at;
    }
    if (!is_type_word(at)) return kNoToken;
    while (at > 1 && is("::", at - 1) && tokens_[at - 2].is_name()) at -= 2;
    while (at > 0 && is_builtin_type(tokens_[at].text) && is_builtin_type(tokens_[at - 1].text))
      --at;
    return at;
  }
  /// Only keywords of a declaration precede the type.
  bool begins_declaration(std::size_t at) const {
    constexpr std::string_view before[] = {
        ";",         "{",          "}",          "(",          ",",           "const",
        "constexpr", "static",     "inline",     "struct",     "class",       ":",
        ")",         "__shared__", "__global__", "__device__", "__constant__"};
    return at == 0 || std::any_of(std::begin(before), std::end(before),
                                  [&](auto each) { return is(each, at - 1); });
  }
  bool is_declared(std::size_t at) const {
    if (is_keyword(tokens_[at].text) || is_builtin_type(tokens_[at].text)) return false;
    if (is("struct", at - 1) || is("class", at - 1) || is("using", at - 1)) return true;
    constexpr std::string_view followers[] = {"=", ";", ",", ")", "(", "{", "[", ":"};
    if (std::none_of(std::begin(followers), std::end(followers),
                     [&](auto each) { return is(each, at + 1); }))
      return false;
    const std::size_t type = type_at(at - 1);
    return type != kNoToken && begins_declaration(type) && !is("(", type);
  }

  /// All declarators of the statement whose first one is at `at`.
  void declare_all(std::size_t at) {
    const bool is_type = is("struct", at - 1) || is("class", at - 1) || is("using", at - 1);
    std::string type = is_type ? "" : text_of_tokens(tokens_, type_at(at - 1), at);
    for (std::size_t i = type.empty() ? 0 : type_at(at - 1);
         i > 0 && tokens_[i - 1].is_name() && is_keyword(tokens_[i - 1].text); --i)
      type = tokens_[i - 1].text + " " + type;
    declare(at, is_type ? Kind::type : kind_at(at), type);
    if (is_type || !lists_declarators(at)) return;
    for (std::size_t i = at + 1; i < tokens_.size() && !is(";", i) && !is(")", i) && !is("}", i);
         ++i) {
      if (match_[i] != kNoToken && match_[i] > i) i = match_[i];
      std::size_t next = i + 1;
      if (!is(",", i)) continue;
      while (is("*", next) || is("&", next)) ++next;
      if (next < tokens_.size() && is_type_word(next)) declare(next, kind_at(at), type);
    }
  }
  void bindings(std::size_t open, std::size_t) {
    if (match_[open] == kNoToken) return;
    for (std::size_t i = open + 1; i < match_[open]; ++i)
      if (tokens_[i].is_name()) declare(i, Kind::variable, "auto");
  }
  bool is_header(std::size_t open) const {
    return open > 0 && (is("for", open - 1) || is("if", open - 1) || is("while", open - 1) ||
                        is("switch", open - 1));
  }
  bool lists_declarators(std::size_t at) const {
    const std::size_t open = around_[at];
    return open == kNoToken || is("{", open) || is_header(open);
  }
  /// "Shared" of the struct around the token; "" elsewhere.
  std::string owner_of(std::size_t at) const {
    const std::size_t open = around_[at];
    if (open == kNoToken || open < 2 || !is("{", open)) return {};
    return is("struct", open - 2) || is("class", open - 2) ? tokens_[open - 1].text : "";
  }
  Kind kind_at(std::size_t at) const {
    const std::size_t open = around_[at];
    if (open != kNoToken && is("(", open) && !is_header(open)) return Kind::parameter;
    return owner_of(at).empty() ? Kind::variable : Kind::member;
  }

  /// The last token of the statement that begins at `at`.
  std::size_t statement_end(std::size_t at) const {
    for (; at < tokens_.size(); ++at) {
      if (is(";", at)) return at;
      const bool opens = match_[at] != kNoToken && match_[at] > at;
      const bool is_block = opens && is("{", at);
      if (opens) at = match_[at];
      if (is_block && !is("else", at + 1)) return at;
    }
    return tokens_.size();
  }
  void declare(std::size_t at, Kind kind, std::string type) {
    const std::size_t open = around_[at];
    std::size_t begin = at, end = tokens_.size();
    if (open != kNoToken && is("(", open)) {
      std::size_t body = match_[open] + 1;
      while (body < tokens_.size() &&
             (is("const", body) || is("mutable", body) || is("noexcept", body)))
        ++body;
      end = statement_end(body);
    } else if (open != kNoToken) {
      end = match_[open];
    }
    const std::string owner = owner_of(at);
    if (!owner.empty()) begin = open;  // the whole struct knows its members
    if (is("[", at + 1)) type += "[]";
    const int last = end < tokens_.size() ? tokens_[end].line : tokens_.back().line;
    names_.push_back(
        {kind, tokens_[at].text, std::move(type), owner, at, begin, end, tokens_[at].line, last});
  }

  const SourceTokens& tokens_;
  std::vector<std::size_t> match_, around_;
  std::vector<SourceName> names_;
};

}  // namespace

SourceNames::SourceNames(const SourceTokens& tokens) : names_(DeclarationReader(tokens).read()) {}

const SourceName* SourceNames::visible(std::string_view name, std::size_t token) const {
  const SourceName* out = nullptr;
  for (const auto& each : names_)
    if (each.name == name && each.begin <= token && token <= each.end) out = &each;
  return out;
}

const SourceName* SourceNames::anywhere(std::string_view name, std::size_t token) const {
  const SourceName* out = nullptr;
  for (const auto& each : names_)
    if (each.name == name && (out == nullptr || each.token < token)) out = &each;
  return out;
}

std::vector<std::string> SourceNames::visible_at(std::size_t token) const {
  std::vector<std::string> out;
  for (const auto& each : names_)
    if (each.begin <= token && token <= each.end && each.kind != SourceName::Kind::type)
      out.push_back(each.name);
  return out;
}

}  // namespace tessera::course
