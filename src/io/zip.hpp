// A zip archive of stored and deflated members, also beyond 4 GB (zip64): the container of .npz.
// Knows no arrays. Each offset and size is checked against the file before it is used; each
// function takes linear time, whatever the file holds.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input.hpp"
#include "tessera/io/io.hpp"

namespace tessera::io {

enum class ZipMethod : std::uint16_t { stored = 0, deflated = 8 };

/// A member, as the directory at the end of the archive describes it.
struct ZipMember {
  std::string name;  ///< in UTF-8
  bool encrypted = false;
  ZipMethod method{};
  std::uint32_t crc = 0;
  std::uint64_t packed = 0, size = 0;  ///< bytes in the archive and unpacked
  std::uint64_t offset = 0;            ///< of its header
  std::string_view record;             ///< in the directory
};

struct ZipDirectory {
  std::vector<ZipMember> members;
  std::uint64_t offset = 0;
  std::string_view comment;  ///< of the archive
};

/// Throws Error(file) if this is no archive, or a damaged one.
ZipDirectory read_zip_directory(const Input& input);

/// The bytes of each member, from its header to that of the next one. Throws Error(file) where two
/// members share bytes.
std::vector<std::string_view> whole_members(const Input& input, const ZipDirectory& directory);

/// Unpacks one member from its first byte to its last.
class ZipReader {
 public:
  /// `path` names the member in messages.
  ZipReader(const Input& input, const ZipMember& member, std::string path);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  std::uint64_t size() const { return member_.size; }
  const std::string& path() const { return path_; }
  /// Reads exactly `count` bytes.
  void read(void* to, std::uint64_t count);
  /// Checks that the member ends here and that its checksum matches.
  void finish();

 private:
  std::uint64_t some(Bytef* to, std::uint64_t count);
  [[noreturn]] void bad(std::string_view why) const;

  const ZipMember& member_;
  std::string path_;
  std::string_view packed_;  ///< what is not yet unpacked
  z_stream stream_{};
  bool ended_ = false;  ///< the deflated data are at their end
  std::uint64_t done_ = 0;
  uLong crc_ = 0;
};

/// Writes an archive from its first byte to its last. A regular file gets the sizes in each
/// member's header; a pipe gets those of a deflated member after its data.
class ZipWriter {
 public:
  explicit ZipWriter(AtomicFile& file) : file_(file) {}

  void add(std::string_view name, std::span<const std::string_view> parts, ZipMethod method);
  /// Copies a member of another archive; `bytes` are those of whole_members().
  void copy(const ZipMember& member, std::string_view bytes);
  /// Writes the directory.
  void finish(std::string_view comment);

 private:
  void write(std::string_view bytes);
  std::uint64_t deflate_parts(std::span<const std::string_view> parts);
  void list(std::string record, std::string_view name, std::string_view extra,
            std::string_view comment, std::uint64_t packed, std::uint64_t size,
            std::uint64_t offset);

  AtomicFile& file_;
  std::uint64_t at_ = 0, count_ = 0;
  std::string directory_;
};

// Numbers are little-endian in the format and on every machine that Tessera is built for.
template <class T>
T zip_number(std::string_view bytes, std::size_t at) {
  T out{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof out)
    bytes.copy(reinterpret_cast<char*>(&out), sizeof out, at);
  return out;
}

/// Removes the first of the extra fields and returns it: number, length, data.
inline std::string_view take_extra(std::string_view& fields) {
  const std::size_t length = std::size_t{4} + zip_number<std::uint16_t>(fields, 2);
  const std::string_view first = fields.substr(0, length);
  fields.remove_prefix(first.size());
  return first;
}

inline constexpr std::string_view kZipHeader = "PK\x03\x04", kZipRecord = "PK\x01\x02",
                                  kZipEnd = "PK\x05\x06", kZip64End = "PK\x06\x06",
                                  kZip64Locator = "PK\x06\x07";
inline constexpr std::size_t kZipHeaderBytes = 30, kZipRecordBytes = 46, kZipEndBytes = 22,
                             kZip64EndBytes = 56, kZip64LocatorBytes = 20;
inline constexpr std::uint32_t kZipWide = 0xffffffff;  ///< the value is in the zip64 field
inline constexpr std::uint16_t kZip64Extra = 1;        ///< the number of the zip64 field
inline constexpr std::uint16_t kZipEncrypted = 1, kZipSizesAfter = 1 << 3, kZipUtf8 = 1 << 11;

/// As much of `count` as zlib takes in one call.
inline uInt zlib_part(std::uint64_t count) {
  return static_cast<uInt>(std::min<std::uint64_t>(count, 1u << 30));
}

}  // namespace tessera::io
