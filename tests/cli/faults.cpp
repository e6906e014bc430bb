// Makes a chosen call of a process fail: fault_test.py loads this library in front of the command
// (LD_PRELOAD). Other calls are passed on; this library never allocates.
//
//   TESSERA_FAULT=KIND:AT:HOW     the call number AT of that kind, counted from 1 in each process;
//                                 "AT+" means it and all that follow
//   KIND                          allocate open read write flush rename reserve close map thread
//   HOW                           an errno; or "short", a read or write of a single byte; or
//                                 "places": nothing fails, but calls from new places are reported
//   TESSERA_FAULT_REPORT=FILE     gets one line with the call's number for each fault or place
//
//   TESSERA_FAULT_FROM=main       counts from main on
//   TESSERA_FAULT_FILES=TEXT      of reads, writes, flushes and reservations, counts only those of
//                                 open files with this text in their names
//
// Counting begins before main, with the first call of the libraries' own start-up, unless told
// otherwise.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
// The allocator itself, whatever name it is called by.
void* __libc_malloc(std::size_t);                 // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t, std::size_t);    // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void*, std::size_t);         // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(std::size_t, std::size_t);  // NOLINT(bugprone-reserved-identifier)
}

namespace {

enum class Kind { allocate, open, read, write, flush, rename, reserve, close, map, thread, none };
constexpr const char* kKindNames[] = {"allocate", "open",    "read",  "write", "flush",
                                      "rename",   "reserve", "close", "map",   "thread"};

struct Wish {
  Kind kind = Kind::none;
  long at = 0;
  bool later_too = false;
  bool places = false;
  int code = 0;  ///< errno; 0 means a short transfer
  const char* report = nullptr;
  bool from_main = false;
  const char* files = nullptr;
};

std::atomic<bool> main_has_begun{false};

Wish parsed(const char* text) {
  Wish out;
  for (int i = 0; i < static_cast<int>(Kind::none); ++i) {
    const std::size_t length = std::strlen(kKindNames[i]);
    if (std::strncmp(text, kKindNames[i], length) == 0 && text[length] == ':') {
      out.kind = static_cast<Kind>(i);
      char* rest = nullptr;
      out.at = std::strtol(text + length + 1, &rest, 10);
      if (*rest == '+') out.later_too = true, ++rest;
      if (*rest == ':') ++rest;
      out.places = std::strcmp(rest, "places") == 0;
      out.code = std::strcmp(rest, "short") == 0 ? 0 : std::atoi(rest);
    }
  }
  out.report = std::getenv("TESSERA_FAULT_REPORT");
  out.from_main = std::getenv("TESSERA_FAULT_FROM") != nullptr;
  out.files = std::getenv("TESSERA_FAULT_FILES");
  return out;
}

/// What to do, once the environment can be read.
const Wish& wish() {
  static Wish found;
  static std::atomic<bool> known{false};
  if (!known.load() && environ != nullptr) {
    if (const char* text = std::getenv("TESSERA_FAULT")) found = parsed(text);
    known.store(true);
  }
  return found;
}

void report(long number) {
  const int saved = errno;
  if (const char* path = wish().report) {
    char line[24];
    const int size = std::snprintf(line, sizeof line, "%ld\n", number);
    const auto file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT, 0666);
    syscall(SYS_write, file, line, size);
    syscall(SYS_close, file);
  }
  errno = saved;
}

/// True the first time that the last few callers are these.
bool new_place() {
  constexpr int kFrames = 5;
  constexpr std::size_t kSlots = 1 << 16;
  static std::uint64_t seen[kSlots];
  void* frames[kFrames];
  const int depth = backtrace(frames, kFrames);
  std::uint64_t hash = 1469598103934665603u;  // FNV-1a
  for (int i = 2; i < depth; ++i)
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(frames[i])) * 1099511628211u;
  for (std::size_t slot = hash % kSlots;; slot = (slot + 1) % kSlots) {
    if (seen[slot] == hash) return false;
    if (seen[slot] == 0) return seen[slot] = hash, true;
  }
}

