// .npz: a zip archive of .npy files, stored or deflated, through libzip. Reading works on the bytes
// in memory; writing gives libzip a sink that is our own temporary, so that the rules of AtomicFile
// hold here too.
#include <sys/mman.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <set>

#include "failure.hpp"
#include "formats.hpp"
#include "npy.hpp"
#include "quiet_signals.hpp"
#include "uninterrupted.hpp"

namespace tessera::io {
namespace {

/// deflate cannot shrink more than this; a member that claims more is a lie or a bomb.
constexpr std::uint64_t kMaxDeflateRatio = 1032;

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, CloseArchive>;
using Member = std::unique_ptr<zip_file_t, CloseMember>;

/// Lets the caller say it where libzip ran out of memory; there it often gives no reason at all.
void throw_if_memory(zip_error_t& error) {
  const int code = zip_error_code_zip(&error);
  if (code == ZIP_ER_MEMORY || code == ZIP_ER_OK) {
    zip_error_fini(&error);
    throw std::bad_alloc();
  }
}

std::string text_of(zip_error_t& error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

Archive open_archive(const Input& input) {
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
                 ? "it looks like an .npy: name it so"
                 : "the file is damaged or truncated");
  }
  return Archive(archive);
}

constexpr std::string_view kSuffix = ".npy";

struct Entry {
  std::string name;  ///< without .npy
  zip_uint64_t index;
  bool bare;  ///< without .npy in the archive too
};

/// Does the member begin as an .npy file? What cannot be unpacked does not.
bool begins_as_npy(const Archive& archive, zip_uint64_t index) {
  const Member file(zip_fopen_index(archive.get(), index, 0));
  char start[kNpyMagic.size()];
  return file && zip_fread(file.get(), start, sizeof start) == sizeof start &&
         std::string_view(start, sizeof start) == kNpyMagic;
}

/// The arrays: members called .npy, and others that NumPy too takes for arrays by how they begin.
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

/// Each name once, in the order of the archive.
std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const Entry& each : entries) {
    if (seen.insert(each.name).second) names.push_back(each.name);
  }
  return names;
}

/// The entry that np.load(...)[name] gives: `name` as it is in the archive, else without its .npy;
/// the last of several.
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

/// One member of an archive while it is unpacked.
class MemberReader {
 public:
  MemberReader(const Archive& archive, const Entry& entry, std::size_t archive_bytes,
               std::string path)
      : path_(std::move(path)) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(archive.get(), entry.index, 0, &stat) != 0) failed(archive);
    constexpr zip_uint64_t need =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if ((stat.valid & need) != need) bad("its zip entry is incomplete");
    if (stat.encryption_method != ZIP_EM_NONE) bad("it is encrypted");
    if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
      bad(cat("it is compressed with zip method ", static_cast<int>(stat.comp_method),
              " (only stored and deflated are read)"));
    }
    size_ = stat.size;
    const std::uint64_t packed = std::min<std::uint64_t>(stat.comp_size, archive_bytes);
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

  /// Exactly `count` bytes.
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

  /// The end is where it should be and the checksum is right.
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
  MemberReader member(archive, *entry, input.size, cat(input.path, ":", name));

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

