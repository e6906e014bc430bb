// Matrix Market exchange format, both kinds: `array` (every element, column by column) and
// `coordinate` (row, column, value), which becomes a dense matrix. One pass over the bytes; parsing
// ignores the locale; every error names the line.
// The format: R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market Exchange Formats",
// NISTIR 5935, 1996.
// Over 400 lines: reader and writer of one format share its grammar.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "failure.hpp"
#include "formats.hpp"
#include "tessera/core/parallel.hpp"

namespace tessera::io {
namespace {

enum class Kind { array, coordinate };
enum class Field { real, integer, unsigned_integer, pattern };
enum class Symmetry { general, symmetric, skew };

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// The file line by line, and the current line split at blanks.
class Lines {
 public:
  Lines(std::string_view text, const std::string& path)
      : at_(text.data()), end_(text.data() + text.size()), path_(path) {}

  index_t number() const { return number_; }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }

  [[noreturn]] void bad(std::string_view problem, std::string expected = {}, std::string got = {},
                        std::string advice = {}) const {
    bad_file(path_, cat("line ", number_, ": ", problem), std::move(expected), std::move(got),
             std::move(advice));
  }

  /// Advances to the next line; false at the end of the file.
  bool next_line() {
    if (at_ == end_) return false;
    const auto* newline =
        static_cast<const char*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)));
    word_ = at_;
    line_end_ = newline == nullptr ? end_ : newline;
    at_ = newline == nullptr ? end_ : newline + 1;
    ++number_;
    return true;
  }

  /// Advances to the next line that has words and is not a comment.
  bool next_entry() {
    while (next_line()) {
      skip_blanks();
      if (word_ != line_end_ && *word_ != '%') return true;
    }
    return false;
  }

  /// The next token of this line; empty at its end.
  std::string_view word() {
    skip_blanks();
    const char* begin = word_;
    while (word_ != line_end_ && !is_blank(*word_)) ++word_;
    return {begin, static_cast<std::size_t>(word_ - begin)};
  }

  void end_of_entry(std::string_view what) {
    const auto extra = word();
    if (!extra.empty()) bad(cat("more on the line than ", what), {}, in_quotes(extra));
  }

 private:
  void skip_blanks() {
    while (word_ != line_end_ && is_blank(*word_)) ++word_;
  }

  const char* at_;
  const char* end_;
  const char* word_ = nullptr;
  const char* line_end_ = nullptr;
  index_t number_ = 0;
  const std::string& path_;
};

std::string_view without_plus(std::string_view word) {
  return word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+' ? word.substr(1)
                                                                               : word;
}

template <class T>
T parse_integer(Lines& lines, std::string_view word, std::string_view what) {
  T value{};
  const auto digits = without_plus(word);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    lines.bad(cat(what, " does not fit 64 bits"), {}, in_quotes(word));
  }
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    lines.bad(cat(what, word.empty() ? " is missing" : " is not an integer"), "an integer",
              word.empty() ? "the end of the line" : in_quotes(word));
  }
  return value;
}

/// A value beyond the range of f64: underflow gives 0, overflow is an error.
double out_of_range(Lines& lines, std::string_view word) {
  const auto exponent = word.find_first_of("eE");
  const auto digit = word.find_first_of("123456789");
  const bool small = exponent != std::string_view::npos
                         ? word.substr(exponent + 1).substr(0, 1) == "-"
                         : digit != std::string_view::npos && digit > word.find('.');
  if (!small) lines.bad("a value is beyond the range of f64", "at most 1.8e308", in_quotes(word));
  return word[0] == '-' ? -0.0 : 0.0;
}

double parse_real(Lines& lines, std::string_view word) {
  double value = 0;
  const auto digits = without_plus(word);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = end == digits.data() + digits.size();
  if (error == std::errc::result_out_of_range && whole) return out_of_range(lines, digits);
  if (error != std::errc{} || !whole) {
    lines.bad(word.empty() ? "the value is missing" : "the value is not a number",
              "a number such as -1.5e3", word.empty() ? "the end of the line" : in_quotes(word),
              word.find(',') != std::string_view::npos ? "write decimals with a point" : "");
  }
  return value;
}

