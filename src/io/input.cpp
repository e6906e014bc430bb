// Opens and reads an input path: maps regular files, reads pipes to their end, and waits briefly
// for the writer of a FIFO. All messages about files that cannot be opened come from here; the
// format readers see bytes only.
#include "input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "failure.hpp"
#include "memory.hpp"
#include "registry.hpp"
#include "tessera/core/text.hpp"
#include "tessera/io/array.hpp"
#include "uninterrupted.hpp"

namespace tessera::io {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ > STDERR_FILENO) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return number_; }

 private:
  int number_;
};

std::string advice_for(int code) {
  switch (code) {
    case ENOENT: return "check the name and the folder";
    case EACCES:
    case EPERM: return "ask for permission to read it";
    case ELOOP: return "a symbolic link leads back to itself; replace it";
    default: return {};
  }
}

/// A mapping of the whole file, or nothing if the file system does not support mappings.
bool map_file(int descriptor, Input& input) {
  void* base = mmap(nullptr, input.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (base == MAP_FAILED) {
    if (errno != ENOMEM) return false;
    throw Error(Category::resource, cat(input.path, ": not enough address space to map the file"),
                {}, bytes_text(static_cast<index_t>(input.size)), "raise the limit (ulimit -v)");
  }
  struct Mapping {
    void* base;
    std::size_t size;
    RegisteredMapping registered;
    Mapping(void* b, std::size_t s, const std::string& path)
        : base(b), size(s), registered(b, s, path, MappedFor::reading) {}
    ~Mapping() { munmap(base, size); }
  };
  input.owner = std::make_shared<Mapping>(base, input.size, input.path);
  input.data = static_cast<const std::byte*>(base);
  return true;
}

/// Waits up to a second for a FIFO's writer. A FIFO that was never opened for writing reports
/// neither data nor a hang-up. read_all waits for writers that are slow.
bool writer_came(int descriptor) {
  pollfd wait{descriptor, POLLIN, 0};
  return uninterrupted([&] { return poll(&wait, 1, 1000); }) > 0;
}

/// Reads to the end of the stream into a buffer that doubles.
void read_all(int descriptor, Input& input) {
  std::size_t capacity = std::max<std::size_t>(input.size + 1, std::size_t{1} << 20);
  auto buffer = zeroed_buffer(static_cast<index_t>(capacity), "the bytes of " + input.path);
  std::size_t size = 0;
  for (;;) {
    if (size == capacity) {
      auto larger = zeroed_buffer(static_cast<index_t>(2 * capacity), "the bytes of " + input.path);
      std::memcpy(larger.get(), buffer.get(), size);
      buffer = std::move(larger);
      capacity *= 2;
    }
    const ssize_t got = uninterrupted([&] {
      return read(descriptor, static_cast<std::byte*>(buffer.get()) + size,
                  std::min<std::size_t>(capacity - size, 1u << 30));
    });
    if (got == 0) break;
    if (got < 0 && errno == EAGAIN) {
      pollfd wait{descriptor, POLLIN, 0};
      poll(&wait, 1, -1);
      continue;
    }
    if (got < 0) bad_file(input.path, "reading failed: " + errno_text(errno));
    size += static_cast<std::size_t>(got);
  }
  input.size = size;
  input.data = static_cast<const std::byte*>(buffer.get());
  input.owner = std::move(buffer);
}

}  // namespace

int open_for_reading(const std::string& path) {
  // Without O_NONBLOCK, opening a FIFO waits for a writer, perhaps forever.
  int descriptor = uninterrupted(
      [&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); });
  if (descriptor >= 0 && descriptor <= STDERR_FILENO) {
    const int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(descriptor);
    descriptor = higher;
  }
  if (descriptor < 0) {
    const int code = errno;
    bad_file(path, "cannot be opened: " + errno_text(code), {}, {}, advice_for(code));
  }
  return descriptor;
}

Input open_input(const std::string& path) {
  Input input;
  const bool standard = path == "-";
  input.path = standard ? "stdin" : path;
  if (path.empty()) bad_file("''", "the name is empty", {}, {}, "name a file");
  const Descriptor descriptor(standard ? STDIN_FILENO : open_for_reading(path));
  struct stat info {};
  if (fstat(descriptor, &info) != 0) bad_file(input.path, errno_text(errno));
  if (S_ISDIR(info.st_mode)) {
    bad_file(input.path, "is a folder", "a file", {}, "name a file inside it");
  }
  if (S_ISBLK(info.st_mode) || S_ISCHR(info.st_mode)) {
    bad_file(input.path, isatty(descriptor) == 1 ? "is a terminal" : "is a device",
             "a file or a pipe");
  }
  if (S_ISREG(info.st_mode)) {
    input.size = static_cast<std::size_t>(info.st_size);
    const bool at_start = !standard || lseek(descriptor, 0, SEEK_CUR) == 0;
    if (input.size == 0 || !at_start || !map_file(descriptor, input)) read_all(descriptor, input);
  } else {
    const bool came = standard || writer_came(descriptor);
    read_all(descriptor, input);
    if (input.size == 0 && !came) {
      bad_file(path, "is a pipe that no process writes to", "a writer within one second", {},
               "start the writer first, or pipe it into '-'");
    }
  }
  if (input.size == 0) bad_file(input.path, "is empty", "a matrix", "0 bytes");
  return input;
}

}  // namespace tessera::io
