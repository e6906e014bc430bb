// The public functions that read and write arrays. They find the format from the name or the first
// bytes and the member from the location, then call the reader or writer of that format. All
// choices are made and checked before a file is created.
#include "tessera/io/io.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <new>

#include "failure.hpp"
#include "folder_lock.hpp"
#include "formats.hpp"
#include "npy.hpp"

namespace tessera {
namespace {

struct Extension {
  std::string_view text;
  Format format;
};
constexpr Extension kExtensions[] = {{".npy", Format::npy},
                                     {".npz", Format::npz},
                                     {".mtx", Format::matrix_market},
                                     {".mm", Format::matrix_market},
                                     {".safetensors", Format::safetensors}};
constexpr std::string_view kKnown = ".npy, .npz, .mtx or .safetensors";

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::equal(end.begin(), end.end(), text.end() - static_cast<std::ptrdiff_t>(end.size()),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); });
}

std::optional<Format> by_extension(std::string_view path) {
  for (const auto& [text, format] : kExtensions) {
    if (ends_with(path, text)) return format;
  }
  return std::nullopt;
}

bool holds_members(Format format) { return format == Format::npz || format == Format::safetensors; }

/// The format of a file without a known extension, by its first bytes.
std::optional<Format> by_content(std::string_view text) {
  if (text.substr(0, io::kNpyMagic.size()) == io::kNpyMagic) return Format::npy;
  if (text.substr(0, 4) == "PK\x03\x04") return Format::npz;
  constexpr std::string_view banner = "%%matrixmarket";
  if (ends_with(text.substr(0, banner.size()), banner)) return Format::matrix_market;
  if (text.size() > 9 && text[8] == '{') return Format::safetensors;
  return std::nullopt;
}

void forbid_member(const std::string& path, const std::string& member) {
  if (member.empty()) return;
  throw Error(
      Category::argument,
      cat(printable(path), " holds one array, but ", io::in_quotes(member), " was requested"), {},
      {}, "omit the name");
}

/// Runs `body`; if memory runs out, the message begins with `what`.
template <class Body>
auto naming_memory(const std::string& what, Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    throw Error(Category::resource, what + ": not enough memory", {}, {},
                "raise the limit (ulimit -v) or use a machine with more memory");
  } catch (const Error& error) {
    if (error.category() != Category::resource || error.problem().rfind("cannot", 0) == 0) throw;
    throw Error(Category::resource, cat(what, ": ", error.problem()), error.expected(), error.got(),
                error.advice());
  }
}

std::string member_of(const Location& location, const std::string& option) {
  return option.empty() ? location.member : option;
}

}  // namespace

Format io::input_format(const std::string& path, const Input& input, Format requested) {
  if (requested != Format::automatic) return requested;
  if (const auto known = by_extension(path)) return *known;
  if (const auto seen = by_content(input.text())) return *seen;
  throw Error(Category::argument, cat(printable(input.path), ": the file format is unknown"),
              std::string(kKnown), {}, "rename it, or name the format");
}

std::string to_string(Format format) {
  constexpr std::array<const char*, 5> names = {"automatic", "npy", "npz", "mtx", "safetensors"};
  return names[static_cast<std::size_t>(format)];
}

Format parse_format(std::string_view text) {
  for (const Format format :
       {Format::npy, Format::npz, Format::matrix_market, Format::safetensors}) {
    if (to_string(format) == text) return format;
  }
  throw Error(Category::argument, cat("unknown file format ", io::in_quotes(text)),
              "npy, npz, mtx or safetensors");
}

Location parse_location(const std::string& text) {
  struct stat info {};
  if (stat(text.c_str(), &info) == 0) return {text, {}};
  for (const std::string_view end : {".npz:", ".safetensors:"}) {
    // Split at the first such colon: names of members may contain colons themselves.
    for (std::size_t at = text.find(':'); at != std::string::npos; at = text.find(':', at + 1)) {
      const std::string_view head = std::string_view(text).substr(0, at + 1);
      if (!ends_with(head, end)) continue;
      if (at + 1 == text.size())
        throw Error(Category::argument, cat(printable(text), " names no array"),
                    "a name after the colon", {}, "or omit the colon");
      return {text.substr(0, at), text.substr(at + 1)};
    }
  }
  return {text, {}};
}

