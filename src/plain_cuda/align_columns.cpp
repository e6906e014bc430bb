// Restores the columns of tokens: see align_columns.hpp.
#include "align_columns.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace tessera::plain_cuda {

namespace {

/// A user's file before preprocessing, by lines.
class Original {
 public:
  explicit Original(const std::string& text) : t_(tokens_of(text)) {
    for (std::size_t i = 0; i < t_.size(); ++i) {
      const auto line = static_cast<std::size_t>(t_[i].line);
      if (line >= firsts_.size()) firsts_.resize(line + 1, i);
    }
  }
  const Tokens& tokens() const { return t_; }
  /// The first token in this line or after it.
  std::size_t first(int line) const {
    const auto at = static_cast<std::size_t>(std::max(line, 0));
    return at < firsts_.size() ? firsts_[at] : t_.size();
  }

 private:
  Tokens t_;
  std::vector<std::size_t> firsts_;
};

/// Matches the tokens of one line of preprocessed text, [a, b), with those of the user's, [c, d).
class Line {
 public:
  Line(Tokens& tokens, const Tokens& original) : t_(tokens), s_(original) {}

  void align(std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    while (a < b && c < d && is_same(a, c)) put(a++, c++);
    while (a < b && c < d && is_same(b - 1, d - 1)) put(--b, --d);
    if (a == b || c == d) return put_run(a, b, c, d);
    constexpr std::size_t kMost = 250'000;
    if (b - a > kMost / (d - c)) return put_run(a, b, c, d);
    longest_common(a, b, c, d);
  }

 private:
  bool is_same(std::size_t i, std::size_t k) const { return t_.spelling(i) == s_.spelling(k); }
  void put(std::size_t i, std::size_t k) { t_.all[i].column = s_[k].column; }
  /// The tokens that a macro expands to get the column of its use.
  void put_run(std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    if (c == d) return put_after(a, b);
    for (; a < b; ++a) put(a, c);
  }
  /// Tokens without a counterpart in the line follow the token before them.
  void put_after(std::size_t a, std::size_t b) {
    for (; a < b; ++a) {
      if (a > 0 && t_[a - 1].line == t_[a].line) t_.all[a].column = t_[a - 1].column;
    }
  }
  void longest_common(std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    const std::size_t rows = b - a, columns = d - c;
    std::vector<int> common((rows + 1) * (columns + 1));  // of what follows
    const auto at = [&](std::size_t i, std::size_t k) -> int& {
      return common[i * (columns + 1) + k];
    };
    for (std::size_t i = rows; i-- > 0;) {
      for (std::size_t k = columns; k-- > 0;)
        at(i, k) =
            is_same(a + i, c + k) ? at(i + 1, k + 1) + 1 : std::max(at(i + 1, k), at(i, k + 1));
    }
    std::size_t run = 0, skipped = 0, i = 0, k = 0;
    while (i < rows && k < columns) {
      if (is_same(a + i, c + k)) {
        put_run(a + run, a + i, c + skipped, c + k);
        put(a + i++, c + k++);
        run = i, skipped = k;
      } else if (at(i + 1, k) >= at(i, k + 1)) {
        ++i;
      } else {
        ++k;
      }
    }
    put_run(a + run, b, c + skipped, d);
  }

  Tokens& t_;
  const Tokens& s_;
};

std::string unescaped(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 1 < name.size()) ++i;
    out += name[i];
  }
  return out;
}

}  // namespace

void align_columns(Tokens& tokens, const Originals& originals) {
  std::map<int, Original> read;
  for (std::size_t a = 0; a < tokens.size();) {
    const int file = tokens[a].file, line = tokens[a].line;
    std::size_t b = a + 1;
    while (b < tokens.size() && tokens[b].file == file && tokens[b].line == line) ++b;
    auto found = read.find(file);
    if (found == read.end() && !tokens.file(a).is_system) {
      const std::string* const text = originals(unescaped(tokens.file(a).name));
      static const std::string nothing;
      found = read.try_emplace(file, text == nullptr ? nothing : *text).first;
    }
    if (found != read.end()) {
      const Original& original = found->second;
      const std::size_t c = original.first(line), d = original.first(line + 1);
      if (c < d) Line(tokens, original.tokens()).align(a, b, c, d);
    }
    a = b;
  }
}

}  // namespace tessera::plain_cuda
