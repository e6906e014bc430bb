// What `tessera check FILE.cpp` puts beside the file to make a program of it: main(), and an
// operator new that remembers its blocks, so that the checker knows where the memory of a tensor
// ends. Included there and nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace tessera::check {

struct Options;
struct ProductProblem;
struct Report;
int file_main(int argc, char** argv, Report (*check_kernel)(const Options&),
              std::uint64_t (*end_of_block)(std::uint64_t address),
              Report (*check_shape)(const Options&, const ProductProblem&));

namespace detail {

/// Memory that is not remembered, for what remembers.
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

/// The blocks that exist: their ends by their first bytes.
struct HeapBlocks {
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t, std::less<>,
           Malloc<std::pair<const std::uint64_t, std::uint64_t>>>
      ends;

  static HeapBlocks& all() {
    static HeapBlocks* const blocks = new (std::malloc(sizeof(HeapBlocks))) HeapBlocks;
    return *blocks;  // never destroyed: others free blocks until the very end
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
  /// Where the block ends that holds this byte; 0: no block does.
  static std::uint64_t end_of(std::uint64_t address) {
    HeapBlocks& blocks = all();
    const std::lock_guard lock(blocks.mutex);
    const auto behind = blocks.ends.upper_bound(address);
    if (behind == blocks.ends.begin()) return 0;
    const std::uint64_t end = std::prev(behind)->second;
    return address < end ? end : 0;
  }
};

}  // namespace detail

}  // namespace tessera::check

void* operator new(std::size_t bytes) {
  return tessera::check::detail::HeapBlocks::all().added(std::malloc(bytes > 0 ? bytes : 1), bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return tessera::check::detail::HeapBlocks::all().added(
      std::aligned_alloc(unit, (bytes / unit + 1) * unit), bytes);
}
void operator delete(void* at) noexcept { tessera::check::detail::HeapBlocks::all().remove(at); }
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }
void operator delete(void* at, std::align_val_t) noexcept { operator delete(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { operator delete(at); }

// A file has one of the two, or both; the other is null.
[[gnu::weak]] tessera::check::Report check_kernel(const tessera::check::Options&);
[[gnu::weak]] tessera::check::Report check_kernel(const tessera::check::Options&,
                                                  const tessera::check::ProductProblem&);

int main(int argc, char** argv) {
  return tessera::check::file_main(argc, argv, check_kernel,
                                   tessera::check::detail::HeapBlocks::end_of, check_kernel);
}
