// Names of element types: see npy_types.hpp.
#include "npy_types.hpp"

#include <algorithm>
#include <bit>

#include "failure.hpp"

namespace tessera::io {
namespace {

struct NumpyType {
  DType dtype;
  std::string_view code;     ///< kind and bytes, after the byte order: "f8"
  std::string_view letters;  ///< after the byte order
  std::string_view names;    ///< separated by blanks; never after a byte order
};

constexpr bool kWideLong = sizeof(long) == 8;

/// bf16 and f8 are not here: NumPy has no names for them.
constexpr NumpyType kNumpyTypes[] = {
    {DType::f64, "f8", "d", "float64 double float float_"},
    {DType::f32, "f4", "f", "float32 single"},
    {DType::f16, "f2", "e", "float16 half"},
    {DType::i8, "i1", "b", "int8 byte"},
    {DType::u8, "u1", "B", "uint8 ubyte"},
    {DType::i16, "i2", "h", "int16 short"},
    {DType::u16, "u2", "H", "uint16 ushort"},
    {DType::i32, "i4", kWideLong ? "i" : "il", "int32 intc"},
    {DType::u32, "u4", kWideLong ? "I" : "IL", "uint32 uintc"},
    {DType::i64, "i8", kWideLong ? "qpnl" : "qpn", "int64 int int_ long longlong intp int0"},
    {DType::u64, "u8", kWideLong ? "QPNL" : "QPN", "uint64 uint ulong ulonglong uintp uint0"},
    {DType::boolean, "b1", "?", "bool bool_ bool8"}};

/// True if `word` is one of `words`, which blanks separate.
bool is_word_of(std::string_view word, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

const NumpyType* type_of_name(std::string_view name) {
  for (const NumpyType& each : kNumpyTypes) {
    if (is_word_of(name, each.names)) return &each;
  }
  return nullptr;
}

/// The type with this code or letter after the byte order: "i8", "q".
const NumpyType* type_of_code(std::string_view code) {
  for (const NumpyType& each : kNumpyTypes) {
    const bool letter = code.size() == 1 && each.letters.find(code) != std::string_view::npos;
    if (code == each.code || letter) return &each;
  }
  return nullptr;
}

/// Describes unsupported elements, from their code without the byte order or from their name.
const char* meaning_of(std::string_view code) {
  constexpr std::pair<std::string_view, const char*> words[] = {
      {"O O8 object object_ object0", "Python objects, which only Python can read"},
      {"F D G complex complex_ complex64 complex128 complex256 csingle singlecomplex cdouble "
       "cfloat clongdouble clongfloat longcomplex",
       "complex numbers"},
      {"g longdouble longfloat float128", "floating point of another width"},
      {"c str str_ str0 unicode unicode_ bytes bytes_ bytes0 string_", "text"},
      {"datetime64 timedelta64", "dates or durations"},
      {"void void0", "raw bytes or records"}};
  for (const auto& [known, meaning] : words) {
    if (is_word_of(code, known)) return meaning;
  }
  constexpr const char* unknown = "a type that Tessera does not know";
  if (code.find(',') != std::string_view::npos) return "several fields";
  const char kind = code.empty() ? '\0' : code[0];
  const std::string_view rest = code.substr(std::min<std::size_t>(1, code.size()));
  if (kind == 'M' || kind == 'm') return "dates or durations";
  if (rest.find_first_not_of("0123456789") != std::string_view::npos) return unknown;
  return kind == 'c'                                 ? "complex numbers"
         : kind == 'f'                               ? "floating point of another width"
         : kind == 'S' || kind == 'U' || kind == 'a' ? "text"
         : kind == 'V'                               ? "raw bytes or records"
                                                     : unknown;
}

/// "bf16 or f16" of 2 bytes: the floating-point types that a header without a type may mean.
std::string floats_of(int bytes) {
  std::string out;
  for (std::size_t i = 0; i < kElementTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    if (type != DType::f16 && is_floating(type) && size_of(type) == bytes)
      out += cat(out.empty() ? "" : " or ", type);
  }
  return bytes == 2 ? out + " or f16" : out;  // the least likely type: NumPy has a name for it
}

/// Elements of types without a NumPy name, such as bf16: the caller must say what the bytes mean.
DType untyped_element(const std::string& descr, int bytes, std::optional<DType> untyped,
                      const std::string& path) {
  const std::string candidates = floats_of(bytes);
  if (!untyped) {
    bad_file(path, cat("elements of type '", descr, "' have no unique type"), {}, {},
             cat("name it: --dtype ", candidates,
                 " (ml_dtypes writes bfloat16 and float8 as raw bytes), or use .safetensors, which "
                 "keeps types"));
  }
  if (size_of(*untyped) != bytes) {
    bad_file(path,
             cat("elements of type '", descr, "' have ", bytes, bytes == 1 ? " byte" : " bytes"),
             candidates, to_string(*untyped));
  }
  return *untyped;
}

}  // namespace

std::string readable_descr() {
  return cat("f8 f4 f2, i1 i2 i4 i8, u1 u2 u4 u8, b1 (and V2 as ", floats_of(2), ", V1 as ",
             floats_of(1), ")");
}

NpyElement parse_descr(const std::string& descr, std::optional<DType> untyped,
                       const std::string& path) {
  constexpr bool little = std::endian::native == std::endian::little;
  if (const NumpyType* const named = type_of_name(descr)) return {named->dtype, false};
  std::string_view code = descr;
  char order = '|';
  if (!code.empty() && std::string_view("<>|=").find(code[0]) != std::string_view::npos) {
    order = code[0];
    code.remove_prefix(1);
  }
  const bool swapped = (order == '<' && !little) || (order == '>' && little);
  if (const NumpyType* const known = type_of_code(code))
    return {known->dtype, swapped && size_of(known->dtype) > 1};
  if (code == "V2") return {untyped_element(descr, 2, untyped, path), swapped};
  if (code == "V1" || code == "f1") return {untyped_element(descr, 1, untyped, path), false};
  bad_file(
      path,
      cat("elements of type ", in_quotes(descr), " (", meaning_of(code), ") are not supported"),
      readable_descr(), {}, "convert it: np.save(file, a.astype('f8'))");
}

std::string descr_of(DType dtype) {
  std::string_view code = size_of(dtype) == 2 ? "V2" : "V1";  // ml_dtypes' codes of bf16 and f8
  for (const NumpyType& each : kNumpyTypes) {
    if (each.dtype == dtype) code = each.code;
  }
  constexpr bool little = std::endian::native == std::endian::little;
  const char order = size_of(dtype) == 1 ? '|' : little ? '<' : '>';
  return order + std::string(code);
}

bool is_integer_name(std::string_view name) {
  const NumpyType* const known = type_of_name(name);
  return known != nullptr && !is_floating(known->dtype) && known->dtype != DType::boolean;
}

}  // namespace tessera::io
