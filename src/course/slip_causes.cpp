// Mistakes in the text that compile but are never meant: an if without a body, = for ==, one index
// for two. Checked before the numbers, which only show their consequences.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "brackets.hpp"
#include "cause_parts.hpp"
#include "error_reasons.hpp"
#include "source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

struct SlipReader {
  const LearnersText& text;
  const PuzzleCase* c;  ///< null: none was wrong

  bool is_condition(std::size_t i) const {
    return (text.is("if", i) || text.is("while", i)) && text.is("(", i + 1);
  }
  int line(std::size_t i) const { return text.tokens[i].line; }
  std::string in_line(std::size_t i) const { return cat("in line ", line(i), " "); }

  /// "if (i = 0)"
  Cause assignment(std::size_t i) const {
    if (!is_condition(i)) return {};
    for (std::size_t j = i + 2; j < text.match[i + 1]; ++j)
      if (text.is("=", j) && !text.is("(", j - 1))
        return cause("assignment-in-condition",
                     cat(in_line(i), "= stores, where == would compare"));
    return {};
  }

  /// "if (i < SIZE);"
  Cause empty_body(std::size_t i) const {
    const bool has_body = text.is("if", i) || text.is("for", i);
    if (!has_body || !text.is("(", i + 1) || !text.is(";", text.match[i + 1] + 1)) return {};
    return cause("empty-body", cat("the ; after the brackets of the ", text.tokens[i].text,
                                   " in line ", line(i), " is all that it governs"));
  }

  /// "block.x", which is the number of threads.
  Cause block_size(std::size_t i) const {
    if (!text.is("block", i) || !text.is(".", i + 1) || text.is_member(i)) return {};
    const SourceName* const name = text.names.visible("block", i);
    if (name == nullptr || name->kind != SourceName::Kind::member) return {};
    const std::string use = text_of_tokens(text.tokens, i, i + 3);
    return cause("block-size", cat(in_line(i), use, " is how many threads a block has"),
                 cat("t.", use, " is the block's place in the grid"));
  }

  /// Has the tensor or tile rows and columns?
  bool is_matrix(std::size_t i) const {
    const std::string& name = text.tokens[i].text;
    if (text.is_member(i)) {
      for (const auto& each : text.names.all())
        if (each.name == name && each.kind == SourceName::Kind::member &&
            each.type.starts_with("Tile<") && each.type.find(", 1,") == std::string::npos)
          return std::count(each.type.begin(), each.type.end(), ',') == 2;
      return false;
    }
    return c != nullptr && std::any_of(c->coverage.begin(), c->coverage.end(), [&](const auto& t) {
             return t.tensor == name && t.rows > 1 && t.cols > 1;
           });
  }

  /// "out(row * cols + col)"
  Cause flat_index(std::size_t i) const {
    if (!text.tokens[i].is_name() || !text.is("(", i + 1) || !is_matrix(i)) return {};
    const auto arguments = text.arguments(i + 1);
    if (arguments.size() != 1) return {};
    std::size_t times = 0, plus = 0;
    for (std::size_t j = i + 2; j < text.match[i + 1]; ++j) {
      if (text.match[j] != kNoToken && text.match[j] > j) j = text.match[j];
      if (text.is("*", j)) times = j;
      if (text.is("+", j)) plus = j;
    }
    if (times == 0 || plus == 0) return {};
    const std::size_t begin = text.is_member(i) && i > 1 ? i - 2 : i;
    const std::string name = text_of_tokens(text.tokens, begin, i + 1);
    const bool is_plain = times == i + 3 && plus < text.match[i + 1] && plus > times;
    const std::string row = text.tokens[i + 2].text,
                      col = text_of_tokens(text.tokens, plus + 1, text.match[i + 1]);
    return cause("flat-index", cat(in_line(i), name, " has rows and columns, but gets one index"),
                 cat(name, is_plain ? cat("(", row, ", ", col, ")") : "(row, col)",
                     ": views know their strides"));
  }

