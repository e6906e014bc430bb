// Temporaries, renames and mapped outputs: the system calls of atomic_file.hpp. Each failure
// names the file and what to do. The old file stays untouched until commit() renames the temporary
// over it; the temporary is registered, so that a signal handler can remove it.
// Over 400 lines: its functions share the list of temporaries that a signal removes.
#include "tessera/io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>

#include "failure.hpp"
#include "npy.hpp"
#include "past_cache.hpp"
#include "quiet_signals.hpp"
#include "registry.hpp"
#include "tessera/core/text.hpp"
#include "uninterrupted.hpp"

namespace tessera {
namespace {

using io::errno_text;
using io::QuietSignals;
using io::shown_output;
using io::uninterrupted;

/// The user chose a path that cannot be an output.
[[noreturn]] void refuse(const std::string& path, std::string_view problem,
                         std::string advice = {}) {
  throw Error(Category::argument, cat("cannot write ", shown_output(path), ": ", problem), {}, {},
              std::move(advice));
}

/// A system call on an output failed with `code`.
[[noreturn]] void fail(const std::string& path, std::string_view action, int code) {
  const std::string problem =
      cat("cannot write ", shown_output(path), ": ", action, " failed: ", errno_text(code));
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      throw Error(Category::resource, problem, {}, {},
                  "free some space or write to another disk; nothing was changed");
    case EFBIG:
      throw Error(Category::resource, problem, {}, {},
                  "the file-size limit (ulimit -f) or the file system is too small for the result");
    case ENOMEM:
      throw Error(Category::resource, problem, {}, {},
                  "raise the limit (ulimit -v) or use a machine with more memory");
    case EPIPE: throw Error(Category::resource, problem, {}, {}, "the reader has closed the pipe");
    case EACCES:
    case EPERM:
    case EROFS:
      throw Error(Category::argument, problem, {}, {}, "choose a folder you may write to");
    case ENOENT:
    case ENOTDIR: throw Error(Category::argument, problem, {}, {}, "create the folder first");
    case ENAMETOOLONG:
    case ELOOP: throw Error(Category::argument, problem, {}, {}, "choose another name");
    default: throw Error(Category::resource, problem);
  }
}

/// The target of a chain of symbolic links; `path` itself if it is not a link.
std::string resolved(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
  char* real = realpath(path.c_str(), nullptr);
  if (real == nullptr) {
    const int code = errno;
    if (code != ENOENT && code != ENOTDIR && code != ELOOP) fail(path, "following the link", code);
    refuse(path, cat("it is a broken symbolic link (", errno_text(code), ")"),
           "remove the link or create what it points to");
  }
  std::string out = real;
  std::free(real);
  return out;
}

/// The folder part, made absolute so that a later change of directory does not affect it.
std::string folder_of(const std::string& target, const std::string& path) {
  const auto slash = target.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  char* real = realpath(folder.c_str(), nullptr);
  if (real == nullptr) {
    const int code = errno;
    fail(path, cat("finding the folder ", printable(folder)), code);
  }
  std::string out = real;
  std::free(real);
  return out;
}

std::string temporary_with(const std::string& folder, const std::string& base,
                           std::string_view tag) {
  // A file name may have at most 255 bytes.
  return cat(folder, "/.", base.substr(0, 200), ".", tag, ".tmp");
}

/// A hidden name beside the target that no other process uses.
std::string temporary_name(const std::string& folder, const std::string& base) {
  // std::random_device would make a packed program (cmake/packed.cmake) need a newer C library than
  // many systems have. Where the system call is missing, the time is the only source left.
  auto number = static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count());
  (void)getrandom(&number, sizeof number, 0);
  char tag[32];
  std::snprintf(tag, sizeof tag, "%d-%08x", static_cast<int>(getpid()), number);
  return temporary_with(folder, base, tag);
}

/// Moves the descriptor above stderr's: if stderr is closed, messages would otherwise land in the
/// file.
int above_stderr(int descriptor) {
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int code = errno;
  close(descriptor);
  errno = code;
  return higher;
}

/// Writes at `offset`; a negative one means the current position of the descriptor.
void write_all(int descriptor, const io::PastCache& past_cache, index_t offset,
               const std::byte* bytes, std::size_t size, const std::string& path) {
  const QuietSignals quiet;
  const auto count = static_cast<index_t>(size);
  const bool direct = offset >= 0 && io::may_pass_cache(bytes, offset, count);
  while (size > 0) {
    // Linux writes at most 2 GiB in one call.
    const std::size_t now = std::min<std::size_t>(size, 1u << 30);
    const ssize_t done =
        direct ? past_cache.write_some(descriptor, offset, bytes, static_cast<index_t>(size))
               : uninterrupted([&] {
                   return offset < 0 ? ::write(descriptor, bytes, now)
                                     : pwrite(descriptor, bytes, now, offset);
                 });
    if (done < 0) fail(path, "writing", errno);
    if (offset >= 0) offset += done;
    bytes += done;
    size -= static_cast<std::size_t>(done);
  }
}

