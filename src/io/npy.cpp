// Reads and writes the .npy header: the text of a Python dict. The parser accepts exactly what
// NumPy writes. Every number in it is checked against the size of the file before memory is
// allocated or mapped.
#include "npy.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "failure.hpp"
#include "npy_types.hpp"

namespace tessera::io {
namespace {

/// NumPy reserves space so that it can rewrite the growing extent in place.
constexpr std::size_t kGrowthDigits = 21;
constexpr std::size_t kAlignment = 64;

/// Parses the header's dict with a cursor. It accepts what NumPy writes or reads: string keys;
/// strings, booleans and tuples of integers as values.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  struct Fields {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<index_t>> shape;
  };

  Fields parse() {
    Fields fields;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") set(fields.descr, key, [&] { return descr(); });
      else if (key == "fortran_order") set(fields.fortran_order, key, [&] { return boolean(); });
      else if (key == "shape") set(fields.shape, key, [&] { return tuple(); });
      else {
        bad("the header has an unknown key", "descr, fortran_order and shape", in_quotes(key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size()) bad("text after the header's dict", "blanks", rest());
    const auto need = [&](bool present, const char* key) {
      if (!present) bad(cat("the header lacks the key '", key, "'"));
    };
    need(fields.descr.has_value(), "descr");
    need(fields.fortran_order.has_value(), "fortran_order");
    need(fields.shape.has_value(), "shape");
    return fields;
  }

 private:
  [[noreturn]] void bad(std::string_view problem, std::string expected = {},
                        std::string got = {}) const {
    bad_file(path_, problem, std::move(expected), std::move(got),
             "the file is damaged or was not written by NumPy");
  }

  template <class T, class Read>
  void set(std::optional<T>& field, const std::string& key, Read read) {
    if (field) bad(cat("the header has the key '", key, "' twice"));
    field = read();
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\f\r\n", at_), text_.size()); }

  /// Skips `word` if it comes next.
  bool accept(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool accept(char c) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }

  void expect(char c) {
    if (!accept(c)) bad("the header is not a Python dict", cat("'", c, "'"), rest());
  }

  std::string rest() const {
    const auto end = text_.find_last_not_of(" \n") + 1;  // trailing padding
    return at_ >= end ? "the end of the header" : in_quotes(text_.substr(at_, end - at_));
  }

  std::string string() {
    skip_blanks();
    const std::string_view two = text_.substr(at_, 2);
    if (two == "u'" || two == "u\"") ++at_;  // written by Python 2
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') bad("the header lacks a quoted string", {}, rest());
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) bad("the header has an unterminated string", {}, rest());
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }

  std::string descr() {
    skip_blanks();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) {
      bad_file(path_, "holds structured elements", "plain numbers: " + readable_descr(), rest(),
               "save one field: np.save(file, a['field'])");
    }
    return string();
  }

  bool boolean() {
    if (accept("True")) return true;
    if (accept("False")) return false;
    bad("fortran_order in the header", "True or False", rest());
  }

  std::vector<index_t> tuple() {
    std::vector<index_t> out;
    expect('(');
    while (!accept(')')) {
      out.push_back(extent());
      if (out.size() > 64) bad("the shape has more than 64 extents");
      if (accept(',')) continue;
      expect(')');
      if (out.size() == 1) bad("the shape is a number in parentheses", "a tuple such as (5,)");
      break;
    }
    return out;
  }

  /// An integer as Python writes it, or as NumPy 2 shows its own: np.int64(2).
  index_t extent() {
    skip_blanks();
    if (accept("np.")) {
      const std::size_t open = text_.find('(', at_);
      if (open == std::string_view::npos || !is_integer_name(text_.substr(at_, open - at_)))
        bad("the shape in the header", "an integer", rest());
      at_ = open + 1;
      const index_t value = integer();
      expect(')');
      return value;
    }
    return integer();
  }

  index_t integer() {
    skip_blanks();
    index_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument) bad("the shape in the header", "an integer", rest());
    constexpr std::ptrdiff_t most_shown = 60;
    const std::string shown(begin, static_cast<std::size_t>(std::min(end - begin, most_shown)));
    if (*begin == '-' && shown != "-0")
      bad("an extent in the shape is negative", "0 or more", shown);
    if (error != std::errc{}) bad("an extent in the shape is too large", "at most 2^63 - 1", shown);
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // written by Python 2
    return value;
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
};

/// Length of the header text and its offset.
struct Frame {
  std::size_t begin, length;
};

Frame parse_frame(std::string_view start, std::size_t total, const std::string& path) {
  const std::size_t magic = kNpyMagic.size();
  if (start.substr(0, magic) != kNpyMagic.substr(0, std::min(magic, start.size())) ||
      start.empty()) {
    const bool zip = start.substr(0, 2) == "PK";
    bad_file(path, "is not an .npy file", "the first bytes \\x93NUMPY",
             in_quotes(start.substr(0, magic)), zip ? "it looks like an .npz file: rename it" : "");
  }
  const auto too_short = [&](std::size_t need) {
    bad_file(path, "is truncated inside the header", cat("at least ", need, " bytes"),
             cat(total, " bytes"), "copy or download it again");
  };
  if (total < 10) too_short(10);
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(start[i]));
  };
  const auto major = byte(magic), minor = byte(magic + 1);
  if (major < 1 || major > 3 || minor != 0) {
    bad_file(path, "has an unknown .npy version", "1.0, 2.0 or 3.0", cat(major, ".", minor));
  }
  const std::size_t begin = major == 1 ? 10 : 12;
  if (total < begin) too_short(begin);
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > total - begin) {
    bad_file(path, "the header is longer than the file", cat("at most ", total - begin, " bytes"),
             cat(length, " bytes"), "the file is truncated or damaged");
  }
  if (length > kMaxNpyHeader) {
    bad_file(path, "the header is too long", cat("at most ", kMaxNpyHeader, " bytes"),
             cat(length, " bytes"));
  }
  return {begin, length};
}

}  // namespace