  /// "1 / 4"
  Cause whole_division(std::size_t i) const {
    const auto whole = [&](std::size_t at) -> long {
      const auto& token = text.tokens[at];
      const bool is_whole = token.kind == SourceToken::Kind::number &&
                            token.text.find_first_not_of("0123456789") == std::string::npos;
      return is_whole ? std::atol(token.text.c_str()) : 0;
    };
    if (i == 0 || i + 1 >= text.tokens.size() || !text.is("/", i)) return {};
    const long a = whole(i - 1), b = whole(i + 1);
    const bool is_first = i < 2 || (!text.is("*", i - 2) && !text.is("/", i - 2));
    if (a == 0 || b == 0 || a % b == 0 || !is_first) return {};
    return cause("whole-numbers",
                 cat(in_line(i), a, " / ", b, " is ", a / b, ": both are whole numbers"),
                 cat(a, ".0f / ", b));
  }

  /// "A(row, k)", "s.b(k, col)": an element of a tensor of the kernel, or of a tile of floats.
  bool is_element(std::size_t i) const {
    if (text.is(".", i + 1)) i += 2;
    if (i >= text.tokens.size() || !text.is("(", i + 1)) return false;
    const SourceName* const name = declared_at(text, i);
    if (name != nullptr && name->kind == SourceName::Kind::member)
      return name->type.starts_with("Tile<float");
    return c != nullptr && std::any_of(c->coverage.begin(), c->coverage.end(), [&](const auto& t) {
             return t.tensor == text.tokens[i].text;
           });
  }

  /// "int sum = 0;" that products of floats are added to, "int b = s.b(k, col);", where results are
  /// no whole numbers.
  Cause whole_sum(std::size_t i) const {
    if (c == nullptr || !text.is("=", i + 1) || !(text.is("fma", i + 2) || is_element(i + 2)))
      return {};
    const SourceName* const name = text.names.visible(text.tokens[i].text, i);
    std::string type = name != nullptr ? name->type : "";
    if (type.starts_with("const ")) type.erase(0, 6);
    const bool is_whole = type == "int" || type == "index_t" || type == "long";
    const bool has_fraction = std::any_of(c->outputs.begin(), c->outputs.end(), [](const auto& m) {
      return std::any_of(m.expected.begin(), m.expected.end(),
                         [](double x) { return x != std::floor(x); });
    });
    if (!is_whole || !has_fraction) return {};
    return cause("whole-numbers",
                 cat("line ", name->line, " declares ", name->name, " as ", type,
                     ": it holds whole numbers only"),
                 cat("float, not int: float ", name->name));
  }

  /// Is the token in the braces of a function, and in no brackets inside these?
  bool is_in_body(std::size_t i) const {
    while (i > 0) {
      --i;
      const std::size_t other = text.match[i];
      if (other == kNoToken) continue;
      if (other > i) return text.is("{", i);
      i = other;
    }
    return false;
  }

  /// "out(i) == a(i) + 10;"
  Cause comparison_alone(std::size_t i) const {
    const bool begins = i > 0 && (text.is(";", i - 1) || text.is("{", i - 1) ||
                                  text.is("}", i - 1) || text.is(")", i - 1));
    const bool is_word = !text.tokens[i].is_name() || is_keyword(text.tokens[i].text);
    if (!begins || is_word || text.is_member(i) || !is_in_body(i)) return {};
    for (std::size_t j = i + 1; j < text.tokens.size() && !text.is(";", j); ++j) {
      if (text.match[j] != kNoToken && text.match[j] > j) j = text.match[j];
      if (!text.is("==", j) && !text.is(".", j) && !text.is(")", j) && !text.is("]", j) &&
          !text.tokens[j].is_name())
        return {};
      if (text.is("==", j))
        return cause("compares-only",
                     cat(in_line(i), "== compares, and what it finds is used for nothing"),
                     cat(text_of_tokens(text.tokens, i, j), " = ... stores"));
    }
    return {};
  }

