// Reads the directory of a zip archive: end record, records of the members, their zip64 fields.
#include <algorithm>

#include "io/failure.hpp"
#include "io/npy.hpp"
#include "io/zip.hpp"

namespace tessera::io {
namespace {

[[noreturn]] void no_archive(const Input& input, std::string_view why) {
  bad_file(input.path, cat("is not a readable .npz (zip) archive: ", why), {}, {},
           input.text().starts_with(kNpyMagic) ? "it looks like an .npy file: rename it"
                                               : "the file is damaged or truncated");
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) continue;
    const int follow = c >> 5 == 6 ? 1 : c >> 4 == 14 ? 2 : c >> 3 == 30 ? 3 : -1;
    if (follow < 0) return false;
    for (int k = 0; k < follow; ++k)
      if (++i >= text.size() || static_cast<unsigned char>(text[i]) >> 6 != 2) return false;
  }
  return true;
}

/// From code page 437 of DOS, which a name is in if nothing else is said.
std::string from_dos(std::string_view text) {
  static constexpr std::u16string_view kHigh =
      u"ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»"
      u"░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀"
      u"αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";
  static_assert(kHigh.size() == 128);
  std::string out;
  for (const char each : text) {
    const auto c = static_cast<unsigned char>(each);
    const char16_t code = c < 0x80 ? char16_t{c} : kHigh[c - 0x80u];
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | code >> 6);
      out += static_cast<char>(0x80 | (code & 63));
    } else {
      out += static_cast<char>(0xe0 | code >> 12);
      out += static_cast<char>(0x80 | (code >> 6 & 63));
      out += static_cast<char>(0x80 | (code & 63));
    }
  }
  return out;
}

/// What the end of the archive says about its directory.
struct End {
  std::uint64_t offset, bytes, count;
  std::uint64_t at;  ///< where the end records begin
  bool wide;         ///< zip64
  std::string_view comment;
};

End end_of(const Input& input) {
  constexpr std::size_t kLongestComment = 0xffff;
  const std::string_view bytes = input.text();
  const std::size_t at =
      bytes.size() < kZipEndBytes ? bytes.npos : bytes.rfind(kZipEnd, bytes.size() - kZipEndBytes);
  if (at == bytes.npos || bytes.size() - at > kZipEndBytes + kLongestComment)
    no_archive(input, "it has no end record (PK\\x05\\x06)");
  const auto comment = zip_number<std::uint16_t>(bytes, at + 20);
  if (comment > bytes.size() - at - kZipEndBytes) no_archive(input, "its end record is cut");
  End end{zip_number<std::uint32_t>(bytes, at + 16),
          zip_number<std::uint32_t>(bytes, at + 12),
          zip_number<std::uint16_t>(bytes, at + 10),
          at,
          false,
          bytes.substr(at + kZipEndBytes, comment)};
  if (at >= kZip64LocatorBytes &&
      bytes.substr(at - kZip64LocatorBytes).starts_with(kZip64Locator)) {
    end.at = zip_number<std::uint64_t>(bytes, at - kZip64LocatorBytes + 8);
    if (end.at > at - kZip64LocatorBytes || at - kZip64LocatorBytes - end.at < kZip64EndBytes ||
        !bytes.substr(end.at).starts_with(kZip64End))
      no_archive(input, "it has no zip64 end record (PK\\x06\\x06) at the offset that it names");
    end.wide = true;
    end.count = zip_number<std::uint64_t>(bytes, end.at + 32);
    end.bytes = zip_number<std::uint64_t>(bytes, end.at + 40);
    end.offset = zip_number<std::uint64_t>(bytes, end.at + 48);
  }
  if (end.offset > end.at || end.bytes > end.at - end.offset)
    no_archive(input, "its directory is not where its end record says");
  return end;
}

