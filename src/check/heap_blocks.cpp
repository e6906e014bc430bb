// Records the allocated heap blocks: see heap_blocks.hpp.
#include "tessera/check/heap_blocks.hpp"

#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace tessera::check {

namespace {

/// An allocator whose memory is not recorded, for the record itself.
template <class T>
struct Malloc {
  using value_type = T;
  Malloc() = default;
  template <class U>
  Malloc(const Malloc<U>&) {}
  T* allocate(std::size_t count) {
    if (void* const at = std::malloc(count * sizeof(T))) return static_cast<T*>(at);
    throw std::bad_alloc();
  }
  void deallocate(T* at, std::size_t) { std::free(at); }
  bool operator==(const Malloc&) const = default;
};

/// The allocated blocks: their ends by their first bytes.
struct HeapBlocks {
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t, std::less<>,
           Malloc<std::pair<const std::uint64_t, std::uint64_t>>>
      ends;

  static HeapBlocks& all() {
    static HeapBlocks* const blocks = new (std::malloc(sizeof(HeapBlocks))) HeapBlocks;
    return *blocks;  // never destroyed: other code frees blocks until the very end
  }
  void* added(void* at, std::size_t bytes) {
    if (at == nullptr) throw std::bad_alloc();
    const std::lock_guard lock(mutex);
    ends[reinterpret_cast<std::uint64_t>(at)] = reinterpret_cast<std::uint64_t>(at) + bytes;
    return at;
  }
  void remove(void* at) {
    {
      const std::lock_guard lock(mutex);
      ends.erase(reinterpret_cast<std::uint64_t>(at));
    }
    std::free(at);
  }
};

}  // namespace

void* new_block(std::size_t bytes) {
  return HeapBlocks::all().added(std::malloc(bytes > 0 ? bytes : 1), bytes);
}

void* new_block(std::size_t bytes, std::size_t alignment) {
  return HeapBlocks::all().added(std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment),
                                 bytes);
}

void delete_block(void* at) noexcept { HeapBlocks::all().remove(at); }

std::pair<std::uint64_t, std::uint64_t> heap_block_of(std::uint64_t address) {
  HeapBlocks& blocks = HeapBlocks::all();
  const std::lock_guard lock(blocks.mutex);
  const auto after = blocks.ends.upper_bound(address);
  if (after == blocks.ends.begin()) return {};
  const std::pair<std::uint64_t, std::uint64_t> block = *std::prev(after);
  if (address >= block.second) return {};
  return block;
}

}  // namespace tessera::check