  /// "by_rows = (tuple(3, 5), tuple(5, 1));", of which the last part alone is the value.
  Cause comma_alone(std::size_t i) const {
    if (!text.is("=", i) || !text.is("(", i + 1) || text.match[i + 1] == kNoToken || i == 0)
      return {};
    const std::size_t end = text.match[i + 1];
    const auto parts = text.arguments(i + 1);
    if (!text.is(";", end + 1) || parts.size() < 2) return {};
    const std::string all = text_of_tokens(text.tokens, i + 1, end + 1);
    return cause("comma",
                 cat(in_line(i), "the value of ", all, " is its last part alone, ", parts.back()),
                 cat(text.tokens[i - 1].text, all, "; without = gives all of them"));
  }

  /// "t.atomic_add(sum, C(row, col))"
  Cause atomic_of_local(std::size_t i) const {
    if (!text.tokens[i].text.starts_with("atomic_") || !text.is("(", i + 1) || !text.is(",", i + 3))
      return {};
    const SourceName* const name = text.names.visible(text.tokens[i + 2].text, i);
    if (name == nullptr || name->kind != SourceName::Kind::variable || !is_builtin_type(name->type))
      return {};
    return cause("atomic-of-local",
                 cat(in_line(i), text.tokens[i].text, " changes ", name->name,
                     ", which each thread has for itself"),
                 cat("t.", text.tokens[i].text, "(C(row, col), ", name->name,
                     "): the element that changes comes first"));
  }

  /// Is the outer one used after the scope of the inner one, before it is assigned again?
  bool is_read_behind(const SourceName& inner, const SourceName& outer) const {
    for (std::size_t i = inner.end; i < outer.end && i < text.tokens.size(); ++i)
      if (text.tokens[i].is(outer.name) && text.names.visible(outer.name, i) == &outer)
        return !text.is("=", i + 1);
    return false;
  }

  /// A second variable of the same name, inside the scope of the first one.
  Cause declared_again(const SourceName& name) const {
    if (name.kind != SourceName::Kind::variable || name.token == 0) return {};
    for (const auto& other : text.names.all()) {
      const bool is_outer = other.name == name.name && other.token < name.token &&
                            other.begin <= name.token && name.token <= other.end &&
                            other.kind == SourceName::Kind::variable &&
                            other.type.find("constexpr") == std::string::npos;
      if (is_outer && is_read_behind(name, other))
        return cause(
            "declared-again",
            cat("line ", name.line, " declares another ", name.name, " than line ", other.line,
                ": what is stored in it is lost at the end of its block"),
            cat(name.name, " = ..., without ", name.type, ", is the one of line ", other.line));
    }
    return {};
  }

  /// Is the token one that stores into what is before it, whatever that held?
  bool stores_at(std::size_t i) const { return text.is("=", i) && !text.is("=", i + 1); }

  /// "float total;" and then "total += x", "float a[4];" whose elements are only read.
  Cause never_set(const SourceName& name) const {
    std::string type = name.type;
    if (type.ends_with("[]")) type.erase(type.size() - 2);
    if (name.kind != SourceName::Kind::variable || !is_builtin_type(type)) return {};
    std::size_t next = name.token + 1;
    while (text.is("[", next)) next = text.match[next] + 1;
    if (!text.is(";", next) && !text.is(",", next)) return {};
    bool is_read = false;
    for (std::size_t i = name.token + 1; i < name.end && i < text.tokens.size(); ++i) {
      if (!text.tokens[i].is(name.name) || text.is_member(i) ||
          text.names.visible(name.name, i) != &name)
        continue;
      std::size_t after = i + 1;
      while (text.is("[", after)) after = text.match[after] + 1;
      const bool is_passed_on = (text.is("&", i - 1) && !text.tokens[i - 2].is_name()) ||
                                (name.is_array() && after == i + 1);
      if (is_passed_on || text.is("++", i - 1)) return {};
      if (stores_at(after)) {
        bool reads_itself = false;
        for (std::size_t j = after; j < text.tokens.size() && !text.is(";", j); ++j)
          reads_itself = reads_itself || (text.tokens[j].is(name.name) && !text.is_member(j));
        if (!reads_itself) return {};
      }
      is_read = true;
    }
    if (!is_read) return {};
    return cause(
        "no-first-value",
        cat("line ", name.line, " declares ", name.name,
            name.is_array() ? ", and its elements are read before a number is stored in them"
                            : ", which is read before a number is stored in it"),
        name.is_array() ? cat(name.name, "[...] = ...; before they are read, or ", type, " ",
                              name.name, "[...] = {};")
                        : cat(type, " ", name.name, " = 0;"));
  }