std::string io::choose_member(const std::vector<std::string>& members, const std::string& requested,
                              const std::string& path) {
  constexpr std::size_t kListed = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(members.size(), kListed); ++i) {
    list += (i == 0 ? "" : ", ") + printable(members[i], 60);
  }
  if (members.size() > kListed) list += cat(" and ", members.size() - kListed, " more");
  if (members.empty()) bad_file(path, "holds no array");
  if (!requested.empty()) {
    if (std::find(members.begin(), members.end(), requested) != members.end()) return requested;
    throw Error(Category::argument, cat(printable(path), " has no array ", in_quotes(requested)),
                "one of " + list);
  }
  if (members.size() == 1) return members.front();
  throw Error(Category::argument,
              cat(printable(path), " holds ", members.size(), " arrays: ", list), {}, {},
              cat("choose one: ", printable(path), ":", printable(members.front(), 60)));
}

Array read_array(const std::string& path, const ReadOptions& options) {
  const Location location = parse_location(path);
  const std::string member = member_of(location, options.member);
  const io::Input input = io::open_input(location.path);
  const Format format = io::input_format(location.path, input, options.format);
  if (!holds_members(format)) forbid_member(location.path, member);
  return naming_memory("cannot read " + printable(input.path), [&] {
    switch (format) {
      case Format::npz: return io::read_npz(input, member, options.untyped);
      case Format::matrix_market: return io::read_matrix_market(input);
      case Format::safetensors: return io::read_safetensors(input, member);
      default: return io::read_npy(input, options.untyped);
    }
  });
}

std::vector<std::string> list_members(const std::string& path, Format requested) {
  const io::Input input = io::open_input(path);
  const Format format = io::input_format(path, input, requested);
  if (format == Format::npz) return io::list_npz(input);
  if (format == Format::safetensors) return io::list_safetensors(input);
  return {};
}

Format output_format(const std::string& path, Format format) {
  if (format != Format::automatic) return format;
  if (path == "-") return Format::npy;
  if (const auto known = by_extension(parse_location(path).path)) return *known;
  struct stat info {};
  // Devices and pipes have no extensions.
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    return Format::npy;
  }
  throw Error(Category::argument,
              cat("cannot write ", printable(path), ": the extension is unknown"),
              std::string(kKnown));
}

void io::write_npy(AtomicFile& file, const Array& source) {
  const Order order = natural_order(source);
  const Array array = contiguous(source, order);
  const std::string header = npy_header(array.dtype(), array.shape(), order);
  file.reserve(static_cast<index_t>(header.size()) + array.bytes());
  file.write(header);
  file.write(array.data(), static_cast<std::size_t>(array.bytes()));
}

