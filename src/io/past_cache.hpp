// Long transfers between a file and memory past the page cache (O_DIRECT): they cost no copy, and
// one call keeps many requests of the disk under way. They move whole pages, whose place in memory
// must be that in the file. Where a file system has none, callers use the page cache.
#pragma once

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "tessera/core/config.hpp"
#include "uninterrupted.hpp"

namespace tessera::io {

constexpr index_t kPage = 4096;
/// The least bytes of a long transfer, and the most of one call.
constexpr index_t kLongTransfer = index_t{1} << 20, kLongestTransfer = index_t{32} << 20;

/// True if a transfer between `memory` and `offset` of a file may go past the page cache, except
/// for its first and last page.
inline bool may_pass_cache(const void* memory, index_t offset, index_t bytes) {
  const auto address = static_cast<index_t>(reinterpret_cast<std::uintptr_t>(memory));
  return bytes >= kLongTransfer && (address - offset) % kPage == 0;
}

/// An open file once more, for transfers past the page cache.
class PastCache {
 public:
  PastCache() = default;
  /// `access`: O_RDONLY or O_WRONLY.
  PastCache(int descriptor, int access)
      : descriptor_(uninterrupted([&] {
          return open(("/proc/self/fd/" + std::to_string(descriptor)).c_str(),
                      access | O_DIRECT | O_CLOEXEC);
        })) {}
  ~PastCache() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  PastCache(PastCache&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  PastCache& operator=(PastCache&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  /// Reads some of what is at `offset` into memory at the same place in a page: bytes, 0 at the end
  /// of the file, or -1. What the page cache of `cached`, the same file, has is taken from there.
  ssize_t read_some(int cached, index_t offset, void* to, index_t bytes) const {
    bytes = std::min(bytes, kLongestTransfer);
    if (descriptor_ >= 0) {
      const iovec piece{to, static_cast<std::size_t>(bytes)};
      const ssize_t got =
          uninterrupted([&] { return preadv2(cached, &piece, 1, offset, RWF_NOWAIT); });
      if (got > 0) return got;
      const index_t whole = whole_pages(offset, bytes);
      if (whole > 0) {
        const ssize_t direct = uninterrupted(
            [&] { return pread(descriptor_, to, static_cast<std::size_t>(whole), offset); });
        if (direct > 0) return direct;
      }
      bytes = partial_page(offset, bytes, whole);
    }
    return uninterrupted(
        [&] { return pread(cached, to, static_cast<std::size_t>(bytes), offset); });
  }

  /// Writes some of `from` at `offset`: bytes, or -1. A partial page goes through `cached`.
  ssize_t write_some(int cached, index_t offset, const void* from, index_t bytes) const {
    bytes = std::min(bytes, kLongestTransfer);
    if (descriptor_ >= 0) {
      const index_t whole = whole_pages(offset, bytes);
      if (whole > 0) {
        const ssize_t done = uninterrupted(
            [&] { return pwrite(descriptor_, from, static_cast<std::size_t>(whole), offset); });
        if (done > 0 || errno != EINVAL) return done;
      }
      bytes = partial_page(offset, bytes, whole);
    }
    return uninterrupted(
        [&] { return pwrite(cached, from, static_cast<std::size_t>(bytes), offset); });
  }

 private:
  static index_t whole_pages(index_t offset, index_t bytes) {
    return offset % kPage == 0 ? bytes / kPage * kPage : 0;
  }
  static index_t partial_page(index_t offset, index_t bytes, index_t whole) {
    return whole > 0 ? bytes : std::min(bytes, kPage - offset % kPage);
  }

  int descriptor_ = -1;
};

}  // namespace tessera::io
