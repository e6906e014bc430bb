// Reads .npz: a zip archive of .npy files, stored or deflated.
#include <algorithm>
#include <cstring>
#include <set>

#include "io/failure.hpp"
#include "io/formats.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"

namespace tessera::io {
namespace {

/// True if the member begins as an .npy file; false if it cannot be unpacked.
bool begins_as_npy(const Input& input, const ZipMember& member) {
  char start[kNpyMagic.size()];
  try {
    ZipReader(input, member, {}).read(start, sizeof start);
  } catch (const Error&) {
    return false;
  }
  return std::string_view(start, sizeof start) == kNpyMagic;
}

}  // namespace

std::vector<Entry> entries_of(const Input& input, const ZipDirectory& directory) {
  std::vector<Entry> out;
  for (std::size_t i = 0; i < directory.members.size(); ++i) {
    const std::string_view name = directory.members[i].name;
    if (name.size() > kSuffix.size() && name.ends_with(kSuffix)) {
      out.push_back({std::string(name.substr(0, name.size() - kSuffix.size())), i, false});
    } else if (!name.empty() && name.back() != '/' && begins_as_npy(input, directory.members[i])) {
      out.push_back({std::string(name), i, true});
    }
  }
  return out;
}

const Entry* find_entry(const std::vector<Entry>& entries, const std::string& name) {
  const auto last = [&](std::string_view wanted, bool bare) -> const Entry* {
    const auto at = std::find_if(entries.rbegin(), entries.rend(), [&](const Entry& each) {
      return each.bare == bare && each.name == wanted;
    });
    return at == entries.rend() ? nullptr : &*at;
  };
  if (const Entry* const found = last(name, true)) return found;
  if (const Entry* const found = last(name, false)) return found;
  const std::string_view text = name;
  if (text.size() <= kSuffix.size() || !text.ends_with(kSuffix)) return nullptr;
  return last(text.substr(0, text.size() - kSuffix.size()), false);
}

namespace {

/// Each name once, in the order of the archive.
std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const Entry& each : entries) {
    if (seen.insert(each.name).second) names.push_back(each.name);
  }
  return names;
}

}  // namespace

std::vector<std::string> list_npz(const Input& input) {
  return names_of(entries_of(input, read_zip_directory(input)));
}

bool npz_holds(const Input& input, const std::string& member) {
  return find_entry(entries_of(input, read_zip_directory(input)), member) != nullptr;
}

Array read_npz(const Input& input, const std::string& requested, std::optional<DType> untyped) {
  const ZipDirectory directory = read_zip_directory(input);
  const auto entries = entries_of(input, directory);
  const Entry* entry = find_entry(entries, requested);
  const std::string name =
      entry != nullptr ? requested : choose_member(names_of(entries), requested, input.path);
  if (entry == nullptr) entry = find_entry(entries, name);
  ZipReader member(input, directory.members[entry->index], cat(input.path, ":", name));

  std::string start(std::min<std::uint64_t>(member.size(), kMaxNpyHeader + 12), '\0');
  member.read(start.data(), start.size());
  if (start.empty()) bad_file(member.path(), "is empty", "an .npy header", "0 bytes");
  NpyHeader header = parse_npy_header(start, member.size(), member.path(), untyped);
  Array array = make_array(header.dtype, header.shape, header.order);
  auto* to = static_cast<std::byte*>(array.writable());
  const auto bytes = static_cast<std::size_t>(header.bytes);
  const std::size_t early = std::min(start.size() - header.data_offset, bytes);
  std::memcpy(to, start.data() + header.data_offset, early);
  member.read(to + early, bytes - early);
  member.finish();
  if (header.swapped) swap_bytes(to, array.count(), size_of(header.dtype));
  if (header.dtype != DType::boolean) return array;
  std::transform(to, to + bytes, to, [](std::byte b) { return std::byte{b != std::byte{0}}; });
  return array;
}

}  // namespace tessera::io