namespace {

/// The target and its format, completely decided.
struct Target {
  std::string path;
  Format format;
  std::string member;
  /// the caller named the member: the file's other members are kept
  bool keeps_others = false;
};

Target target_of(const std::string& path, const WriteOptions& options) {
  const Format format = output_format(path, options.format);
  const Location location = parse_location(path);
  const std::string member = member_of(location, options.member);
  if (!holds_members(format)) forbid_member(location.path, member);
  if (member.empty()) return {location.path, format, "arr_0"};
  return {location.path, format, member, holds_members(format) && location.path != "-"};
}

/// The file that receives the member, if it exists; an empty file counts as absent.
std::optional<io::Input> old_file(const Target& target) {
  struct stat info {};
  if (!target.keeps_others || stat(target.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_size == 0) {
    return std::nullopt;
  }
  return io::open_input(target.path);
}

/// Throws unless the member may be added to `old`.
void check_member(const io::Input& old, const Target& target, Overwrite overwrite) {
  const auto is_there = [&] {
    if (target.format == Format::npz) return io::npz_holds(old, target.member);
    const auto names = io::list_safetensors(old);
    return std::find(names.begin(), names.end(), target.member) != names.end();
  };
  const std::string what =
      cat("cannot write ", io::shown_output(target.path), ":", printable(target.member, 60));
  bool found = false;
  try {
    found = is_there();
  } catch (const Error& error) {
    if (error.category() != Category::file) throw;
    throw Error(Category::file, cat(what, ": ", error.problem()), error.expected(), error.got(),
                "an array can be added to a whole file only; name another file");
  }
  if (found && overwrite == Overwrite::refuse) {
    throw Error(Category::argument, cat(what, ": it exists already"), {}, {},
                "choose another name, or allow replacing it (--force)");
  }
}

/// The overwrite rule applies to the file as a whole; adding a member always rewrites it.
Overwrite overwrite_file(const Target& target, Overwrite requested) {
  return target.keeps_others ? Overwrite::replace : requested;
}

void check_target(const Target& target, Overwrite overwrite) {
  if (const auto old = old_file(target)) check_member(*old, target, overwrite);
}

void write_into(AtomicFile& file, const Array& array, const Target& target,
                const WriteOptions& options) {
  naming_memory("cannot write " + io::shown_output(file.path()), [&] {
    // Check again: another process may have added to the file while the array was computed.
    const io::FolderLock lock(target.keeps_others && file.is_regular() ? target.path : "");
    const auto old = old_file(target);
    if (old) check_member(*old, target, options.overwrite);
    const io::Input* const kept = old ? &*old : nullptr;
    switch (target.format) {
      case Format::npz: io::write_npz(file, array, target.member, options.compression, kept); break;
      case Format::matrix_market: io::write_matrix_market(file, array); break;
      case Format::safetensors: io::write_safetensors(file, array, target.member, kept); break;
      default: io::write_npy(file, array);
    }
    file.commit();
  });
}

/// True if an array of `bytes` would leave too little memory for the operands and the workspace.
bool too_large_for_memory(index_t bytes) {
  constexpr index_t kSmall = index_t{64} << 20;
  return bytes > kSmall && bytes > available_memory() / 2;
}

}  // namespace

void check_output(const std::string& path, const WriteOptions& options) {
  const Target target = target_of(path, options);
  check_output(target.path, overwrite_file(target, options.overwrite));
  check_target(target, options.overwrite);
}

void write_array(const std::string& path, const Array& array, const WriteOptions& options) {
  const Target target = target_of(path, options);
  AtomicFile file(target.path, overwrite_file(target, options.overwrite));
  write_into(file, array, target, options);
}

OutputArray::OutputArray(const std::string& path, DType dtype, std::vector<index_t> shape,
                         WriteOptions options)
    : options_(std::move(options)) {
  const Target target = target_of(path, options_);
  keeps_others_ = target.keeps_others;
  options_.format = target.format;
  options_.member = target.member;
  if (target.format == Format::matrix_market && shape.size() != 2) {
    throw Error(Category::shape,
                cat("cannot write ", io::shown_output(path), ": Matrix Market holds matrices"),
                "two dimensions", shape_text(shape));
  }
  const index_t bytes =
      checked_count(shape, size_of(dtype), "cannot write " + io::shown_output(path)) *
      size_of(dtype);
  check_target(target, options_.overwrite);
  file_ = std::make_unique<AtomicFile>(target.path, overwrite_file(target, options_.overwrite));
  if (target.format == Format::npy && file_->is_regular() && too_large_for_memory(bytes)) {
    mapped_ = std::make_unique<MappedOutput>(std::move(file_), dtype, std::move(shape));
    return;
  }
  if (target.format == Format::npy) file_->reserve(bytes);
  array_ = naming_memory("cannot write " + io::shown_output(path),
                         [&] { return make_array(dtype, std::move(shape)); });
}

void OutputArray::commit() {
  if (mapped_) mapped_->commit();
  else {
    write_into(*file_, array_, {file_->path(), options_.format, options_.member, keeps_others_},
               options_);
  }
}

}  // namespace tessera