  /// Two lines that look governed by an if or a for, which governs one.
  Cause missing_braces(std::size_t i) const {
    const bool is_header = (text.is("if", i) || text.is("for", i)) && text.is("(", i + 1);
    if (!is_header || (i > 0 && line(i - 1) == line(i))) return {};
    const std::size_t body = text.match[i + 1] + 1;
    if (body >= text.tokens.size() || line(body) != line(text.match[i + 1]) + 1) return {};
    std::size_t end = body;
    while (end < text.tokens.size() && !text.is(";", end) && !text.is("{", end)) ++end;
    const std::size_t next = end + 1;
    if (next >= text.tokens.size() || !text.is(";", end) || line(end) != line(body)) return {};
    const int indent = text.tokens[body].column;
    const bool looks_inside = text.tokens[next].column == indent &&
                              indent > text.tokens[i].column && !text.is("else", next);
    if (!looks_inside) return {};
    return cause("missing-braces",
                 cat("the ", text.tokens[i].text, " in line ", line(i), " governs line ",
                     line(body), " only, and not line ", line(next)));
  }
};

}  // namespace

Cause cause_of_slip(const PuzzleAttempt& attempt, const PuzzleCase* c) {
  const LearnersText text(attempt.source);
  if (wrong_bracket(text.tokens).line > 0) return {};  // it compiles, so the lexer has misread it
  const SlipReader slips{text, c};
  const Loop kernel = kernel_named(attempt.source, c == nullptr ? "" : c->kernel);
  const auto is_inside = [&](int line) { return kernel.first <= line && line <= kernel.last; };
  const std::size_t comma = forgotten_tuple(text, {0, text.tokens.size()});
  if (comma != kNoToken) {
    const std::string inside = text_of_tokens(text.tokens, comma, text.match[comma] + 1);
    return cause("tuple",
                 cat("in line ", text.tokens[comma].line, " ", inside, " is its last number alone"),
                 cat("tuple", inside));
  }
  for (std::size_t i = 0; i < text.tokens.size(); ++i) {
    if (!is_inside(text.tokens[i].line)) continue;
    for (const auto rule :
         {&SlipReader::assignment, &SlipReader::empty_body, &SlipReader::block_size,
          &SlipReader::flat_index, &SlipReader::whole_division, &SlipReader::whole_sum,
          &SlipReader::comparison_alone, &SlipReader::atomic_of_local, &SlipReader::comma_alone,
          &SlipReader::missing_braces})
      if (Cause out = (slips.*rule)(i); !out.id.empty()) return out;
  }
  for (const auto& name : text.names.all()) {
    if (!is_inside(name.line)) continue;
    if (Cause out = slips.declared_again(name); !out.id.empty()) return out;
  }
  return {};
}

Cause cause_of_no_value(const PuzzleAttempt& attempt, const PuzzleCase& c) {
  const LearnersText text(attempt.source);
  if (wrong_bracket(text.tokens).line > 0) return {};
  const SlipReader slips{text, &c};
  const Loop kernel = kernel_named(attempt.source, c.kernel);
  for (const auto& name : text.names.all())
    if (kernel.first <= name.line && name.line <= kernel.last)
      if (Cause out = slips.never_set(name); !out.id.empty()) return out;
  return {};
}

}  // namespace tessera::course
