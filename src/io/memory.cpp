// The available memory, and aligned buffers of zeros.
#include "memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "base/cgroup.hpp"
#include "tessera/core/text.hpp"
#include "tessera/io/array.hpp"

namespace tessera {
namespace {

constexpr index_t kUnlimited = std::numeric_limits<index_t>::max();

/// The content of a small kernel file; empty if it does not exist.
std::string small_file(const char* path) {
  std::string text;
  if (std::FILE* file = std::fopen(path, "re")) {
    char buffer[8192];
    text.assign(buffer, std::fread(buffer, 1, sizeof buffer, file));
    std::fclose(file);
  }
  return text;
}

/// The number after `key` in `text` (after blanks), or `otherwise`.
index_t number_after(std::string_view text, std::string_view key, index_t otherwise) {
  std::size_t at = text.find(key);
  if (at == std::string_view::npos) return otherwise;
  at = text.find_first_not_of(" \t", at + key.size());
  if (at == std::string_view::npos) return otherwise;
  index_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  return error == std::errc{} ? value : otherwise;
}

/// The address space that RLIMIT_AS still allows.
index_t address_space_room() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const index_t pages = number_after(small_file("/proc/self/statm"), "", 0);
  const index_t used = pages * sysconf(_SC_PAGESIZE);
  const auto allowed =
      static_cast<index_t>(std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(kUnlimited)));
  return std::max<index_t>(0, allowed - used);
}

}  // namespace

index_t available_memory() {
  const index_t free =
      number_after(small_file("/proc/meminfo"), "MemAvailable:", kUnlimited / 1024) * 1024;
  return std::min({free, index_t{cgroup_memory_room()}, address_space_room()});
}

namespace io {

std::shared_ptr<void> zeroed_buffer(index_t bytes, std::string_view what) {
  constexpr index_t huge = index_t{2} << 20;
  const auto refuse = [&](index_t room) {
    throw Error(Category::resource, cat("not enough memory for ", what, " (", bytes, " bytes)"),
                cat("at most ", bytes_text(room)), bytes_text(bytes),
                "use smaller matrices, a narrower type, or a machine with more memory");
  };
  // Linux may promise memory and kill the process when a page is touched, so check first.
  if (bytes >= 32 * huge) {
    const index_t room = available_memory();
    if (bytes > room) refuse(room);
  }
  if (bytes < huge) {
    const auto size = static_cast<std::size_t>((std::max<index_t>(bytes, 1) + 63) / 64 * 64);
    void* data = std::aligned_alloc(64, size);
    if (data == nullptr) refuse(available_memory());
    std::memset(data, 0, size);
    return {data, [](void* p) { std::free(p); }};
  }
  // Fresh pages are zero. Trim the mapping so that it starts at a huge page.
  const auto size = static_cast<std::size_t>((bytes + huge - 1) / huge * huge);
  const std::size_t mapped = size + static_cast<std::size_t>(huge);
  void* raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) refuse(available_memory());
  auto* begin = static_cast<std::byte*>(raw);
  auto* data = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(begin) + huge - 1) /
                                            huge * huge);
  if (data != begin) munmap(begin, static_cast<std::size_t>(data - begin));
  const auto tail = mapped - static_cast<std::size_t>(data - begin) - size;
  if (tail > 0) munmap(data + size, tail);
  madvise(data, size, MADV_HUGEPAGE);  // a hint: kernels without huge pages reject it
  return {data, [size](void* p) { munmap(p, size); }};
}

}  // namespace io
}  // namespace tessera