namespace {

/// What libzip reads, the bytes of an old archive, and its sink, a file descriptor.
struct Sink {
  int descriptor;
  const Input* old;           ///< nullptr where there is none
  std::uint64_t read_at = 0;  ///< in the old archive
  std::uint64_t offset = 0;
  std::uint64_t end = 0;  ///< bytes written so far
  zip_error_t error;
};

zip_int64_t sink_write(Sink& sink, const void* data, zip_uint64_t length) {
  const QuietSignals quiet;
  const auto* bytes = static_cast<const std::byte*>(data);
  for (zip_uint64_t done = 0; done < length;) {
    const ssize_t got = uninterrupted([&] {
      return pwrite(sink.descriptor, bytes + done, length - done, static_cast<off_t>(sink.offset));
    });
    if (got < 0) {
      zip_error_set(&sink.error, ZIP_ER_WRITE, errno);
      return -1;
    }
    done += static_cast<zip_uint64_t>(got);
    sink.offset += static_cast<std::uint64_t>(got);
  }
  sink.end = std::max(sink.end, sink.offset);
  return static_cast<zip_int64_t>(length);
}

zip_int64_t sink_read(Sink& sink, void* data, zip_uint64_t length) {
  const std::uint64_t count = std::min<std::uint64_t>(length, sink.old->size - sink.read_at);
  if (count > 0) std::memcpy(data, sink.old->data + sink.read_at, count);
  sink.read_at += count;
  return static_cast<zip_int64_t>(count);
}

zip_int64_t sink_stat(Sink& sink, void* data, zip_uint64_t length) {
  if (sink.old == nullptr) {
    // libzip's way of saying that there is no old archive to read.
    zip_error_set(&sink.error, ZIP_ER_READ, ENOENT);
    return -1;
  }
  auto* const stat = ZIP_SOURCE_GET_ARGS(zip_stat_t, data, length, &sink.error);
  if (stat == nullptr) return -1;
  zip_stat_init(stat);
  stat->size = sink.old->size;
  stat->valid = ZIP_STAT_SIZE;
  return sizeof *stat;
}

/// Moves `at`, an offset in `size` bytes.
zip_int64_t sink_seek(Sink& sink, std::uint64_t& at, std::uint64_t size, void* data,
                      zip_uint64_t length) {
  const zip_int64_t to = zip_source_seek_compute_offset(at, size, data, length, &sink.error);
  if (to < 0) return -1;
  at = static_cast<std::uint64_t>(to);
  return 0;
}

zip_int64_t sink_command(void* state, void* data, zip_uint64_t length, zip_source_cmd_t command) {
  auto& sink = *static_cast<Sink*>(state);
  switch (command) {
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(
          ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
          ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS, ZIP_SOURCE_REMOVE,
          ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_BEGIN_WRITE, ZIP_SOURCE_ROLLBACK_WRITE,
          ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_WRITE, -1);
    case ZIP_SOURCE_OPEN: sink.read_at = 0; return 0;
    case ZIP_SOURCE_READ: return sink_read(sink, data, length);
    case ZIP_SOURCE_TELL: return static_cast<zip_int64_t>(sink.read_at);
    case ZIP_SOURCE_SEEK: return sink_seek(sink, sink.read_at, sink.old->size, data, length);
    case ZIP_SOURCE_STAT: return sink_stat(sink, data, length);
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&sink.error, data, length);
    case ZIP_SOURCE_WRITE: return sink_write(sink, data, length);
    case ZIP_SOURCE_TELL_WRITE: return static_cast<zip_int64_t>(sink.offset);
    case ZIP_SOURCE_SEEK_WRITE: return sink_seek(sink, sink.offset, sink.end, data, length);
    default: return 0;
  }
}

[[noreturn]] void failed_write(const AtomicFile& file, zip_error_t& error) {
  throw_if_memory(error);
  const int code = zip_error_system_type(&error) == ZIP_ET_SYS ? zip_error_code_system(&error) : 0;
  const std::string why = text_of(error);
  throw Error(Category::resource, cat("cannot write ", shown_output(file.path()), ": ", why), {},
              {},
              code == ENOSPC || code == EDQUOT
                  ? "free some space or write to another disk; nothing was changed"
              : code == EFBIG ? "the file-size limit (ulimit -f) is too small for the result"
                              : "");
}

/// The archive is made in memory first, and that did not work.
[[noreturn]] void failed_copy(const AtomicFile& file, const char* action, int code) {
  throw Error(Category::resource, cat("cannot write ", shown_output(file.path()), ": ", action,
                                      " its copy in memory failed: ", errno_text(code)));
}