/// Reads the values of 64 bits from the extra fields; false if one is missing.
bool read_wide(std::string_view extra, ZipMember& member) {
  std::vector<std::uint64_t*> wide;
  for (std::uint64_t* each : {&member.size, &member.packed, &member.offset})
    if (*each == kZipWide) wide.push_back(each);
  while (!wide.empty() && !extra.empty()) {
    const std::string_view field = take_extra(extra);
    if (zip_number<std::uint16_t>(field, 0) != kZip64Extra) continue;
    if (field.size() < 4 + 8 * wide.size()) return false;
    for (std::size_t i = 0; i < wide.size(); ++i)
      *wide[i] = zip_number<std::uint64_t>(field, 4 + 8 * i);
    wide.clear();
  }
  return wide.empty();
}

/// The first member of a directory.
ZipMember first_member(const Input& input, std::string_view directory, std::uint64_t number) {
  const auto damaged = [&](std::string_view why) {
    no_archive(input, cat("record ", number, " of its directory ", why));
  };
  if (!directory.starts_with(kZipRecord)) damaged("does not begin with PK\\x01\\x02");
  const std::size_t name_bytes = zip_number<std::uint16_t>(directory, 28);
  const std::size_t extra_bytes = zip_number<std::uint16_t>(directory, 30);
  const std::size_t all =
      kZipRecordBytes + name_bytes + extra_bytes + zip_number<std::uint16_t>(directory, 32);
  if (all > directory.size()) damaged("is cut");
  std::string_view name = directory.substr(kZipRecordBytes, name_bytes);
  name = name.substr(0, name.find('\0'));
  const auto flags = zip_number<std::uint16_t>(directory, 8);
  ZipMember member{
      (flags & kZipUtf8) != 0 || is_utf8(name) ? std::string(name) : from_dos(name),
      (flags & kZipEncrypted) != 0,
      ZipMethod{zip_number<std::uint16_t>(directory, 10)},
      zip_number<std::uint32_t>(directory, 16),
      zip_number<std::uint32_t>(directory, 20),
      zip_number<std::uint32_t>(directory, 24),
      zip_number<std::uint32_t>(directory, 42),
      directory.substr(0, all),
  };
  if (!read_wide(directory.substr(kZipRecordBytes + name_bytes, extra_bytes), member))
    damaged("lacks its zip64 sizes");
  return member;
}

}  // namespace

ZipDirectory read_zip_directory(const Input& input) {
  const End end = end_of(input);
  ZipDirectory directory{{}, end.offset, end.comment};
  for (std::string_view rest = input.text().substr(end.offset, end.bytes); !rest.empty();) {
    directory.members.push_back(first_member(input, rest, directory.members.size()));
    rest.remove_prefix(directory.members.back().record.size());
  }
  const std::uint64_t count = directory.members.size();
  if (end.count != (end.wide ? count : count % 0x10000))
    no_archive(input,
               cat("its directory has ", count, " members, its end record says ", end.count));
  return directory;
}

std::vector<std::string_view> whole_members(const Input& input, const ZipDirectory& directory) {
  const std::string_view bytes = input.text();
  std::vector<std::size_t> order(directory.members.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return directory.members[a].offset < directory.members[b].offset;
  });
  std::vector<std::string_view> whole(order.size());
  std::uint64_t end = directory.offset;
  for (auto each = order.rbegin(); each != order.rend(); ++each) {
    const ZipMember& member = directory.members[*each];
    const std::string_view own =
        member.offset > end ? "" : bytes.substr(member.offset, end - member.offset);
    const std::uint64_t before =
        kZipHeaderBytes + zip_number<std::uint16_t>(own, 26) + zip_number<std::uint16_t>(own, 28);
    if (!own.starts_with(kZipHeader) || before > own.size() || member.packed > own.size() - before)
      no_archive(input,
                 cat("member ", in_quotes(member.name), " has no room of its own in the file"));
    whole[*each] = own;
    end = member.offset;
  }
  return whole;
}

}  // namespace tessera::io
