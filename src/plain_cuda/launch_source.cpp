// Generates a program for a launch: see launch_source.hpp.
#include "launch_source.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <vector>

#include "lexer.hpp"
#include "tessera/core/dtype.hpp"

namespace tessera::plain_cuda {

namespace {

constexpr std::array kStarts = {"random", "zeros", "ones", "count", "nothing"};
constexpr const char* kValues = "\"values\"";
constexpr const char* kIndexed = ", [=]([[maybe_unused]] long long i) { return ";
constexpr const char* kForm = "kernel<<<grid, block>>>(A: f32[m,k], C: f32[m,n], n: n)";

/// CUDA's name of an element type.
std::string cuda_name(DType type) {
  switch (type) {
    case DType::f16: return "__half";
    case DType::bf16: return "__nv_bfloat16";
    case DType::f8e4m3: return "__nv_fp8_e4m3";
    case DType::f8e5m2: return "__nv_fp8_e5m2";
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::boolean: return "bool";
    case DType::i8: return "signed char";
    case DType::u8: return "unsigned char";
    case DType::i16: return "short";
    case DType::u16: return "unsigned short";
    case DType::i32: return "int";
    case DType::u32: return "unsigned int";
    case DType::i64: return "long long";
    case DType::u64: return "unsigned long long";
  }
  return {};
}

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

class LaunchReader {
 public:
  explicit LaunchReader(std::string_view words) : t_(tokens_of(words, "--launch")) {
    pair_brackets(t_);
    launch_ = 0;
    while (launch_ < t_.size() &&
           !(t_.is_run(launch_, '<', 3) && t_.pairs[launch_] != Tokens::kNone))
      ++launch_;
    if (launch_ == 0 || launch_ == t_.size()) refuse(0, "no launch is found");
    configuration_end_ = t_.pairs[launch_];
    open_ = configuration_end_ + 3;
    if (!t_.is(open_, "(")) refuse(open_, "the launch has no arguments");
    close_ = t_.pairs[open_];
    const std::size_t rest = close_ + (t_.is(close_ + 1, ";") ? 2 : 1);
    if (rest < t_.size()) refuse(rest, "text follows the launch");
  }

  std::string program(const std::filesystem::path& file) {
    std::string arrays, arguments;
    for_each_argument([&](std::size_t at, std::size_t end) {
      arguments += (arguments.empty() ? "" : ", ") + argument(at, end, arrays);
    });
    const std::string configuration = code(launch_ + 3, configuration_end_);
    const bool is_sized = !extents_used().empty();
    const bool is_hidden = is_sized && (t_.is(0, "m") || t_.is(0, "n") || t_.is(0, "k"));
    return cat(
        // First: the file's macros are not for it.
        "#include \"parts/requested_launch.h\"\n#define main tessera_main_of_file\n#pragma GCC "
        "diagnostic push\n"
        "#pragma GCC diagnostic ignored \"-Wreturn-type\"\n#include ",
        quoted_text(file.string()), "\n#pragma GCC diagnostic pop\n#undef main\n",
        without_macros(is_sized, arrays),
        "#line 1 \"--launch\"\nextern \"C\" const char tessera_requested_launch[] = ",
        quoted_text(t_.text), ";\nint main() {\n", is_sized ? extents() : std::string(),
        "for (int round = 0; ::tessera::plain_cuda::begin_requested_launch(round); ++round) { ",
        arrays, "if (!::tessera::plain_cuda::is_empty_launch(", configuration, ")) ",
        is_hidden ? "::" : "", code(0, launch_), "<<<", configuration, ">>>(", arguments,
        "); ::tessera::plain_cuda::end_requested_launch(); }\n}\n");
  }

  LaunchParts parts() const {
    LaunchParts out{.kernel = text(0, launch_),
                    .name = {},
                    .kernel_end = static_cast<long>(t_[launch_ - 1].end),
                    .arguments = {}};
    std::size_t at = 0;
    while (at + 1 < launch_ && (t_.is(at, ":") || t_.is(at + 1, ":"))) ++at;
    out.name = t_.spelling(at);
    for_each_argument([&](std::size_t begin, std::size_t end) {
      auto& next = out.arguments.emplace_back();
      next.first_column = static_cast<long>(t_[begin].begin) + 1;
      next.last_column = static_cast<long>(t_[end - 1].end);
      if (has_label(begin)) {
        next.label = t_.spelling(begin);
        begin += 2;
      }
      next.text = text(begin, end);
      next.is_array = is_array(t_.is(begin, "const") ? begin + 1 : begin);
    });
    return out;
  }

  std::string extents_used() const {
    std::string out;
    for (const char* which : {"m", "n", "k"}) {
      for (std::size_t i = launch_ + 3; i < close_; ++i) {
        const bool is_label = t_.is(i + 1, ":") && !t_.is(i + 2, ":");
        if (is_label || !t_.is(i, which)) continue;
        out += which;
        break;
      }
    }
    return out;
  }