/// fsync, if the file system supports it.
void flush(int descriptor, const std::string& path, std::string_view action) {
  if (uninterrupted([&] { return fsync(descriptor); }) == 0) return;
  if (errno != EINVAL && errno != ENOTSUP) fail(path, action, errno);
}

/// Closes the descriptor and reports a late write error. After EINTR it is closed as well.
void finish(int descriptor, const std::string& path) {
  if (close(descriptor) != 0 && errno != EINTR) fail(path, "closing", errno);
}

}  // namespace

struct AtomicFile::State {
  std::string path;       ///< the path that the caller gave
  std::string target;     ///< the absolute path after all links
  std::string folder;     ///< absolute
  std::string temporary;  ///< empty if the output is written directly
  std::optional<io::RegisteredTemporary> registered;
  Overwrite overwrite = Overwrite::refuse;
  Unfinished unfinished = Unfinished::remove;
  int descriptor = -1;
  io::PastCache past_cache;
  pid_t process = getpid();

  ~State() {
    if (descriptor > STDERR_FILENO) close(descriptor);
    // In a forked child the temporary still belongs to the parent.
    if (!temporary.empty() && unfinished == Unfinished::remove && process == getpid())
      unlink(temporary.c_str());
  }

  /// open() on a named pipe blocks until a reader comes, perhaps forever. This polls instead, for
  /// as long as an input waits for its writer.
  void open_direct() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    const auto attempt = [&] {
      return uninterrupted(
          [&] { return open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); });
    };
    int opened = attempt();
    while (opened < 0 && errno == ENXIO && std::chrono::steady_clock::now() < end) {
      const timespec pause{0, 10'000'000};
      nanosleep(&pause, nullptr);
      opened = attempt();
    }
    if (opened < 0 && errno == ENXIO) {
      throw Error(Category::file,
                  cat("cannot write ", shown_output(path), ": no process reads from it"),
                  "a reader within one second", {}, "start the reader first");
    }
    descriptor = above_stderr(opened);
    // A slow reader is not an error: wait for it.
    if (descriptor < 0 || fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) != 0)
      fail(path, "opening", errno);
  }

  void open_part(mode_t mode) {
    temporary = target + ".part";
    const int fresh = unfinished == Unfinished::begin ? O_EXCL : 0;
    descriptor = above_stderr(uninterrupted([&] {
      return open(temporary.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | fresh, mode);
    }));
    if (descriptor >= 0) return;
    const int code = errno;
    temporary.clear();
    if (code == EEXIST)
      refuse(path, cat(shown_output(path), ".part exists, but no journal of it"),
             "remove it or choose another output");
    fail(path, "creating the .part file beside it", code);
  }

  void open_temporary(mode_t mode, bool keep_mode) {
    const std::string base = target.substr(target.rfind('/') + 1);
    for (int attempt = 0; descriptor < 0; ++attempt) {
      temporary = temporary_name(folder, base);
      registered.emplace(temporary);
      const int made = uninterrupted(
          [&] { return open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode); });
      descriptor = above_stderr(made);
      if (descriptor >= 0) break;
      const int code = errno;
      if (made >= 0) unlink(temporary.c_str());
      registered.reset();
      temporary.clear();
      if (code != EEXIST || attempt == 100) fail(path, "creating a temporary beside it", code);
    }
    if (keep_mode && fchmod(descriptor, mode) != 0) fail(path, "setting the file mode", errno);
  }

  void move_into_place() {
    const unsigned no_replace = overwrite == Overwrite::refuse ? RENAME_NOREPLACE : 0;
    int result = renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str(), no_replace);
    if (result != 0 && errno == EINVAL && no_replace != 0) {
      // Without RENAME_NOREPLACE, link() also fails if the name exists.
      result = link(temporary.c_str(), target.c_str());
      if (result == 0) unlink(temporary.c_str());
      else if (errno != EEXIST) result = rename(temporary.c_str(), target.c_str());
    }
    if (result == 0) {
      temporary.clear();
      return;
    }
    if (errno == EEXIST) {
      refuse(path, "a file of that name has appeared", "choose another name, or --force");
    }
    fail(path, "renaming the temporary", errno);
  }
};

