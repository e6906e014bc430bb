// Reads .npz: a zip archive of .npy files, stored or deflated. libzip decodes it from memory.
#include <zip.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "io/failure.hpp"
#include "io/formats.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/zip_directory.hpp"

namespace tessera::io {
namespace {

/// deflate cannot compress better than this; a member that claims more is damaged or a zip bomb.
constexpr std::uint64_t kMaxDeflateRatio = 1032;

Archive open_archive(const Input& input) {
  refuse_slow_archive(input);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(input.data, input.size, 0, &error);
  zip_t* archive = nullptr;
  if (source != nullptr) {
    archive = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (archive == nullptr) zip_source_free(source);
  }
  if (archive == nullptr) {
    throw_if_memory(error);
    const std::string why = text_of(error);
    bad_file(input.path, "is not a readable .npz (zip) archive: " + why, {}, {},
             input.text().substr(0, kNpyMagic.size()) == kNpyMagic
                 ? "it looks like an .npy file: rename it"
                 : "the file is damaged or truncated");
  }
  return Archive(archive);
}

/// True if the member begins as an .npy file; false if it cannot be unpacked.
bool begins_as_npy(const Archive& archive, zip_uint64_t index) {
  const Member file(zip_fopen_index(archive.get(), index, 0));
  if (!file && zip_error_code_zip(zip_get_error(archive.get())) == ZIP_ER_MEMORY)
    throw std::bad_alloc();
  char start[kNpyMagic.size()];
  return file && zip_fread(file.get(), start, sizeof start) == sizeof start &&
         std::string_view(start, sizeof start) == kNpyMagic;
}

}  // namespace

std::vector<Entry> entries_of(const Archive& archive) {
  std::vector<Entry> out;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* raw = zip_get_name(archive.get(), index, ZIP_FL_ENC_GUESS);
    if (raw == nullptr || *raw == '\0') continue;
    const std::string_view name = raw;
    if (name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix) {
      out.push_back({std::string(name.substr(0, name.size() - kSuffix.size())), index, false});
    } else if (name.back() != '/' && begins_as_npy(archive, index)) {
      out.push_back({std::string(name), index, true});
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
  if (text.size() <= kSuffix.size() || text.substr(text.size() - kSuffix.size()) != kSuffix)
    return nullptr;
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

/// An archive member that is being unpacked.
class MemberReader {
 public:
  MemberReader(const Archive& archive, const Entry& entry, std::string_view archive_text,
               std::string path)
      : path_(std::move(path)) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(archive.get(), entry.index, 0, &stat) != 0) failed(archive);
    // libzip trusts the directory and does not check the member's own header.
    if (!local_header_is_there(archive_text, entry.index)) {
      bad("its zip header does not begin with PK\\x03\\x04");
    }
    constexpr zip_uint64_t need =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if ((stat.valid & need) != need) bad("its zip entry is incomplete");
    if (stat.encryption_method != ZIP_EM_NONE) bad("it is encrypted");
    if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
      bad(cat("it is compressed with zip method ", static_cast<int>(stat.comp_method),
              " (only stored and deflated are read)"));
    }
    size_ = stat.size;
    const std::uint64_t packed = std::min<std::uint64_t>(stat.comp_size, archive_text.size());
    const std::uint64_t ratio = stat.comp_method == ZIP_CM_STORE ? 1 : kMaxDeflateRatio;
    if (size_ / ratio > packed) {
      bad_file(path_, "claims more bytes than its compressed data can hold",
               cat("at most ", packed * ratio, " bytes"), cat(size_, " bytes"),
               "the file is damaged or a zip bomb");
    }
    file_.reset(zip_fopen_index(archive.get(), entry.index, 0));
    if (!file_) failed(archive);
  }

  std::uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

  /// Reads exactly `count` bytes.
  void read(void* to, std::uint64_t count) {
    auto* bytes = static_cast<std::byte*>(to);
    while (count > 0) {
      const zip_int64_t got =
          zip_fread(file_.get(), bytes, std::min<std::uint64_t>(count, 1 << 30));
      if (got < 0) failed_read();
      if (got == 0) {
        bad_file(path_, "ends before its declared size", cat(size_, " bytes"), cat(done_, " bytes"),
                 "the file is damaged");
      }
      bytes += got;
      done_ += static_cast<std::uint64_t>(got);
      count -= static_cast<std::uint64_t>(got);
    }
  }

  /// Checks that the member ends here and that its checksum matches.
  void finish() {
    char more = 0;
    const zip_int64_t got = zip_fread(file_.get(), &more, 1);
    if (got < 0) failed_read();
    if (got > 0) bad("it has more bytes than declared");
  }

 private:
  [[noreturn]] void failed(const Archive& archive) const {
    throw_if_memory(*zip_get_error(archive.get()));
    bad(zip_strerror(archive.get()));
  }
  [[noreturn]] void failed_read() const {
    throw_if_memory(*zip_file_get_error(file_.get()));
    bad(zip_file_strerror(file_.get()));
  }
  [[noreturn]] void bad(std::string_view why) const {
    bad_file(path_, cat("cannot be unpacked: ", why), {}, {},
             "copy or download the archive again, or save it with np.savez");
  }

  std::string path_;
  std::uint64_t size_ = 0;
  std::uint64_t done_ = 0;
  Member file_;
};

}  // namespace

std::vector<std::string> list_npz(const Input& input) {
  return names_of(entries_of(open_archive(input)));
}

bool npz_holds(const Input& input, const std::string& member) {
  return find_entry(entries_of(open_archive(input)), member) != nullptr;
}

Array read_npz(const Input& input, const std::string& asked, std::optional<DType> untyped) {
  const Archive archive = open_archive(input);
  const auto entries = entries_of(archive);
  const Entry* entry = find_entry(entries, asked);
  const std::string name =
      entry != nullptr ? asked : choose_member(names_of(entries), asked, input.path);
  if (entry == nullptr) entry = find_entry(entries, name);
  MemberReader member(archive, *entry, input.text(), cat(input.path, ":", name));

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