/// Everything from the in-memory file `descriptor` into a pipe or device.
void pour(AtomicFile& file, int descriptor) {
  std::string buffer(1 << 20, '\0');
  off_t at = 0;
  for (;;) {
    const ssize_t got =
        uninterrupted([&] { return pread(descriptor, buffer.data(), buffer.size(), at); });
    if (got == 0) return;
    if (got < 0) failed_copy(file, "reading", errno);
    file.write(buffer.data(), static_cast<std::size_t>(got));
    at += got;
  }
}

/// Adds `content` under the name of `member` or in its place; its index in the archive, or -1.
zip_int64_t put_member(const Archive& archive, const std::string& member, zip_source_t* content) {
  const auto entries = entries_of(archive);
  const Entry* const old = find_entry(entries, member);
  if (old == nullptr) {
    const std::string name = member + std::string(kSuffix);
    return zip_file_add(archive.get(), name.c_str(), content, ZIP_FL_ENC_UTF_8);
  }
  // Others of the same name would stay hidden, and other readers take the first.
  for (const Entry& each : entries) {
    const bool same = each.name == old->name && each.bare == old->bare && each.index != old->index;
    if (same && zip_delete(archive.get(), each.index) != 0) return -1;
  }
  if (zip_file_replace(archive.get(), old->index, content, 0) != 0) return -1;
  return static_cast<zip_int64_t>(old->index);
}

/// Makes the archive in `sink`.
void write_archive(AtomicFile& file, Sink& sink, zip_buffer_fragment_t (&parts)[2],
                   const std::string& member, Compression compression) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* target = zip_source_function_create(sink_command, &sink, &error);
  if (target == nullptr) failed_write(file, error);
  const int mode = sink.old != nullptr ? 0 : ZIP_CREATE | ZIP_TRUNCATE;
  Archive archive(zip_open_from_source(target, mode, &error));
  if (!archive) {
    zip_source_free(target);
    failed_write(file, error);
  }
  zip_source_t* content =
      zip_source_buffer_fragment(archive.get(), parts, parts[1].length > 0 ? 2 : 1, 0);
  const zip_int64_t index = content == nullptr ? -1 : put_member(archive, member, content);
  if (index < 0) {
    if (content != nullptr) zip_source_free(content);
    failed_write(file, *zip_get_error(archive.get()));
  }
  const auto method = compression == Compression::stored ? ZIP_CM_STORE : ZIP_CM_DEFLATE;
  const auto entry = static_cast<zip_uint64_t>(index);
  // 1980-01-01 00:00, as NumPy: the same array gives the same bytes on every day.
  if (zip_set_file_compression(archive.get(), entry, method, 0) != 0 ||
      zip_file_set_dostime(archive.get(), entry, 0, 0x21, 0) != 0 || zip_close(archive.get()) != 0)
    failed_write(file, *zip_get_error(archive.get()));
  static_cast<void>(archive.release());
}

}  // namespace

void write_npz(AtomicFile& file, const Array& source, const std::string& member,
               Compression compression, const Input* old) {
  const Order order = natural_order(source);
  const Array array = contiguous(source, order);
  std::string header = npy_header(array.dtype(), array.shape(), order);

  // A zip's sizes are patched in afterwards, so a pipe gets a copy made in memory.
  const bool direct = file.is_regular();
  struct Close {
    int descriptor;
    ~Close() {
      if (descriptor >= 0) close(descriptor);
    }
  } memory{direct ? -1 : memfd_create("tessera.npz", MFD_CLOEXEC)};
  if (!direct && memory.descriptor < 0) failed_copy(file, "creating", errno);
  Sink sink{direct ? file.descriptor() : memory.descriptor, old, 0, 0, 0, {}};
  zip_error_init(&sink.error);
  zip_buffer_fragment_t parts[] = {{reinterpret_cast<zip_uint8_t*>(header.data()), header.size()},
                                   {static_cast<zip_uint8_t*>(const_cast<void*>(array.data())),
                                    static_cast<zip_uint64_t>(array.bytes())}};
  write_archive(file, sink, parts, member, compression);
  if (!direct) pour(file, memory.descriptor);
}

}  // namespace tessera::io