AtomicFile::AtomicFile(std::string path, Overwrite overwrite, Unfinished unfinished)
    : state_(new State) {
  State& s = *state_;
  s.path = std::move(path);
  s.overwrite = overwrite;
  s.unfinished = unfinished;
  if (s.path == "-") {
    s.descriptor = STDOUT_FILENO;
    return;
  }
  if (s.path.empty()) refuse("''", "the name is empty", "name a file");
  struct stat info {};
  const bool exists = stat(s.path.c_str(), &info) == 0;
  // Report an impossible name now rather than when the temporary is renamed.
  if (!exists && errno != ENOENT && errno != ELOOP) fail(s.path, "looking at it", errno);
  if (exists && S_ISDIR(info.st_mode)) {
    refuse(s.path, "it is a folder", "name a file inside it");
  }
  if (exists && !S_ISREG(info.st_mode)) {
    s.target = s.path;
    s.open_direct();
    return;
  }
  s.target = resolved(s.path);
  if (exists && overwrite == Overwrite::refuse) {
    refuse(s.path, "it exists already", "choose another name, or allow replacing it (--force)");
  }
  if (exists && access(s.target.c_str(), W_OK) != 0) {
    refuse(s.path, cat("it may not be changed (", errno_text(errno), ")"), "choose another name");
  }
  s.folder = folder_of(s.target, s.path);
  if (s.target.back() == '/') refuse(s.path, "the name ends in '/'", "name a file");
  s.target = s.folder + (s.folder == "/" ? "" : "/") + s.target.substr(s.target.rfind('/') + 1);
  const mode_t mode = exists ? info.st_mode & 07777u : 0666u;
  if (unfinished == Unfinished::remove) s.open_temporary(mode, exists);
  else s.open_part(mode);
}

AtomicFile AtomicFile::joined(std::string path, std::string_view tag) {
  AtomicFile out;
  State& s = *out.state_;
  s.path = std::move(path);
  const std::string target = resolved(s.path);
  const std::string base = target.substr(target.rfind('/') + 1);
  const std::string folder = folder_of(target, s.path);
  const std::string name =
      tag.empty() ? cat(folder, "/", base, ".part") : temporary_with(folder, base, tag);
  s.descriptor = above_stderr(
      uninterrupted([&] { return open(name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC); }));
  if (s.descriptor < 0)
    throw Error(Category::file,
                cat("cannot write ", shown_output(s.path),
                    ": the file that rank 0 has begun is not here (", errno_text(errno), ")"),
                {}, {}, "choose a folder that all ranks share");
  s.past_cache = io::PastCache(s.descriptor, O_WRONLY);
  return out;
}

AtomicFile::AtomicFile() : state_(new State) {}
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile::~AtomicFile() = default;

index_t other_names(const std::string& path) {
  struct stat info {};
  const bool file = path != "-" && stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  return file && info.st_nlink > 1 ? static_cast<index_t>(info.st_nlink) - 1 : 0;
}

void check_output(const std::string& path, Overwrite overwrite) {
  struct stat info {};
  // Opening a pipe or device now would disturb its reader.
  if (path != "-" && stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) &&
      !S_ISDIR(info.st_mode)) {
    return;
  }
  const AtomicFile probe(path, overwrite);
}

const std::string& AtomicFile::path() const { return state_->path; }
int AtomicFile::descriptor() const { return state_->descriptor; }
bool AtomicFile::is_regular() const { return !state_->temporary.empty(); }

void AtomicFile::write(const void* bytes, std::size_t size) {
  write_all(state_->descriptor, {}, -1, static_cast<const std::byte*>(bytes), size, state_->path);
}

void AtomicFile::write_at(index_t offset, const void* bytes, std::size_t size) {
  write_all(state_->descriptor, state_->past_cache, offset, static_cast<const std::byte*>(bytes),
            size, state_->path);
}

void AtomicFile::reserve(index_t size) {
  if (!is_regular() || size <= 0) return;
  const QuietSignals quiet;
  // Ask for the free space first: some file systems allocate all of it before they fail, and every
  // other program on the disk would fail in the meantime.
  struct statvfs disk {};
  if (fstatvfs(state_->descriptor, &disk) == 0 &&
      static_cast<double>(size) >
          static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize)) {
    fail(state_->path, cat("reserving ", bytes_text(size)), ENOSPC);
  }
  int code = 0;
  do {
    code = posix_fallocate(state_->descriptor, 0, size);
  } while (code == EINTR);
  if (code != 0) fail(state_->path, cat("reserving ", bytes_text(size)), code);
  if (size >= io::kLongTransfer) state_->past_cache = io::PastCache(state_->descriptor, O_WRONLY);
}

