// Reads a formula and evaluates it as it reads; layouts in it are read by layout/expression.hpp.
//
//   formula  := C's binary operators * / % + - << >> & ^ | with C's precedence, on whole numbers
//   operand  := number | 'lane' | '-' operand | '(' formula ')' | layout '(' formula {',' formula}
//   ')' layout   := what is followed by a list of coordinates: row_major(8,8)(lane,0),
//   (8,8):(9,1)(lane)
#include "lane_formula.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "tessera/core/text.hpp"
#include "tessera/layout/expression.hpp"

namespace tessera::check {

namespace {

constexpr int kMaxNesting = 48;
constexpr index_t kMost = index_t{1} << 48;  // of any value, so that no operator overflows

struct Operator {
  std::string_view text;
  int precedence;
};
constexpr std::array<Operator, 10> kOperators = {{{"<<", 3},
                                                  {">>", 3},
                                                  {"*", 5},
                                                  {"/", 5},
                                                  {"%", 5},
                                                  {"+", 4},
                                                  {"-", 4},
                                                  {"&", 2},
                                                  {"^", 1},
                                                  {"|", 0}}};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Reader {
 public:
  Reader(std::string_view text, index_t lane) : text_(text), lane_(lane) {}

  index_t whole() {
    const index_t out = formula(0);
    if (peek() != '\0') fail(at_, "an operator is expected here: + - * / % << >> & ^ |");
    return out;
  }

 private:
  [[noreturn]] static void fail(std::size_t column, std::string problem) {
    throw ExpressionError(std::move(problem), column);
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  index_t formula(int least) {
    if (++nesting_ > kMaxNesting) fail(at_, "brackets nest too deeply here");
    index_t left = operand();
    for (;;) {
      peek();
      const auto rest = text_.substr(at_);
      const auto* found = std::find_if(kOperators.begin(), kOperators.end(), [&](const auto& each) {
        return rest.starts_with(each.text);
      });
      if (found == kOperators.end() || found->precedence < least) break;
      const std::size_t column = at_;
      at_ += found->text.size();
      left = applied(*found, left, formula(found->precedence + 1), column);
    }
    --nesting_;
    return left;
  }

  static index_t applied(const Operator& op, index_t a, index_t b, std::size_t column) {
    index_t out = 0;
    bool fits = true;
    switch (op.text.front()) {
      case '*': fits = !__builtin_mul_overflow(a, b, &out); break;
      case '/':
      case '%':
        if (b == 0) fail(column, cat("division by zero: ", a, " ", op.text, " 0"));
        out = op.text == "/" ? a / b : a % b;
        break;
      case '+': out = a + b; break;
      case '-': out = a - b; break;
      case '&': out = a & b; break;
      case '^': out = a ^ b; break;
      case '|': out = a | b; break;
      default:
        if (b < 0 || b > 47) fail(column, cat("a shift is 0 to 47, not ", b));
        if (op.text == "<<") fits = !__builtin_mul_overflow(a, index_t{1} << b, &out);
        else out = a >> b;
    }
    if (!fits || out > kMost || out < -kMost) fail(column, "the value here does not fit 48 bits");
    return out;
  }

  index_t operand() {
    const char c = peek();
    if (c == '-') {
      ++at_;
      return -operand();
    }
    if (const std::size_t end = layout_end(); end > at_) return called_layout(end);
    if (c == '(') {
      const std::size_t open = at_++;
      const index_t out = formula(0);
      if (peek() != ')') fail(open, "this bracket is never closed");
      ++at_;
      return out;
    }
    if (is_digit(c)) return number();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (name == "lane") return lane_;
    if (name.empty()) fail(start, "a number, 'lane' or a layout with its coordinates is expected");
    fail(start, cat("'", name, "' is unknown here; the number of the lane, 0 to 31, is 'lane'"));
  }

  index_t number() {
    const std::size_t start = at_;
    index_t value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_)
      if (value = value * 10 + (text_[at_] - '0'); value > kMost)
        fail(start, "this number does not fit 48 bits");
    if (at_ < text_.size() && is_name_char(text_[at_])) fail(at_, "a number ends before a letter");
    return value;
  }

  /// After the bracket that opens at `open`; npos if it is never closed.
  std::size_t after_bracket(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < text_.size(); ++i) {
      depth += text_[i] == '(' || text_[i] == '<' ? 1 : text_[i] == ')' || text_[i] == '>' ? -1 : 0;
      if (depth == 0) return i + 1;
    }
    return std::string_view::npos;
  }
  /// After a name with its bracket, a bracket or a number; `from` where there is none of them.
  std::size_t after_part(std::size_t from) const {
    std::size_t end = from;
    while (end < text_.size() && is_name_char(text_[end])) ++end;
    const bool has_name = end > from && !is_digit(text_[from]);
    if (has_name && text_.substr(from, end - from) == "lane") return from;
    if (end > from && !has_name) return end;
    if (end == text_.size() || text_[end] != '(') return from;
    const std::size_t after = after_bracket(end);
    return after == std::string_view::npos ? from : after;
  }
  /// The end of a layout that starts here: it is written with ':' or has a name, and coordinates
  /// follow.
  std::size_t layout_end() const {
    std::size_t end = after_part(at_);
    if (end == at_) return at_;
    bool is_layout = !is_digit(text_[at_]) && text_[at_] != '(';
    if (end < text_.size() && text_[end] == ':') {
      is_layout = true;
      if (const std::size_t stride = after_part(end + 1); stride > end + 1) end = stride;
    }
    return is_layout ? end : at_;
  }

  index_t called_layout(std::size_t end) {
    const std::size_t start = at_;
    const std::string layout(text_.substr(start, end - start));
    at_ = end;
    if (peek() != '(')
      fail(at_, cat("coordinates are expected after ", layout, ", as in (lane,0)"));
    std::string call = std::string(start, ' ') + layout + '(';  // with the columns of the whole
    ++at_;
    call += cat(formula(0));
    while (peek() == ',') {
      ++at_;
      call += cat(',', formula(0));
    }
    if (peek() != ')') fail(end, "this bracket is never closed");
    ++at_;
    const LayoutValue value = eval_expression(call + ")");
    if (const auto* index = std::get_if<index_t>(&value); index != nullptr && *index != dynamic)
      return *index;
    fail(start, cat(layout, " gives no number"));
  }

  std::string_view text_;
  index_t lane_;
  std::size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace

bool is_lane_formula(std::string_view text) {
  for (std::size_t at = text.find("lane"); at != std::string_view::npos;
       at = text.find("lane", at + 1)) {
    const bool starts = at == 0 || !is_name_char(text[at - 1]);
    if (starts && (at + 4 == text.size() || !is_name_char(text[at + 4]))) return true;
  }
  return false;
}

index_t lane_formula(std::string_view text, index_t lane) { return Reader(text, lane).whole(); }

}  // namespace tessera::check
