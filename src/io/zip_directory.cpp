// Reading a zip archive's directory: see zip_directory.hpp.
#include "zip_directory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "failure.hpp"
#include "tessera/core/text.hpp"

namespace tessera::io {
namespace {

constexpr std::string_view kEnd = "PK\x05\x06";
constexpr std::size_t kEndBytes = 22, kRecordBytes = 46;
constexpr std::size_t kLongestComment = 0xffff;

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T out{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof out)
    std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

bool has_signature(std::string_view bytes, std::size_t at, std::string_view signature) {
  return at <= bytes.size() && bytes.substr(at, signature.size()) == signature;
}

struct Directory {
  std::uint64_t offset, bytes;
};

/// The directory that the end record at `end` names, also in zip64 archives (beyond 4 GB or 65,535
/// members).
Directory directory_of(std::string_view bytes, std::size_t end) {
  constexpr std::size_t kLocator = 20;
  if (end >= kLocator && has_signature(bytes, end - kLocator, "PK\x06\x07")) {
    const auto wide = number_at<std::uint64_t>(bytes, end - kLocator + 8);
    if (has_signature(bytes, wide, "PK\x06\x06"))
      return {number_at<std::uint64_t>(bytes, wide + 48),
              number_at<std::uint64_t>(bytes, wide + 40)};
  }
  return {number_at<std::uint32_t>(bytes, end + 16), number_at<std::uint32_t>(bytes, end + 12)};
}

/// Calls `visit` with the offset and the name of each record of the directory at `at`, as long as
/// it returns true.
template <class Visit>
void for_each_record(std::string_view bytes, std::size_t at, Visit visit) {
  while (has_signature(bytes, at, "PK\x01\x02")) {
    const std::size_t name_bytes = number_at<std::uint16_t>(bytes, at + 28);
    const std::size_t name_at = std::min(at + kRecordBytes, bytes.size());
    if (!visit(at, bytes.substr(name_at, name_bytes))) return;
    at += kRecordBytes + name_bytes + number_at<std::uint16_t>(bytes, at + 30) +
          number_at<std::uint16_t>(bytes, at + 32);
  }
}

/// The offset of the member's own header, from its directory record at `at`.
std::uint64_t local_offset(std::string_view bytes, std::size_t at) {
  constexpr std::uint32_t kElsewhere = 0xffffffff;  // the value is in the zip64 extra field
  const auto narrow = number_at<std::uint32_t>(bytes, at + 42);
  if (narrow != kElsewhere) return narrow;
  std::size_t extra = at + kRecordBytes + number_at<std::uint16_t>(bytes, at + 28);
  const std::size_t end = extra + number_at<std::uint16_t>(bytes, at + 30);
  while (extra + 4 <= end) {
    if (number_at<std::uint16_t>(bytes, extra) == 1) {
      const std::size_t before = 8 * (number_at<std::uint32_t>(bytes, at + 20) == kElsewhere) +
                                 8 * (number_at<std::uint32_t>(bytes, at + 24) == kElsewhere);
      return number_at<std::uint64_t>(bytes, extra + 4 + before);
    }
    extra += std::size_t{4} + number_at<std::uint16_t>(bytes, extra + 2);
  }
  return narrow;
}

/// libzip hashes names to 32 bits and takes the lowest ones as the index of its table.
std::uint32_t hash_of(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

/// True if libzip hashes the name as it is. It converts others from the DOS code page to UTF-8
/// first.
bool is_hashed_as_it_is(std::string_view name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    int follow = 0;
    if (c >= 0x80) follow = c >> 5 == 6 ? 1 : c >> 4 == 14 ? 2 : c >> 3 == 30 ? 3 : -1;
    if (follow < 0 || (c < ' ' && c != '\r' && c != '\n' && c != '\t')) return false;
    for (; follow > 0; --follow)
      if (++i >= name.size() || static_cast<unsigned char>(name[i]) >> 6 != 2) return false;
  }
  return true;
}

/// An upper bound on libzip's probe steps while it reads the directory at `at`.
std::uint64_t steps_of_names(std::string_view bytes, std::size_t at) {
  std::vector<std::pair<std::uint32_t, std::string_view>> names;  // hash, name
  for_each_record(bytes, at, [&](std::size_t, std::string_view name) {
    name = name.substr(0, name.find('\0'));
    // Assume the worst for converted names: that all of them collide.
    names.emplace_back(is_hashed_as_it_is(name) ? hash_of(name) : 0, name);
    return true;
  });
  const auto mask = static_cast<std::uint32_t>(std::bit_ceil(2 * names.size() + 1) - 1);
  for (auto& each : names) each.first &= mask;
  std::sort(names.begin(), names.end());
  std::uint64_t steps = 0, different = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == 0 || names[i].first != names[i - 1].first) different = 0;
    if (i == 0 || names[i] != names[i - 1]) ++different;
    steps += different;
  }
  return steps;
}

}  // namespace

void refuse_slow_archive(const Input& input) {
  const std::string_view bytes = input.text();
  const auto refuse = [&](std::string_view why) {
    bad_file(input.path, cat("would take very long to open: ", why), {}, {},
             "the file is damaged or made to be slow; save the arrays again with np.savez");
  };
  // libzip reads the directory of every end record in the last part of the file.
  std::uint64_t named = 0;
  const std::size_t first = bytes.size() - std::min(bytes.size(), kLongestComment + kEndBytes);
  for (std::size_t end = bytes.find(kEnd, first); end != std::string_view::npos;
       end = bytes.find(kEnd, end + 1)) {
    const Directory directory = directory_of(bytes, end);
    if (directory.offset > end || directory.bytes > end - directory.offset) continue;
    named += directory.bytes;
    if (named > 2 * bytes.size()) refuse("it names its directory many times");
    constexpr std::uint64_t kFree = 1 << 20, kForEachName = 64;  // few enough steps
    const std::uint64_t most = kFree + kForEachName * (directory.bytes / kRecordBytes);
    if (steps_of_names(bytes, directory.offset) > most)
      refuse("the names of its members have the same hash");
  }
}

bool local_header_is_there(std::string_view bytes, std::uint64_t index) {
  const std::size_t end = bytes.rfind(kEnd);
  if (end == std::string_view::npos) return false;
  bool found = false;
  std::uint64_t number = 0;
  for_each_record(bytes, directory_of(bytes, end).offset, [&](std::size_t at, std::string_view) {
    if (number++ != index) return true;
    found = has_signature(bytes, local_offset(bytes, at), "PK\x03\x04");
    return false;
  });
  return found;
}

}  // namespace tessera::io
