// Writes .npz: new members, and those of an old archive as they are there.
#include <algorithm>
#include <set>

#include "io/failure.hpp"
#include "io/formats.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"

namespace tessera::io {
namespace {

void add_member(ZipWriter& out, std::string_view name, const NpzMember& member,
                Compression compression) {
  const std::string_view parts[] = {member.header,
                                    {static_cast<const char*>(member.data), member.bytes}};
  out.add(name, parts,
          compression == Compression::stored ? ZipMethod::stored : ZipMethod::deflated);
}

/// Copies the old archive with `members` in it; each that it has already stays at its place.
void merge(ZipWriter& out, std::span<const NpzMember> members, Compression compression,
           const Input& old) {
  const ZipDirectory directory = read_zip_directory(old);
  const auto whole = whole_members(old, directory);
  const auto entries = entries_of(old, directory);
  std::vector<const NpzMember*> replacing(directory.members.size()), added;
  std::set<std::size_t> removed;
  for (const NpzMember& member : members) {
    const Entry* const found = find_entry(entries, member.name);
    if (found == nullptr) {
      added.push_back(&member);
      continue;
    }
    replacing[found->index] = &member;
    // Remove other members of this name: some readers take the first, others the last.
    for (const Entry& each : entries) {
      if (each.name == found->name && each.bare == found->bare && each.index != found->index)
        removed.insert(each.index);
    }
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (replacing[i] != nullptr) {
      add_member(out, directory.members[i].name, *replacing[i], compression);
    } else if (!removed.contains(i)) {
      out.copy(directory.members[i], whole[i]);
    }
  }
  for (const NpzMember* each : added)
    add_member(out, each->name + std::string(kSuffix), *each, compression);
  out.finish(directory.comment);
}

}  // namespace

void write_npz(AtomicFile& file, std::span<const NpzMember> members, Compression compression,
               const Input* old) {
  ZipWriter out(file);
  if (old != nullptr) return merge(out, members, compression, *old);
  for (const NpzMember& each : members)
    add_member(out, each.name + std::string(kSuffix), each, compression);
  out.finish({});
}

void write_npz(AtomicFile& file, const Array& source, const std::string& member,
               Compression compression, const Input* old) {
  const Order order = natural_order(source);
  const Array array = contiguous(source, order);
  const NpzMember members[] = {{member, npy_header(array.dtype(), array.shape(), order),
                                array.data(), static_cast<std::size_t>(array.bytes())}};
  write_npz(file, members, compression, old);
}

}  // namespace tessera::io
