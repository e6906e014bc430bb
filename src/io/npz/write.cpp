// Writes .npz. libzip writes to a sink that is our own temporary, so that the rules of AtomicFile
// apply, and copies the members of an old archive without unpacking them.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "io/failure.hpp"
#include "io/formats.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/quiet_signals.hpp"
#include "io/uninterrupted.hpp"
#include "io/zip_directory.hpp"

namespace tessera::io {
namespace {

/// libzip's source, the bytes of an old archive, and its sink, a file descriptor.
struct Sink {
  int descriptor;
  const Input* old;           ///< nullptr if there is none
  std::uint64_t read_at = 0;  ///< read position in the old archive
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
    // This error tells libzip that there is no old archive to read.
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

/// The archive is built in memory first, and that failed.
[[noreturn]] void failed_copy(const AtomicFile& file, const char* action, int code) {
  throw Error(Category::resource, cat("cannot write ", shown_output(file.path()), ": ", action,
                                      " its copy in memory failed: ", errno_text(code)));
}

/// Copies the in-memory file `descriptor` into a pipe or device.
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

/// Adds `content` as `member` or replaces the member; returns its index in the archive, or -1.
zip_int64_t put_member(const Archive& archive, const std::string& member, zip_source_t* content) {
  const auto entries = entries_of(archive);
  const Entry* const old = find_entry(entries, member);
  if (old == nullptr) {
    const std::string name = member + std::string(kSuffix);
    return zip_file_add(archive.get(), name.c_str(), content, ZIP_FL_ENC_UTF_8);
  }
  // Remove other members of this name: some readers take the first, others the last.
  for (const Entry& each : entries) {
    const bool same = each.name == old->name && each.bare == old->bare && each.index != old->index;
    if (same && zip_delete(archive.get(), each.index) != 0) return -1;
  }
  if (zip_file_replace(archive.get(), old->index, content, 0) != 0) return -1;
  return static_cast<zip_int64_t>(old->index);
}

/// Adds an array, or replaces the array of that name.
bool add_member(const Archive& archive, const NpzMember& member, Compression compression) {
  zip_buffer_fragment_t parts[] = {
      {reinterpret_cast<zip_uint8_t*>(const_cast<char*>(member.header.data())),
       member.header.size()},
      {static_cast<zip_uint8_t*>(const_cast<void*>(member.data)), member.bytes}};
  zip_source_t* content =
      zip_source_buffer_fragment(archive.get(), parts, member.bytes > 0 ? 2 : 1, 0);
  const zip_int64_t index = content == nullptr ? -1 : put_member(archive, member.name, content);
  if (index < 0) {
    if (content != nullptr) zip_source_free(content);
    return false;
  }
  const auto method = compression == Compression::stored ? ZIP_CM_STORE : ZIP_CM_DEFLATE;
  const auto entry = static_cast<zip_uint64_t>(index);
  // 1980-01-01 00:00, as NumPy: the same array always gives the same bytes.
  return zip_set_file_compression(archive.get(), entry, method, 0) == 0 &&
         zip_file_set_dostime(archive.get(), entry, 0, 0x21, 0) == 0;
}

/// Builds the archive in `sink`.
void write_archive(AtomicFile& file, Sink& sink, std::span<const NpzMember> members,
                   Compression compression) {
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
  for (const NpzMember& each : members)
    if (!add_member(archive, each, compression)) failed_write(file, *zip_get_error(archive.get()));
  if (zip_close(archive.get()) != 0) failed_write(file, *zip_get_error(archive.get()));
  static_cast<void>(archive.release());
}

}  // namespace

void write_npz(AtomicFile& file, std::span<const NpzMember> members, Compression compression,
               const Input* old) {
  if (old != nullptr) refuse_slow_archive(*old);
  // libzip patches sizes in afterwards; a pipe cannot seek, so it gets a copy built in memory.
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
  write_archive(file, sink, members, compression);
  if (!direct) pour(file, memory.descriptor);
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