NpyHeader parse_npy_header(std::string_view start, std::size_t total, const std::string& path,
                           std::optional<DType> untyped) {
  const Frame frame = parse_frame(start, total, path);
  const auto fields = HeaderText(start.substr(frame.begin, frame.length), path).parse();
  const NpyElement element = parse_descr(*fields.descr, untyped, path);
  NpyHeader header;
  header.dtype = element.dtype;
  header.swapped = element.swapped;
  header.order = *fields.fortran_order ? Order::fortran : Order::c;
  header.shape = *fields.shape;
  header.data_offset = frame.begin + frame.length;
  const int size = size_of(header.dtype);
  index_t count = 0;
  try {
    count = checked_count(header.shape, size, "the header");
  } catch (const Error& error) {
    bad_file(path, error.problem(), error.expected(), error.got(), "the file is damaged");
  }
  header.bytes = count * size;
  const auto have = static_cast<index_t>(total - header.data_offset);
  if (have < header.bytes) {
    bad_file(
        path, "is truncated",
        cat(count, " elements (", header.bytes, " bytes) for shape ", shape_text(header.shape)),
        cat("only ", have / size, " elements (", have, " bytes)"), "copy or download it again");
  }
  if (have > header.bytes) {
    bad_file(path, "has bytes after the last element",
             cat(header.bytes, " bytes for shape ", shape_text(header.shape), " of ",
                 name(header.dtype)),
             cat(have, " bytes"), "save each array to a file of its own");
  }
  return header;
}

std::string npy_header(DType dtype, const std::vector<index_t>& shape, Order order) {
  return npy_header(std::string_view(descr_of(dtype)), shape, order);
}

std::string npy_header(std::string_view descr, const std::vector<index_t>& shape, Order order) {
  std::string text =
      cat("{'descr': '", descr, "', 'fortran_order': ", order == Order::fortran ? "True" : "False",
          ", 'shape': ", shape_text(shape), ", }");
  if (!shape.empty()) {
    const index_t growing = order == Order::fortran ? shape.back() : shape.front();
    text.append(kGrowthDigits - std::to_string(growing).size(), ' ');
  }
  const std::size_t before = kNpyMagic.size() + 4;
  const std::size_t total = (before + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.append(total - before - text.size() - 1, ' ');
  text += '\n';
  std::string out(kNpyMagic);
  out +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return out + text;
}

void swap_bytes(void* data, index_t count, int element_bytes) {
  const auto swap = [&](auto sample) {
    using Word = decltype(sample);
    auto* words = static_cast<std::byte*>(data);
    for (index_t i = 0; i < count; ++i, words += sizeof(Word)) {
      Word word;
      std::memcpy(&word, words, sizeof word);
      if constexpr (sizeof(Word) == 2) word = __builtin_bswap16(word);
      else if constexpr (sizeof(Word) == 4) word = __builtin_bswap32(word);
      else word = __builtin_bswap64(word);
      std::memcpy(words, &word, sizeof word);
    }
  };
  if (element_bytes == 2) swap(std::uint16_t{});
  else if (element_bytes == 4) swap(std::uint32_t{});
  else if (element_bytes == 8) swap(std::uint64_t{});
}

Array adopt(DType dtype, std::vector<index_t> shape, Order order, const std::byte* data,
            std::shared_ptr<void> owner) {
  const int size = size_of(dtype);
  const index_t count = checked_count(shape, size, "array");
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(size) == 0;
  // A C++ bool must be 0 or 1; NumPy takes any other byte as true.
  const bool legal = dtype != DType::boolean || std::all_of(data, data + count, [](std::byte b) {
                       return std::to_integer<int>(b) <= 1;
                     });
  if (aligned && legal) {
    auto strides = contiguous_strides(shape, order);
    return Array::read_only(dtype, std::move(shape), std::move(strides), data, std::move(owner));
  }
  Array copy = make_array(dtype, std::move(shape), order);
  auto* to = static_cast<std::byte*>(copy.writable());
  std::copy(data, data + count * size, to);
  if (!legal)
    std::transform(to, to + count, to, [](std::byte b) { return std::byte{b != std::byte{0}}; });
  return copy;
}

Array read_npy(const Input& input, std::optional<DType> untyped) {
  const auto start = input.text().substr(0, kMaxNpyHeader + 12);
  NpyHeader header = parse_npy_header(start, input.size, input.path, untyped);
  const std::byte* data = input.data + header.data_offset;
  if (!header.swapped) {
    return adopt(header.dtype, std::move(header.shape), header.order, data, input.owner);
  }
  Array copy = make_array(header.dtype, header.shape, header.order);
  std::copy(data, data + header.bytes, static_cast<std::byte*>(copy.writable()));
  swap_bytes(copy.writable(), copy.count(), size_of(header.dtype));
  return copy;
}

Order natural_order(const Array& array) {
  return !array.is_contiguous(Order::c) && array.is_contiguous(Order::fortran) ? Order::fortran
                                                                               : Order::c;
}

}  // namespace tessera::io