thread_local bool looking = false;  // backtrace allocates, too

/// True if an open file has a text in its name.
bool is_named(int file, const char* text) {
  char link[40], name[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const int saved = errno;
  const auto size = syscall(SYS_readlink, link, name, sizeof name - 1);
  errno = saved;
  name[size < 0 ? 0 : size] = '\0';
  return std::strstr(name, text) != nullptr;
}

/// Counts a call of `kind`, on an open file if it has one. True when it is to fail; errno is set.
bool fails(Kind kind, int file = -1) {
  static std::atomic<long> calls{0};
  const Wish& w = wish();
  if (kind == w.kind && file >= 0 && w.files != nullptr && !is_named(file, w.files)) return false;
  if (kind != w.kind || looking || (w.from_main && !main_has_begun)) return false;
  const long number = ++calls;
  if (w.places) {
    looking = true;
    if (new_place()) report(number);
    looking = false;
    return false;
  }
  if (number < w.at || (number > w.at && !w.later_too)) return false;
  report(number);
  if (w.code != 0) errno = w.code;
  return true;
}

/// A read or write: fails, or is cut to one byte.
template <class Call>
ssize_t transfer(Kind kind, int file, std::size_t size, Call call) {
  if (!fails(kind, file)) return call(size);
  if (wish().code != 0) return -1;
  return call(size < 1 ? size : 1);
}

/// The function of that name in the next library.
template <class Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::FILE* open_stream(const char* path, const char* mode) {
  static auto* const real = behind<std::FILE*(const char*, const char*)>("fopen");
  return fails(Kind::open) ? nullptr : real(path, mode);
}

int open_file(int folder, const char* path, int flags, va_list more) {
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  return fails(Kind::open) ? -1 : static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

}  // namespace

extern "C" {

// ---- start --------------------------------------------------------------------------------------

using Main = int(int, char**, char**);

namespace {
Main* real_main = nullptr;
int begin_main(int count, char** arguments, char** environment) {
  main_has_begun = true;
  return real_main(count, arguments, environment);
}
}  // namespace

/// What the C library calls main with (LSB 5.0, "__libc_start_main").
int __libc_start_main(  // NOLINT(bugprone-reserved-identifier)
    Main* main, int count, char** arguments, void (*init)(), void (*fini)(), void (*loader_fini)(),
    void* stack_end) {
  static auto* const real =
      behind<int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*)>(
          "__libc_start_main");
  real_main = main;
  return real(begin_main, count, arguments, init, fini, loader_fini, stack_end);
}

// ---- memory -------------------------------------------------------------------------------------

void* malloc(std::size_t size) { return fails(Kind::allocate) ? nullptr : __libc_malloc(size); }

void* calloc(std::size_t count, std::size_t size) {
  return fails(Kind::allocate) ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* memory, std::size_t size) {
  return fails(Kind::allocate) ? nullptr : __libc_realloc(memory, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails(Kind::allocate) ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  if (fails(Kind::allocate)) return ENOMEM;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}

void* mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) {
  if (fails((flags & MAP_ANONYMOUS) != 0 ? Kind::allocate : Kind::map)) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, file, offset));
}

void* mmap64(void* at, std::size_t size, int protection, int flags, int file, off_t offset) {
  return mmap(at, size, protection, flags, file, offset);
}

// ---- files --------------------------------------------------------------------------------------

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int file = open_file(AT_FDCWD, path, flags, more);
  va_end(more);
  return file;
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int file = open_file(AT_FDCWD, path, flags, more);
  va_end(more);
  return file;
}

int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int file = open_file(folder, path, flags, more);
  va_end(more);
  return file;
}

std::FILE* fopen(const char* path, const char* mode) { return open_stream(path, mode); }
std::FILE* fopen64(const char* path, const char* mode) { return open_stream(path, mode); }