struct Banner {
  Kind kind = Kind::array;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
};

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// Finds `word` among the names of values; the error lists the allowed names.
template <class T, std::size_t N>
T choose(Lines& lines, std::string_view what, const std::string& word,
         const std::pair<std::string_view, T> (&known)[N]) {
  std::string names;
  for (const auto& [name, value] : known) {
    if (name == word) return value;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  lines.bad(cat(what, " in the banner is unknown"), names,
            word.empty() ? "nothing" : in_quotes(word));
}

Banner parse_banner(Lines& lines) {
  lines.next_line();
  const std::string first = lower(lines.word());
  if (first != "%%matrixmarket") {
    lines.bad("no Matrix Market banner", "%%MatrixMarket matrix array real general (for example)",
              in_quotes(first));
  }
  const std::string object = lower(lines.word());
  if (object != "matrix") {
    lines.bad("the object in the banner is not a matrix", "matrix", in_quotes(object));
  }
  Banner banner;
  banner.kind = choose<Kind>(lines, "the format", lower(lines.word()),
                             {{"array", Kind::array}, {"coordinate", Kind::coordinate}});
  const std::string field = lower(lines.word());
  if (field == "complex") {
    lines.bad("complex values are not supported", "real, integer or pattern", {},
              "save the real and the imaginary part as two files");
  }
  banner.field = choose<Field>(lines, "the field", field,
                               {{"real", Field::real},
                                {"double", Field::real},
                                {"integer", Field::integer},
                                {"unsigned-integer", Field::unsigned_integer},
                                {"pattern", Field::pattern}});
  const std::string symmetry = lower(lines.word());
  if (symmetry == "hermitian") {
    lines.bad("hermitian matrices are complex and not supported",
              "general, symmetric or skew-symmetric");
  }
  banner.symmetry = choose<Symmetry>(lines, "the symmetry", symmetry,
                                     {{"general", Symmetry::general},
                                      {"symmetric", Symmetry::symmetric},
                                      {"skew-symmetric", Symmetry::skew}});
  lines.end_of_entry("the banner");
  if (banner.field == Field::pattern && banner.kind == Kind::array) {
    lines.bad("a pattern has no values, so it cannot be an array", "coordinate");
  }
  if (banner.field == Field::pattern && banner.symmetry == Symmetry::skew) {
    lines.bad("a pattern cannot be skew-symmetric", "general or symmetric");
  }
  return banner;
}

struct Sizes {
  index_t rows = 0, cols = 0;
  index_t entries = 0;  ///< number of values that follow
};

Sizes parse_sizes(Lines& lines, const Banner& banner) {
  const bool coordinate = banner.kind == Kind::coordinate;
  const char* expected = coordinate ? "rows, columns and entries" : "rows and columns";
  if (!lines.next_entry()) lines.bad("the file ends before the line of sizes", expected);
  Sizes sizes;
  const auto natural = [&](std::string_view what) {
    const auto value = parse_integer<index_t>(lines, lines.word(), what);
    if (value < 0) lines.bad(cat(what, " is negative"), "0 or more", cat(value));
    return value;
  };
  sizes.rows = natural("the number of rows");
  sizes.cols = natural("the number of columns");
  if (coordinate) sizes.entries = natural("the number of entries");
  lines.end_of_entry(expected);
  if (banner.symmetry != Symmetry::general && sizes.rows != sizes.cols) {
    lines.bad("a symmetric matrix must be square", {}, cat(sizes.rows, " x ", sizes.cols));
  }
  index_t all = 0;
  if (__builtin_mul_overflow(sizes.rows, sizes.cols, &all) || all > INT64_MAX / 8) {
    lines.bad("the matrix is too large", "at most 2^63 bytes", cat(sizes.rows, " x ", sizes.cols));
  }
  if (!coordinate) {
    const index_t n = sizes.rows;
    // n (n - 1) and n (n + 1) stay below 2^62 after the check above.
    sizes.entries = banner.symmetry == Symmetry::general     ? all
                    : banner.symmetry == Symmetry::symmetric ? n * (n + 1) / 2
                                                             : n * (n - 1) / 2;
  }
  // Each number takes at least a digit and, except for the last, a separator.
  const index_t numbers = !coordinate ? 1 : banner.field == Field::pattern ? 2 : 3;
  const auto room = static_cast<index_t>((lines.remaining() + 1) / 2) / numbers;
  if (sizes.entries > room) {
    lines.bad("more entries declared than the file can hold", cat("at most ", room),
              cat(sizes.entries), "the file is truncated or the line of sizes is wrong");
  }
  return sizes;
}

template <class T>
T parse_value(Lines& lines) {
  const auto word = lines.word();
  if constexpr (std::is_same_v<T, double>) return parse_real(lines, word);
  else return parse_integer<T>(lines, word, "the value");
}

template <class T>
T negated(T value) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(0 - static_cast<std::uint64_t>(value));
  else return -value;
}

