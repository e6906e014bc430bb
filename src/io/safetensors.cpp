// safetensors: eight bytes of header length, a JSON header, then the elements of all tensors, row
// by row, without gaps. Every length and offset is checked against the file before it is used.
#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "failure.hpp"
#include "formats.hpp"
#include "npy.hpp"

namespace tessera::io {
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors files are little-endian and used unswapped: add a swap here");

using nlohmann::json;

/// The format's own limit.
constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::size_t kPrefix = 8;
constexpr std::string_view kMetadata = "__metadata__";
/// A bound on the number of extents, far above any real array.
constexpr std::size_t kMostExtents = 64;

struct TensorInfo {
  std::string name, type;
  std::vector<index_t> shape;
  std::uint64_t begin = 0, end = 0;
};

struct Contents {
  json header = json::object();     ///< [] on a null value leaves it corrupt without memory
  std::vector<TensorInfo> tensors;  ///< in the order of their data
  std::size_t data_offset = 0;
};

[[noreturn]] void damaged(const std::string& path, std::string_view problem,
                          std::string expected = {}, std::string got = {}) {
  bad_file(path, problem, std::move(expected), std::move(got),
           "the file is damaged or no safetensors file");
}

/// Builds the header from the parser's events in time linear in its length; the library's own
/// callback rescans everything it has read after each object.
class HeaderBuilder : public nlohmann::json_sax<json> {
 public:
  json header;
  std::string twice;  ///< a duplicate key, which readers would treat differently
  std::string wrong;  ///< the parser's error

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON has no binary values
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }

  bool key(string_t& name) override {
    if (depth_ > open_.size()) return true;
    const auto [at, inserted] =
        open_.back()->get_ref<json::object_t&>().emplace(std::move(name), nullptr);
    if (!inserted && depth_ <= 2 && twice.empty()) twice = in_quotes(at->first);
    next_ = &at->second;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    wrong = error.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    wrong.erase(0, wrong.find("] ") + 2);
    return false;
  }

 private:
  /// The format has three levels; deeper values are dropped.
  static constexpr std::size_t kMostDepth = 4;

  /// The destination of the value; nullptr for a dropped one.
  json* put_value(json value) {
    if (depth_ > open_.size()) return nullptr;
    json* at = next_;
    if (open_.empty()) at = &header;
    else if (open_.back()->is_array()) at = &open_.back()->emplace_back();
    *at = std::move(value);
    return at;
  }
  bool put(json value) {
    put_value(std::move(value));
    return true;
  }
  bool open(json value) {
    json* at = put_value(std::move(value));
    if (at != nullptr && depth_ < kMostDepth) open_.push_back(at);
    ++depth_;
    return true;
  }
  bool leave() {
    if (depth_-- == open_.size()) open_.pop_back();
    return true;
  }

  std::size_t depth_ = 0;
  std::vector<json*> open_;  ///< the objects and arrays that enclose the next value
  json* next_ = nullptr;     ///< the destination of the value of the last key
};

json parse_json(std::string_view text, const std::string& path) {
  HeaderBuilder builder;
  try {
    json::sax_parse(text.begin(), text.end(), &builder);
  } catch (const json::exception& error) {
    builder.wrong = error.what();
  }
  if (!builder.wrong.empty()) {
    damaged(path, cat("the JSON header is invalid: ", printable(builder.wrong, 160)));
  }
  if (!builder.twice.empty()) damaged(path, builder.twice + " is named twice in the header");
  if (!builder.header.is_object()) damaged(path, "the header is not a JSON object");
  // The parser accepts these, but the format does not.
  if (text.front() != '{') damaged(path, "the header does not begin with '{'");
  if (text.find('\0') != text.npos) damaged(path, "the header contains a zero byte");
  return std::move(builder.header);
}

std::uint64_t natural(const json& value, const std::string& path, std::string_view what) {
  if (!value.is_number_unsigned()) {
    damaged(path, what, "an integer of 0 or more", printable(value.dump(-1, ' ', true), 40));
  }
  return value.get<std::uint64_t>();
}

/// The format allows only strings here.
void check_metadata(const json& metadata, const std::string& path) {
  if (!metadata.is_object()) damaged(path, cat(kMetadata, " is not a JSON object"));
  for (const auto& [key, value] : metadata.items()) {
    if (!value.is_string()) damaged(path, cat(kMetadata, ": ", in_quotes(key), " is not a string"));
  }
}