std::string AtomicFile::tag() const {
  if (state_->unfinished != Unfinished::remove) return {};
  const std::string& name = state_->temporary;  // FOLDER/.BASE.TAG.tmp
  const auto end = name.rfind('.');
  return end == std::string::npos
             ? ""
             : name.substr(name.rfind('.', end - 1) + 1, end - name.rfind('.', end - 1) - 1);
}

void AtomicFile::flush() { tessera::flush(state_->descriptor, state_->path, "flushing to disk"); }

void AtomicFile::commit() {
  State& s = *state_;
  if (!is_regular()) {
    if (s.descriptor > STDERR_FILENO) finish(std::exchange(s.descriptor, -1), s.path);
    return;
  }
  flush();
  finish(std::exchange(s.descriptor, -1), s.path);
  s.move_into_place();
  s.registered.reset();
  const int folder =
      uninterrupted([&] { return open(s.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (folder < 0) return;  // the folder is only writable; the rename itself has succeeded
  try {
    tessera::flush(folder, s.path, "flushing its folder");
  } catch (...) {
    close(folder);
    throw;
  }
  close(folder);
}

MappedOutput::MappedOutput(std::string path, DType dtype, std::vector<index_t> shape,
                           Overwrite overwrite, Order order)
    : MappedOutput(std::make_unique<AtomicFile>(std::move(path), overwrite), dtype,
                   std::move(shape), order) {}

MappedOutput::MappedOutput(std::unique_ptr<AtomicFile> file, DType dtype,
                           std::vector<index_t> shape, Order order)
    : file_(std::move(file)) {
  const std::string& path = file_->path();
  if (!file_->is_regular()) {
    refuse(path, "only a file on a disk can be mapped", "use write_array");
  }
  const std::string header = io::npy_header(dtype, shape, order);
  const index_t bytes = checked_count(shape, size_of(dtype), path) * size_of(dtype);
  index_t total = 0;
  if (__builtin_add_overflow(bytes, static_cast<index_t>(header.size()), &total)) {
    throw Error(Category::shape, cat(path, ": ", shape_text(shape), " is too large"));
  }
  file_->reserve(total);
  file_->write(header);
  length_ = static_cast<std::size_t>(total);
  base_ = mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_SHARED, file_->descriptor(), 0);
  if (base_ == MAP_FAILED) {
    base_ = nullptr;
    fail(path, "mapping it into memory", errno);
  }
  registered_ =
      std::make_unique<io::RegisteredMapping>(base_, length_, path, io::MappedFor::writing);
  auto strides = contiguous_strides(shape, order);
  array_ = Array(dtype, std::move(shape), std::move(strides),
                 static_cast<std::byte*>(base_) + header.size(), nullptr);
}

void MappedOutput::unmap() noexcept {
  registered_.reset();
  array_ = Array();
  if (base_ != nullptr) munmap(base_, length_);
  base_ = nullptr;
}

MappedOutput::~MappedOutput() { unmap(); }

void MappedOutput::commit() {
  // The file receives pages written through the mapping as soon as it is unmapped; commit() flushes
  // them and reports write errors.
  unmap();
  file_->commit();
}

StreamedOutput::StreamedOutput(std::string path, DType dtype, const std::vector<index_t>& shape,
                               Overwrite overwrite)
    : file_(std::move(path), overwrite),
      dtype_(dtype),
      missing_(checked_count(shape, size_of(dtype), file_.path())) {
  const std::string header = io::npy_header(dtype, shape, Order::c);
  index_t total = 0;
  if (__builtin_add_overflow(missing_ * size_of(dtype), static_cast<index_t>(header.size()),
                             &total)) {
    throw Error(Category::shape, cat(file_.path(), ": ", shape_text(shape), " is too large"));
  }
  file_.reserve(total);
  file_.write(header);
}

void StreamedOutput::append(const void* elements, index_t count) {
  if (count < 0 || count > missing_) {
    throw Error(Category::argument, cat(file_.path(), ": more elements than its shape has"),
                cat("at most ", missing_), cat(count));
  }
  file_.write(elements, static_cast<std::size_t>(count * size_of(dtype_)));
  missing_ -= count;
  // A hint: writeback starts now, so that the final flush is short.
  if (file_.is_regular()) sync_file_range(file_.descriptor(), 0, 0, SYNC_FILE_RANGE_WRITE);
}

void StreamedOutput::commit() {
  if (missing_ != 0) {
    throw Error(Category::argument, cat(file_.path(), ": elements are missing"), "none",
                cat(missing_));
  }
  file_.commit();
}

}  // namespace tessera
