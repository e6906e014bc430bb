// Rewrites CUDA's words: see rewrite.hpp. The text is changed by a list of edits; behind each that
// changes a length a line marker and blanks put what follows back where the user had it.
#include "rewrite.hpp"

#include <algorithm>
#include <vector>

#include "lexer.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

namespace {

using Kind = Token::Kind;

constexpr const char* kRoom = "::tessera::plain_cuda::";

struct Edit {
  std::size_t begin, end;  ///< what is replaced; nothing where they are equal
  std::string text;
  std::size_t next;  ///< the token that follows in the user's file
};

class Rewriter {
 public:
  explicit Rewriter(const Tokens& tokens) : t_(tokens) {}

  std::string run() {
    for (std::size_t i = 0; i < t_.all.size(); ++i) {
      if (t_.all[i].kind == Kind::name) word(i);
      else if (is_launch(i)) launch(i);
    }
    return apply();
  }

 private:
  const Token& token(std::size_t i) const { return t_.all[i]; }
  bool is_adjacent(std::size_t i, char c, int count) const {
    for (int k = 0; k < count; ++k) {
      const std::size_t at = i + static_cast<std::size_t>(k);
      if (at >= t_.all.size() || t_.text[token(at).begin] != c ||
          token(at).begin != token(i).begin + static_cast<std::size_t>(k))
        return false;
    }
    return true;
  }
  [[noreturn]] void refuse(std::size_t i, const std::string& problem, std::string expected) const {
    const Token& at = token(std::min(i, t_.all.size() - 1));
    throw Error(Category::argument,
                cat(t_.files[static_cast<std::size_t>(at.file)].name, ":", at.line, ":", at.column,
                    ": ", problem),
                std::move(expected));
  }
  std::string place_text(std::size_t i) const {
    const Token& at = token(i);
    return cat(kRoom, "Place{\"", t_.files[static_cast<std::size_t>(at.file)].name, "\",", at.line,
               ",", at.column, "}");
  }
  std::string_view text_between(std::size_t first, std::size_t last) const {
    return first >= last
               ? std::string_view()
               : t_.text.substr(token(first).begin, token(last - 1).end - token(first).begin);
  }
  /// Blanks in place of tokens [first, last): nothing moves.
  void blank(std::size_t first, std::size_t last) {
    std::string blanks(text_between(first, last));
    for (char& c : blanks) c = c == '\n' ? '\n' : ' ';
    edits_.push_back({token(first).begin, token(last - 1).end, blanks, last});
  }
  void insert_before(std::size_t i, std::string text) {
    edits_.push_back({token(i).begin, token(i).begin, std::move(text), i});
  }
  void insert_behind(std::size_t i, std::string text) {
    edits_.push_back({token(i).end, token(i).end, std::move(text), i + 1});
  }
  void replace(std::size_t i, std::string text) {
    edits_.push_back({token(i).begin, token(i).end, std::move(text), i + 1});
  }

  void word(std::size_t i) {
    const std::string_view w = t_.spelling(i);
    if (w == "__global__") kernel(i);
    else if (w == "__shared__") shared(i);
    else if (w == "__grid_constant__") blank(i, i + 1);
    else if ((w == "__launch_bounds__" || w == "__cluster_dims__") && t_.is(i + 1, "("))
      blank(i, t_.behind_bracket(i + 1));
    else if (w == "asm" || w == "__asm__" || w == "__asm") inline_ptx(i);
  }

  void kernel(std::size_t i) {
    blank(i, i + 1);
    std::string bounds;
    std::size_t at = i + 1;
    while (at < t_.all.size() && !t_.is(at, "{") && !t_.is(at, ";") && !t_.is(at, "__global__")) {
      if (t_.is(at, "__launch_bounds__") && t_.is(at + 1, "("))
        bounds = text_between(at + 2, t_.behind_bracket(at + 1) - 1);
      at = t_.is(at, "(") || t_.is(at, "[") ? t_.behind_bracket(at) : at + 1;
    }
    if (bounds.empty()) bounds = bounds_before(i);
    if (!t_.is(at, "{")) return;
    const std::size_t end = t_.behind_bracket(at);
    if (!t_.is(end - 1, "}")) refuse(at, "a kernel whose body nobody closes", "a } for this {");
    insert_behind(at, cat(kRoom, "run_kernel(__func__, ", kRoom, "launch_bounds(", bounds,
                          "), [=]() mutable -> void {"));
    insert_before(end - 1, "});");
  }
  /// __launch_bounds__ may stand before __global__ as well.
  std::string bounds_before(std::size_t i) const {
    for (std::size_t at = i; at-- > 0 && i - at < 64;) {
      if (t_.is(at, ";") || t_.is(at, "}") || t_.is(at, "{")) break;
      if (t_.is(at, "__launch_bounds__") && t_.is(at + 1, "("))
        return std::string(text_between(at + 2, t_.behind_bracket(at + 1) - 1));
    }
    return {};
  }