template <class T>
void add(T& sum, T value) {
  if constexpr (std::is_integral_v<T>) {
    sum = static_cast<T>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(value));
  } else {
    sum += value;
  }
}

void need_entry(Lines& lines, index_t done, index_t all) {
  if (lines.next_entry()) return;
  lines.bad("the file ends too early", cat(all, " entries"), cat(done), "the file is truncated");
}

void need_end(Lines& lines, index_t all) {
  if (lines.next_entry()) lines.bad("more entries than declared", cat(all));
}

/// Reads column by column: of a symmetric matrix the lower triangle, of a skew-symmetric one the
/// lower triangle without the diagonal.
template <class T>
void read_array_values(Lines& lines, const Banner& banner, const Sizes& sizes, T* data) {
  if (sizes.entries == 0) return;  // a matrix without rows may have 2^63 columns
  const index_t rows = sizes.rows;
  index_t done = 0;
  for (index_t j = 0; j < sizes.cols; ++j) {
    const index_t first = banner.symmetry == Symmetry::general     ? 0
                          : banner.symmetry == Symmetry::symmetric ? j
                                                                   : j + 1;
    for (index_t i = first; i < rows; ++i, ++done) {
      need_entry(lines, done, sizes.entries);
      const T value = parse_value<T>(lines);
      lines.end_of_entry("one value");
      data[i + j * rows] = value;
      if (banner.symmetry == Symmetry::symmetric) data[j + i * rows] = value;
      if (banner.symmetry == Symmetry::skew) data[j + i * rows] = negated(value);
    }
  }
}

/// Entries come in any order; several entries at one position are added in file order.
template <class T>
void read_coordinates(Lines& lines, const Banner& banner, const Sizes& sizes, T* data) {
  const auto position = [&](std::string_view what, index_t extent) {
    const auto value = parse_integer<index_t>(lines, lines.word(), what);
    if (value < 1 || value > extent) {
      lines.bad(cat(what, " is outside the matrix"), cat("1 to ", extent), cat(value),
                value == 0 ? "positions count from 1" : "");
    }
    return value - 1;
  };
  for (index_t done = 0; done < sizes.entries; ++done) {
    need_entry(lines, done, sizes.entries);
    const index_t i = position("the row", sizes.rows);
    const index_t j = position("the column", sizes.cols);
    T value = 1;
    if (banner.field != Field::pattern) value = parse_value<T>(lines);
    lines.end_of_entry("one entry");
    add(data[i * sizes.cols + j], value);
    if (banner.symmetry == Symmetry::general) continue;
    if (i != j) {
      const bool skew = banner.symmetry == Symmetry::skew;
      add(data[j * sizes.cols + i], skew ? negated(value) : value);
    } else if (banner.symmetry == Symmetry::skew && value != 0) {
      lines.bad("the diagonal of a skew-symmetric matrix must be 0", "0");
    }
  }
}