std::optional<DType> known_type(const TensorInfo& info) {
  for (std::size_t i = 0; i < kElementTypeCount; ++i) {
    if (kElementTypes[i].safetensors == info.type) return static_cast<DType>(i);
  }
  return std::nullopt;
}

/// The size of a tensor of unknown type cannot be checked.
void check_size(const TensorInfo& info, const std::string& path) {
  const auto dtype = known_type(info);
  if (!dtype) return;
  index_t bytes = 0;
  try {
    bytes = checked_count(info.shape, size_of(*dtype), "the header") * size_of(*dtype);
  } catch (const Error& error) {
    damaged(path, error.problem(), error.expected(), error.got());
  }
  if (static_cast<std::uint64_t>(bytes) != info.end - info.begin) {
    damaged(path, cat("shape ", shape_text(info.shape), " of ", info.type, " and data_offsets"),
            cat(bytes, " bytes"), cat(info.end - info.begin, " bytes"));
  }
}

TensorInfo parse_tensor(const std::string& name, const json& entry, const std::string& path) {
  const std::string where = "tensor " + in_quotes(name);
  if (!entry.is_object()) damaged(path, where + " is not described by a JSON object");
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (!entry.contains(key)) damaged(path, cat(where, " lacks '", key, "'"));
  }
  if (!entry["dtype"].is_string()) damaged(path, where + ": dtype is not a string");
  const json& offsets = entry["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2) {
    damaged(path, where + ": data_offsets", "two integers");
  }
  if (!entry["shape"].is_array()) damaged(path, where + ": shape is not a list");
  if (entry["shape"].size() > kMostExtents) {
    damaged(path, where + ": the shape has too many extents", cat("at most ", kMostExtents),
            cat(entry["shape"].size()));
  }
  TensorInfo info;
  info.name = name;
  info.type = entry["dtype"].get<std::string>();
  for (const json& each : entry["shape"]) {
    const std::uint64_t extent = natural(each, path, where + ": an extent of the shape");
    if (extent > static_cast<std::uint64_t>(INT64_MAX)) {
      damaged(path, where + ": an extent of the shape", "at most 2^63 - 1", std::to_string(extent));
    }
    info.shape.push_back(static_cast<index_t>(extent));
  }
  info.begin = natural(offsets[0], path, where + ": data_offsets");
  info.end = natural(offsets[1], path, where + ": data_offsets");
  return info;
}

Contents parse_header(const Input& input) {
  const std::string& path = input.path;
  if (input.size < kPrefix) damaged(path, "is truncated", "at least 8 bytes", cat(input.size));
  std::uint64_t length = 0;
  std::memcpy(&length, input.data, kPrefix);
  const std::uint64_t room = input.size - kPrefix;
  if (length > room) {
    damaged(path, "the header is longer than the file", cat("at most ", room, " bytes"),
            cat(length, " bytes"));
  }
  if (length > kMaxHeader) {
    damaged(path, "the header is too long", cat("at most ", kMaxHeader, " bytes"),
            cat(length, " bytes"));
  }
  Contents contents;
  contents.header = parse_json(input.text().substr(kPrefix, length), path);
  contents.data_offset = kPrefix + length;
  for (const auto& [name, entry] : contents.header.items()) {
    if (name == kMetadata) check_metadata(entry, path);
    else contents.tensors.push_back(parse_tensor(name, entry, path));
  }
  auto& tensors = contents.tensors;
  std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  const std::uint64_t data_bytes = input.size - contents.data_offset;
  std::uint64_t expected = 0;
  for (const TensorInfo& each : tensors) {
    if (each.begin != expected || each.end < each.begin || each.end > data_bytes) {
      damaged(path,
              cat("tensor ", in_quotes(each.name),
                  ": data_offsets overlap, leave a gap or leave "
                  "the file"),
              cat("a begin of ", expected, " and an end of at most ", data_bytes),
              cat("[", each.begin, ", ", each.end, "]"));
    }
    expected = each.end;
  }
  if (expected != data_bytes) {
    damaged(path, "the tensors do not fill the file", cat(expected, " bytes of data"),
            cat(data_bytes, " bytes"));
  }
  for (const TensorInfo& each : tensors) check_size(each, cat(path, ":", each.name));
  return contents;
}

DType type_of(const TensorInfo& info, const std::string& path) {
  if (const auto known = known_type(info)) return *known;
  std::string known;
  for (const auto& each : kElementTypes)
    known += (known.empty() ? "" : " ") + std::string(each.safetensors);
  bad_file(path, cat("elements of type ", in_quotes(info.type), " are not supported"), known, {},
           "convert the tensor before saving it");
}

}  // namespace