 private:
  /// Calls body(begin, end) for each argument.
  template <class Body>
  void for_each_argument(const Body& body) const {
    for (std::size_t at = open_ + 1; at < close_;) {
      std::size_t end = at;
      while (end < close_ && !t_.is(end, ",")) end = t_.after(end);
      if (end == at) refuse(at, "an argument is missing");
      body(at, end);
      at = end + 1;
    }
  }
  bool has_label(std::size_t at) const {
    return t_.is_kind(at, Token::Kind::name) && t_.is(at + 1, ":") && !t_.is(at + 2, ":");
  }
  bool is_array(std::size_t at) const {
    return t_.is_kind(at, Token::Kind::name) && t_.is(at + 1, "[");
  }
  /// The names that the launch defines may be macros of the file.
  static std::string without_macros(bool is_sized, std::string_view arrays) {
    return cat(is_sized ? "#undef m\n#undef n\n#undef k\n" : "",
               arrays.find(kIndexed) != arrays.npos ? "#undef i\n" : "");
  }
  static std::string extents() {
    std::string out;
    for (const char which : {'m', 'n', 'k'})
      out += cat("[[maybe_unused]] const int ", which, " = ::tessera::plain_cuda::asked_extent('",
                 which, "');\n");
    return out;
  }
  std::string text(std::size_t begin, std::size_t end) const {
    return begin == end
               ? std::string()
               : std::string(t_.text.substr(t_[begin].begin, t_[end - 1].end - t_[begin].begin));
  }
  /// The same as code, at its column: the compiler's messages name it.
  std::string code(std::size_t begin, std::size_t end) const {
    return begin == end ? std::string() : placed(begin, text(begin, end));
  }
  std::string placed(std::size_t at, const std::string& text) const {
    return cat("\n#line 1 \"--launch\"\n", std::string(t_[at].begin, ' '), text);
  }

  /// The argument of the kernel; an array is declared before.
  std::string argument(std::size_t begin, std::size_t end, std::string& arrays) {
    std::string name = cat("argument ", ++count_);
    if (has_label(begin)) {
      name = t_.spelling(begin);
      begin += 2;
    }
    if (begin >= end) refuse(begin, cat(name, " has no value"));
    if (begin + 1 == end && arrays_.contains(t_.spelling(begin)))
      return placed(begin, arrays_.find(t_.spelling(begin))->second);
    const bool is_const = t_.is(begin, "const");
    if (is_const) ++begin;
    if (!is_array(begin)) return code(begin - (is_const ? 1 : 0), end);
    const std::size_t close = t_.pairs[begin + 1];
    const std::string start = close + 1 < end ? start_of(name, close + 1, end) : "nullptr";
    const DType type = parse_dtype(t_.spelling(begin));
    const std::string variable = cat("tessera_argument", count_);
    std::string extents;
    for (std::size_t at = begin + 2; at < close;) {
      std::size_t next = at;
      while (next < close && !t_.is(next, ",")) next = t_.after(next);
      if (next == at) refuse(at, cat("an extent of ", name, " is missing"));
      extents += cat(extents.empty() ? "" : ", ", "static_cast<long long>(", code(at, next), ")");
      at = next + 1;
    }
    if (extents.empty()) refuse(close, cat(name, " has no extents"));
    arrays_[name] = variable;
    arrays +=
        cat("::tessera::plain_cuda::RequestedArrayOf<", cuda_name(type), "> ", variable, "(",
            quoted_text(name), ", \"", tessera::name(type), "\", {", extents, "}, ", start,
            is_const ? ", true" : ", false",
            start.ends_with(kValues) ? cat(kIndexed, code(close + 2, end), "; }") : std::string(),
            "); ");
    return placed(begin, variable);
  }

  /// As a C++ literal: a keyword, "file:" and the name of a file, or that an expression of i gives
  /// each element its value.
  std::string start_of(const std::string& name, std::size_t begin, std::size_t end) const {
    if (t_.is(begin, "=") && begin + 2 == end) {
      const std::string_view start = t_.spelling(begin + 1);
      if (start.ends_with('"')) return cat("\"file:\" ", start);
      if (std::find(kStarts.begin(), kStarts.end(), start) != kStarts.end())
        return quoted_text(start);
      if (t_.is_kind(begin + 1, Token::Kind::number) || is_variable(start)) return kValues;
    }
    if (t_.is(begin, "=") && begin + 2 < end) return kValues;
    refuse(
        begin, cat(name, " cannot start as '", text(begin, end), "'"),
        "= random, = zeros, = ones, = count, = nothing, = \"FILE.npy\" or an expression of i, the "
        "number of the element, after the extents");
  }

  static bool is_variable(std::string_view word) {
    return word == "i" || word == "m" || word == "n" || word == "k";
  }

  [[noreturn]] void refuse(std::size_t at, std::string problem,
                           std::string expected = kForm) const {
    const std::size_t column = at < t_.size() ? t_[at].begin + 1 : t_.text.size() + 1;
    throw Error(Category::argument, cat("--launch: ", problem, ", at column ", column),
                std::move(expected), std::string(t_.text));
  }

  Tokens t_;
  std::map<std::string, std::string, std::less<>> arrays_;  ///< the variable of each name
  std::size_t launch_ = 0, configuration_end_ = 0, open_ = 0, close_ = 0;
  int count_ = 0;
};

}  // namespace

std::string launch_source(std::string_view words, const std::filesystem::path& file) {
  return LaunchReader(words).program(file);
}

LaunchParts launch_parts(std::string_view words) { return LaunchReader(words).parts(); }

std::string element_type(std::string_view pointer) {
  std::string pointee;
  const Tokens words = tokens_of(pointer);
  for (std::size_t i = 0; i < words.size() && !words.is(i, "*"); ++i) {
    if (words.is(i, "const") || words.is(i, "volatile")) continue;
    pointee += cat(pointee.empty() ? "" : " ", words.spelling(i));
  }
  for (std::size_t i = 0; i < kElementTypeCount; ++i) {
    if (cuda_name(static_cast<DType>(i)) == pointee)
      return std::string(tessera::name(static_cast<DType>(i)));
  }
  return {};
}

std::string extents_used(std::string_view words) { return LaunchReader(words).extents_used(); }

}  // namespace tessera::plain_cuda