int memfd_create(const char* name, unsigned flags) {  // waits for nothing, so nothing interrupts it
  return wish().code != EINTR && fails(Kind::open)
             ? -1
             : static_cast<int>(syscall(SYS_memfd_create, name, flags));
}

ssize_t read(int file, void* to, std::size_t size) {
  return transfer(Kind::read, file, size,
                  [&](std::size_t n) { return syscall(SYS_read, file, to, n); });
}

ssize_t pread(int file, void* to, std::size_t size, off_t at) {
  return transfer(Kind::read, file, size,
                  [&](std::size_t n) { return syscall(SYS_pread64, file, to, n, at); });
}

ssize_t preadv2(int file, const iovec* to, int count, off_t at, int flags) {
  const iovec first = count > 0 ? to[0] : iovec{};  // calls of ours have one part
  return transfer(Kind::read, file, first.iov_len, [&](std::size_t n) {
    const iovec part{first.iov_base, n};
    return syscall(SYS_preadv2, file, &part, 1, at, 0, flags);
  });
}

ssize_t recv(int socket, void* to, std::size_t size, int flags) {
  return transfer(Kind::read, socket, size, [&](std::size_t n) {
    return syscall(SYS_recvfrom, socket, to, n, flags, nullptr, nullptr);
  });
}

ssize_t write(int file, const void* from, std::size_t size) {
  return transfer(Kind::write, file, size,
                  [&](std::size_t n) { return syscall(SYS_write, file, from, n); });
}

ssize_t pwrite(int file, const void* from, std::size_t size, off_t at) {
  return transfer(Kind::write, file, size,
                  [&](std::size_t n) { return syscall(SYS_pwrite64, file, from, n, at); });
}

ssize_t send(int socket, const void* from, std::size_t size, int flags) {
  return transfer(Kind::write, socket, size, [&](std::size_t n) {
    return syscall(SYS_sendto, socket, from, n, flags, nullptr, 0);
  });
}

int fflush(std::FILE* stream) {
  static auto* const real = behind<int(std::FILE*)>("fflush");
  return stream == stdout && wish().code != EINTR && wish().code != 0 && fails(Kind::write)
             ? EOF
             : real(stream);
}

int fsync(int file) {
  return fails(Kind::flush, file) ? -1 : static_cast<int>(syscall(SYS_fsync, file));
}

int fdatasync(int file) {
  return fails(Kind::flush, file) ? -1 : static_cast<int>(syscall(SYS_fdatasync, file));
}

int rename(const char* from, const char* to) {
  return fails(Kind::rename) ? -1 : static_cast<int>(syscall(SYS_rename, from, to));
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return fails(Kind::rename)
             ? -1
             : static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

int link(const char* from, const char* to) {
  return fails(Kind::rename) ? -1 : static_cast<int>(syscall(SYS_link, from, to));
}

int ftruncate(int file, off_t size) {
  return fails(Kind::reserve, file) ? -1 : static_cast<int>(syscall(SYS_ftruncate, file, size));
}

int fallocate(int file, int mode, off_t at, off_t size) {
  return fails(Kind::reserve, file)
             ? -1
             : static_cast<int>(syscall(SYS_fallocate, file, mode, at, size));
}

int posix_fallocate(int file, off_t at, off_t size) {
  static auto* const real = behind<int(int, off_t, off_t)>("posix_fallocate");
  const int saved = errno;
  const bool failed = fails(Kind::reserve, file);
  errno = saved;
  return failed ? wish().code : real(file, at, size);
}

/// As on Linux, the file is closed in any case.
int close(int file) {
  const int result = static_cast<int>(syscall(SYS_close, file));
  return fails(Kind::close) ? -1 : result;
}

// ---- threads ------------------------------------------------------------------------------------

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*),
                   void* argument) {
  static auto* const real =
      behind<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return fails(Kind::thread) ? wish().code : real(thread, attributes, entry, argument);
}

}  // extern "C"