std::vector<std::string> list_safetensors(const Input& input) {
  std::vector<std::string> names;
  for (const TensorInfo& each : parse_header(input).tensors) names.push_back(each.name);
  return names;
}

namespace {

/// The tensor in the file whose header `input` begins with.
TensorPlace place_of(const Input& input, const std::string& requested) {
  const Contents contents = parse_header(input);
  std::vector<std::string> names;
  for (const TensorInfo& each : contents.tensors) names.push_back(each.name);
  const std::string name = choose_member(names, requested, input.path);
  const auto info = std::find_if(contents.tensors.begin(), contents.tensors.end(),
                                 [&](const TensorInfo& each) { return each.name == name; });
  return {type_of(*info, cat(input.path, ":", name)), info->shape,
          static_cast<index_t>(contents.data_offset + info->begin)};
}

}  // namespace

TensorPlace locate_safetensors(const std::function<Input(index_t)>& start, std::size_t size,
                               const std::string& member) {
  std::uint64_t length = 0;
  Input input = start(kPrefix);
  if (input.size == kPrefix) std::memcpy(&length, input.data, kPrefix);
  input = start(static_cast<index_t>(kPrefix + std::min(length, kMaxHeader)));
  input.size = size;  // the header is checked against the size of the file; the rest is not read
  return place_of(input, member);
}

Array read_safetensors(const Input& input, const std::string& requested) {
  TensorPlace place = place_of(input, requested);
  return adopt(place.dtype, std::move(place.shape), Order::c, input.data + place.offset,
               input.owner);
}

namespace {

/// Elements to write, from a tensor of the old file or from the new one.
struct Piece {
  std::string name;
  const void* data;
  std::uint64_t bytes;
  std::uint64_t width;  ///< bytes per element
};

Piece piece_of(const TensorInfo& info, const Input& old, std::size_t data_offset) {
  const std::uint64_t bytes = info.end - info.begin;
  std::uint64_t count = 1;
  for (const index_t extent : info.shape) {
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count)) count = 0;
  }
  const auto dtype = known_type(info);
  const std::uint64_t width = dtype        ? static_cast<std::uint64_t>(size_of(*dtype))
                              : count == 0 ? 0
                                           : bytes / count;
  return {info.name, old.data + data_offset + info.begin, bytes, width};
}

/// The header text with the offsets of all pieces.
std::string header_text(json& header, const std::vector<Piece>& pieces, const AtomicFile& file,
                        const std::string& member) {
  std::uint64_t offset = 0;
  for (const Piece& piece : pieces) {
    header[piece.name]["data_offsets"] = {offset, offset + piece.bytes};
    offset += piece.bytes;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    throw Error(Category::argument, cat("cannot write ", shown_output(file.path()), ": the name ",
                                        in_quotes(member), " is not UTF-8"));
  }
  // Pad to 64 bytes, so that a mapping of the file is aligned for every kernel.
  text.append((64 - (kPrefix + text.size()) % 64) % 64, ' ');
  return text;
}

}  // namespace

void write_safetensors(AtomicFile& file, const Array& source, const std::string& member,
                       const Input* old) {
  if (member == kMetadata) {
    throw Error(
        Category::argument,
        cat("cannot write ", shown_output(file.path()), ": a tensor may not be named ", kMetadata),
        {}, {}, "choose another name");
  }
  const Array array = contiguous(source);
  Contents contents;
  if (old != nullptr) contents = parse_header(*old);
  std::vector<Piece> pieces;
  for (const TensorInfo& each : contents.tensors) {
    if (each.name != member) pieces.push_back(piece_of(each, *old, contents.data_offset));
  }
  pieces.push_back({member, array.data(), static_cast<std::uint64_t>(array.bytes()),
                    static_cast<std::uint64_t>(size_of(array.dtype()))});
  // The widest elements come first, as in the format's own package, so that every tensor is
  // aligned.
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.width > b.width; });
  contents.header[member] = {
      {"dtype", kElementTypes[static_cast<std::size_t>(array.dtype())].safetensors},
      {"shape", array.shape()}};
  const std::string header = header_text(contents.header, pieces, file, member);
  const std::uint64_t length = header.size();
  std::uint64_t total = kPrefix + length;
  for (const Piece& piece : pieces) total += piece.bytes;
  file.reserve(static_cast<index_t>(total));
  file.write(&length, kPrefix);
  file.write(header);
  for (const Piece& piece : pieces) file.write(piece.data, piece.bytes);
}

}  // namespace tessera::io
