// Splits a source text into words: see cuda_text.hpp.
#include "cuda_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tessera::process {

namespace {

constexpr std::array<std::string_view, 16> kWords = {
    "__global__",        "__device__",    "__shared__", "__constant__",
    "__launch_bounds__", "threadIdx",     "blockIdx",   "blockDim",
    "gridDim",           "__syncthreads", "__syncwarp", "__shfl_down_sync",
    "__shfl_sync",       "cudaMalloc",    "cudaMemcpy", "cudaDeviceSynchronize"};

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Reads a text word by word, skipping comments and literals.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  /// The next word, or "<<<" of a launch; empty at the end.
  std::string_view next() {
    while (at_ < text_.size()) {
      if (skip_comment() || skip_literal()) continue;
      if (is_of_word(text_[at_])) return word();
      if (is_launch()) return text_.substr(std::exchange(at_, at_ + 3), 3);
      line_ += text_[at_++] == '\n' ? 1 : 0;
    }
    return {};
  }
  int line() const { return line_; }

 private:
  bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }

  void skip_to(std::size_t end) {
    end = std::min(end, text_.size());
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }
  /// Skips past the next `closing`.
  void skip_past(std::string_view closing, std::size_t from) {
    const auto found = text_.find(closing, from);
    skip_to(found == std::string_view::npos ? text_.size() : found + closing.size());
  }

  bool skip_comment() {
    if (starts("//")) skip_to(std::min(text_.find('\n', at_), text_.size()));
    else if (starts("/*")) skip_past("*/", at_ + 2);
    else return false;
    return true;
  }

  bool skip_literal() {
    const char quote = text_[at_];
    if (quote != '"' && quote != '\'') return false;
    if (quote == '"' && at_ > 0 && text_[at_ - 1] == 'R') {
      const auto open = std::min(text_.find('(', at_), text_.size());
      const std::string closing = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
      skip_past(closing, open);
      return true;
    }
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n')
      end += text_[end] == '\\' ? 2 : 1;
    skip_to(end + 1);
    return true;
  }

  std::string_view word() {
    const std::size_t begin = at_;
    // 1'000 is one word, and its quotes begin no literal.
    while (at_ < text_.size() &&
           (is_of_word(text_[at_]) ||
            (text_[at_] == '\'' && std::isdigit(static_cast<unsigned char>(text_[begin])) != 0)))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// kernel<<<grid, block>>>(...), but neither operator<<<T> nor a merge conflict marker.
  bool is_launch() const {
    return starts("<<<") && !starts("<<<<") && (at_ == 0 || text_[at_ - 1] != '<') &&
           !text_.substr(0, at_).ends_with("operator") &&
           text_.find(">>>", at_) != std::string_view::npos;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::optional<CudaWord> cuda_word(std::string_view text) {
  Reader reader(text);
  for (auto word = reader.next(); !word.empty(); word = reader.next()) {
    if (word == "<<<") return CudaWord{"<<<...>>>", reader.line()};
    if (std::find(kWords.begin(), kWords.end(), word) != kWords.end())
      return CudaWord{std::string(word), reader.line()};
  }
  return {};
}

std::optional<CudaWord> plain_cuda(std::string_view text) {
  if (text.find("#include \"tessera/") != std::string_view::npos ||
      text.find("#include <tessera/") != std::string_view::npos)
    return {};
  Reader reader(text);
  for (auto word = reader.next(); !word.empty(); word = reader.next())
    if (word == "check_kernel") return {};
  return cuda_word(text);
}

}  // namespace tessera::process