  void shared(std::size_t i) {
    std::size_t first = i, storage = t_.all.size();
    while (first > 0 && !is_end_of_statement(first - 1)) --first;
    std::size_t end = i;
    for (; end < t_.all.size() && !t_.is(end, ";");
         end = t_.is(end, "(") || t_.is(end, "[") || t_.is(end, "{") ? t_.behind_bracket(end)
                                                                     : end + 1) {
      if (t_.is(end, "extern") || t_.is(end, "static")) storage = end;
    }
    for (std::size_t at = first; at < i; ++at) {
      if (t_.is(at, "extern") || t_.is(at, "static")) storage = at;
    }
    if (end >= t_.all.size()) refuse(i, "a __shared__ variable whose declaration nobody ends", ";");
    if (storage == t_.all.size()) return replace(i, "static thread_local");
    if (t_.is(storage, "static")) return replace(i, "thread_local");
    blank(i, i + 1);
    replace(storage, "extern __thread");
    int angles = 0;
    for (std::size_t at = i; at <= end;
         at = t_.is(at, "(") || t_.is(at, "[") ? t_.behind_bracket(at) : at + 1) {
      if (t_.is(at, "<")) ++angles;
      if (t_.is(at, ">")) --angles;
      if (at == end || (t_.is(at, ",") && angles == 0))
        insert_before(at, " __asm__(\"tessera_dynamic_shared\")");
    }
  }
  bool is_end_of_statement(std::size_t i) const {
    return t_.is(i, ";") || t_.is(i, "{") || t_.is(i, "}") || t_.is(i, ":") || t_.is(i, ")");
  }

  bool is_launch(std::size_t i) const {
    return is_adjacent(i, '<', 3) && i > 0 && !t_.is(i - 1, "operator") && !t_.is(i - 1, "<");
  }
  void launch(std::size_t open) {
    std::size_t close = open + 3;
    while (close < t_.all.size() && !(is_adjacent(close, '>', 3) && t_.is(close + 3, "("))) {
      if (t_.is(close, ";") || t_.is(close, "}")) close = t_.all.size();
      else
        close = t_.is(close, "(") || t_.is(close, "[") || t_.is(close, "{")
                    ? t_.behind_bracket(close)
                    : close + 1;
    }
    if (close >= t_.all.size())
      refuse(open, "a launch without its arguments", "kernel<<<grid, block>>>(arguments)");
    const std::size_t callee = callee_before(open);
    if (callee == open)
      refuse(open, "a launch without its kernel", "kernel<<<grid, block>>>(arguments)");
    const std::size_t end = t_.behind_bracket(close + 3);
    if (end > t_.all.size() || !t_.is(end - 1, ")"))
      refuse(close + 3, "a launch whose arguments nobody closes", ")");
    insert_before(callee, cat("(", kRoom, "configure(", place_text(callee), ", ",
                              text_between(open + 3, close), "), "));
    blank(open, close + 3);
    insert_behind(end - 1, ")");
  }
  /// The first token of the expression that ends before `end`: names, ::, ., ->, <...>, (...),
  /// [...].
  std::size_t callee_before(std::size_t end) const {
    std::size_t at = end;
    bool wants_operand = true;  // before it: a name, or what ends like one
    while (at > 0) {
      const std::size_t last = at - 1;
      if (wants_operand) {
        if (t_.is(last, ">")) at = open_angle(last);
        else if (t_.is(last, ")") || t_.is(last, "]")) at = open_bracket(last);
        else if (token(last).kind == Kind::name && !is_keyword(t_.spelling(last)))
          at = last, wants_operand = false;
        else break;
        if (t_.is(at, "(") && !(at > 0 && token(at - 1).kind == Kind::name)) wants_operand = false;
        continue;
      }
      if (t_.is(last, ":") && last > 0 && t_.is(last - 1, ":")) {
        at = last - 1;
        const bool has_scope = at > 0 && (t_.is(at - 1, ">") || (token(at - 1).kind == Kind::name &&
                                                                 !is_keyword(t_.spelling(at - 1))));
        if (!has_scope) break;
        wants_operand = true;
      } else if (t_.is(last, ".")) {
        at = last, wants_operand = true;
      } else if (t_.is(last, ">") && last > 0 && t_.is(last - 1, "-")) {
        at = last - 1, wants_operand = true;
      } else if (t_.is(last, "template")) {
        at = last;
      } else {
        break;
      }
    }
    return at;
  }
  static bool is_keyword(std::string_view word) {
    static constexpr std::string_view kWords[] = {"return", "else", "do",
                                                  "throw",  "case", "co_return"};
    return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
  }
  std::size_t open_angle(std::size_t close) const {
    int depth = 0;
    constexpr std::size_t kMost = 4096;
    for (std::size_t at = close + 1; at-- > 0 && close - at < kMost;) {
      if (t_.is(at, ")") || t_.is(at, "]") || t_.is(at, "}")) {
        at = open_bracket(at);
        continue;
      }
      if (t_.is(at, ">") && !(at > 0 && t_.is(at - 1, "-"))) ++depth;
      if (t_.is(at, "<") && --depth == 0) return at;
      if (t_.is(at, ";")) break;
    }
    refuse(close, "a launch whose kernel's template arguments nobody opens", "<");
  }
  std::size_t open_bracket(std::size_t close) const {
    if (t_.pairs[close] < t_.all.size()) return t_.pairs[close];
    refuse(close, "a bracket that nobody opens", "its pair");
  }