DType dtype_of_field(Field field) {
  return field == Field::integer            ? DType::i64
         : field == Field::unsigned_integer ? DType::u64
                                            : DType::f64;
}

}  // namespace

Array read_matrix_market(const Input& input) {
  Lines lines(input.text(), input.path);
  const Banner banner = parse_banner(lines);
  const Sizes sizes = parse_sizes(lines, banner);
  const bool coordinate = banner.kind == Kind::coordinate;
  const Array out = make_array(dtype_of_field(banner.field), {sizes.rows, sizes.cols},
                               coordinate ? Order::c : Order::fortran);
  const auto read = [&](auto* data) {
    if (coordinate) read_coordinates(lines, banner, sizes, data);
    else read_array_values(lines, banner, sizes, data);
  };
  switch (banner.field) {
    case Field::integer: read(static_cast<index_t*>(out.writable())); break;
    case Field::unsigned_integer: read(static_cast<std::uint64_t*>(out.writable())); break;
    default: read(static_cast<double*>(out.writable()));
  }
  need_end(lines, sizes.entries);
  return out;
}

namespace {

constexpr index_t kPiece = 1 << 15;   ///< number of values that one thread formats at a time
constexpr std::size_t kLongest = 26;  ///< room for "-1.7976931348623157e+308\n"
constexpr index_t kPiecesAtOnce = 64;

/// Formats elements [begin, end), counted down the columns.
template <class T>
std::string text_of_values(const Array& array, index_t begin, index_t end) {
  // Integers print as integers; every floating-point type prints exactly, as f64.
  using Shown = std::conditional_t<std::is_integral_v<T>,
                                   std::conditional_t<std::is_same_v<T, bool>, int, T>, double>;
  std::string text;
  text.resize(static_cast<std::size_t>(end - begin) * kLongest);
  char* at = text.data();
  char* const limit = at + text.size();
  index_t i = begin % array.rows(), j = begin / array.rows();
  for (index_t n = begin; n < end; ++n) {
    const T value =
        static_cast<const T*>(array.data())[i * array.row_stride() + j * array.col_stride()];
    at = std::to_chars(at, limit, static_cast<Shown>(value)).ptr;
    *at++ = '\n';
    if (++i == array.rows()) {
      i = 0;
      ++j;
    }
  }
  text.resize(static_cast<std::size_t>(at - text.data()));
  return text;
}

std::string text_of_values(const Array& array, index_t begin, index_t end) {
  return visit_dtype(array.dtype(), [&](auto tag) {
    return text_of_values<typename decltype(tag)::type>(array, begin, end);
  });
}

}  // namespace

void write_matrix_market(AtomicFile& file, const Array& array) {
  array.require_matrix(cat("the array for ", file.path()));
  const bool real = is_floating(array.dtype());
  file.write(cat("%%MatrixMarket matrix array ",
                 real                          ? "real"
                 : array.dtype() == DType::u64 ? "unsigned-integer"
                                               : "integer",
                 " general\n", array.rows(), " ", array.cols(), "\n"));
  const index_t count = array.count();
  const index_t stride = kPiece * kPiecesAtOnce;
  for (index_t start = 0; start < count; start += stride) {
    const index_t pieces = (std::min(stride, count - start) + kPiece - 1) / kPiece;
    std::vector<std::string> texts(static_cast<std::size_t>(pieces));
    parallel_for(pieces, 0, [&](index_t piece) {
      const index_t begin = start + piece * kPiece;
      texts[static_cast<std::size_t>(piece)] =
          text_of_values(array, begin, std::min(begin + kPiece, count));
    });
    for (const std::string& text : texts) file.write(text);
  }
}

}  // namespace tessera::io
