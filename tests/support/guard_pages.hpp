// Memory between two pages that must not be touched: an element read or written beyond its first or
// last one ends the program. Sealed, it may be read but not written.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "tessera/matmul/matrix.hpp"

namespace tessera::testing {

/// Which page the elements touch.
enum class Against { page_in_front, page_behind };

template <class T>
class BetweenPages {
 public:
  /// Room for `most` elements.
  explicit BetweenPages(index_t most) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    page_ = page;
    bytes_ = (static_cast<std::size_t>(most) * sizeof(T) + page - 1) / page * page;
    void* mapped = mmap(nullptr, bytes_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    inner_ = static_cast<char*>(mapped) + page;
    unseal();
  }
  ~BetweenPages() { munmap(inner_ - page_, bytes_ + 2 * page_); }
  BetweenPages(const BetweenPages&) = delete;
  BetweenPages& operator=(const BetweenPages&) = delete;

  /// `count` elements that end at the page behind, or begin at the page in front.
  T* place(index_t count, Against against) const {
    const std::size_t shift = against == Against::page_in_front
                                  ? 0
                                  : bytes_ - static_cast<std::size_t>(count) * sizeof(T);
    return reinterpret_cast<T*>(inner_ + shift);
  }
  void seal() const { mprotect(inner_, bytes_, PROT_READ); }
  void unseal() const { mprotect(inner_, bytes_, PROT_READ | PROT_WRITE); }

 private:
  char* inner_;
  std::size_t page_, bytes_;
};

}  // namespace tessera::testing