  void inline_ptx(std::size_t i) {
    if (t_.files[static_cast<std::size_t>(token(i).file)].is_system) return;
    std::size_t open = i + 1;
    while (t_.is(open, "volatile") || t_.is(open, "__volatile__")) ++open;
    if (!t_.is(open, "(") || i == 0) return;
    const std::size_t end = t_.behind_bracket(open);
    const bool is_statement =
        is_end_of_statement(i - 1) || t_.is(i - 1, "else") || t_.is(i - 1, "do");
    if (!is_statement || !t_.is(end, ";")) return;
    std::vector<std::size_t> colons;
    for (std::size_t at = open + 1; at + 1 < end;
         at = t_.is(at, "(") || t_.is(at, "[") ? t_.behind_bracket(at) : at + 1)
      if (t_.is(at, ":")) colons.push_back(at);
    colons.push_back(end - 1);
    std::string call = cat(kRoom, "ptx(", place_text(i), ", ", text_between(open + 1, colons[0]));
    for (std::size_t section = 1; section < colons.size() && section < 3; ++section)
      call +=
          operands(colons[section - 1] + 1, colons[section], section == 1 ? "ptx_out" : "ptx_in");
    blank(i, end);
    edits_.back().text = call + ")" + std::string(newlines(i, end), '\n');
  }
  std::size_t newlines(std::size_t first, std::size_t last) const {
    const auto text = text_between(first, last);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  /// `[name] "r"(x), "l"(p)` as further arguments.
  std::string operands(std::size_t first, std::size_t last, const char* wrapper) const {
    std::string out;
    for (std::size_t at = first; at < last;) {
      std::string name;
      if (t_.is(at, "[")) name = cat('"', t_.spelling(at + 1), "\", "), at = t_.behind_bracket(at);
      if (at + 1 >= last || token(at).kind != Kind::text || !t_.is(at + 1, "("))
        refuse(at, "an operand of inline PTX that cannot be read", "\"constraint\"(expression)");
      const std::size_t end = t_.behind_bracket(at + 1);
      out += cat(", ", kRoom, wrapper, "(", name, t_.spelling(at), ", ",
                 text_between(at + 2, end - 1), ")");
      at = t_.is(end, ",") ? end + 1 : end;
    }
    return out;
  }

  std::string apply() {
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::string out;
    out.reserve(t_.text.size() + edits_.size() * 128);
    std::size_t at = 0;
    for (std::size_t i = 0; i < edits_.size(); ++i) {
      const Edit& edit = edits_[i];
      if (edit.begin < at) continue;  // inside of what another edit has replaced
      out += t_.text.substr(at, edit.begin - at);
      out += edit.text;
      at = edit.end;
      const bool moves = edit.text.size() != edit.end - edit.begin;
      const bool is_last = i + 1 == edits_.size() || edits_[i + 1].begin != at;
      if (moves && is_last) at = put_back(out, edit.next, at);
    }
    return out += t_.text.substr(at);
  }
  /// The next token begins in its own line and column.
  std::size_t put_back(std::string& out, std::size_t next, std::size_t at) const {
    if (next >= t_.all.size()) return at;
    const Token& token = t_.all[next];
    const std::string_view between = t_.text.substr(at, token.begin - at);
    if (between.find('\n') != between.npos) {  // a line of its own, with its markers
      return at;
    }
    const File& file = t_.files[static_cast<std::size_t>(token.file)];
    out += cat("\n# ", token.line, " \"", file.name, "\"", file.is_system ? " 3" : "", "\n",
               std::string(static_cast<std::size_t>(token.column - 1), ' '));
    return token.begin;
  }

  const Tokens& t_;
  std::vector<Edit> edits_;
};

}  // namespace

std::string rewrite(std::string_view preprocessed) {
  const Tokens tokens = tokens_of(preprocessed);
  return Rewriter(tokens).run();
}

}  // namespace tessera::plain_cuda
