// For each piece of a memory, its last writer and the readers since, to find unordered accesses. A
// piece is as small as the smallest access so far: the rules act on bytes. Private to src/check.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "zeroed.hpp"

namespace tessera::check {

/// One access to a piece: time, thread, source position.
struct Mark {
  std::uint32_t epoch = 0;       ///< barriers of the block before it, plus 1
  std::uint32_t warp_epoch = 0;  ///< barriers of its warp before it
  std::uint16_t thread = 0;
  std::uint16_t site = 0;
};

/// The accesses of one kind (plain writes, atomic updates, plain reads) to a piece in the last
/// epoch that had any. Two are enough to decide for every later access whether any of them is
/// unordered with it: two of different warps, if there are such; else two of different threads
/// after the warp's last barrier, if there are such.
struct Marks {
  static constexpr std::uint16_t kNobody = 0xffff;
  std::uint32_t epoch = 0;       ///< as in Mark; 0: none yet
  std::uint32_t warp_epoch = 0;  ///< of the first; also of the second if it is of the same warp
  std::uint16_t thread[2] = {kNobody, kNobody}, site[2] = {};

  bool any() const { return epoch != 0; }
  /// `shift`: a warp has 2^shift lanes. Marks of one warp arrive in the order of its barriers.
  void add(const Mark& mark, int shift) {
    const auto warp_of = [&](int i) { return thread[i] >> shift; };
    if (epoch != mark.epoch) return start(mark);
    if (thread[1] != kNobody && warp_of(1) != warp_of(0)) return;
    if (mark.thread >> shift == warp_of(0)) {
      if (warp_epoch != mark.warp_epoch) return start(mark);
      if (thread[1] != kNobody || mark.thread == thread[0]) return;
    }
    thread[1] = mark.thread, site[1] = mark.site;
  }
  /// Calls body(thread, site, one_warp) for each of the two that is unordered with `mine`; returns
  /// whether there is one.
  template <class Body>
  bool unordered(const Mark& mine, int shift, Body&& body) const {
    if (epoch != mine.epoch) return false;
    bool found = false;
    for (int i = 0; i < 2; ++i) {
      if (thread[i] == kNobody || thread[i] == mine.thread) continue;
      const bool one_warp = thread[i] >> shift == mine.thread >> shift;
      // The time of a second one in another warp is unknown; it does not matter if the first one is
      // ordered with `mine`.
      if (one_warp && (thread[i] >> shift != thread[0] >> shift || warp_epoch != mine.warp_epoch))
        continue;
      found = true;
      body(thread[i], site[i], one_warp);
    }
    return found;
  }

 private:
  void start(const Mark& mark) {
    *this = {mark.epoch, mark.warp_epoch, {mark.thread, kNobody}, {mark.site, 0}};
  }
};

struct Cell {
  Marks write, update, read;
  std::uint64_t bits = 0;        ///< of the last plain write
  std::uint32_t generation = 0;  ///< of the tile when it was written
  std::uint16_t pending = 0;     ///< 1 + the thread whose asynchronous copy may still write
  std::uint16_t pending_site = 0;
  bool written() const { return write.any() || update.any(); }
  bool touched() const { return written() || read.any(); }
};
static_assert(sizeof(Cell) == 64, "the shadow of a memory: one cache line for each piece");

/// The cells of one memory, in pages that are allocated at the first access.
class Shadow {
 public:
  static constexpr std::size_t kPageCells = 64;  ///< a tile has rows of a few dozen

  /// Resets `bytes` bytes to untouched, in pieces of `piece` bytes, a power of two.
  void reset(std::uint64_t bytes, std::size_t piece);
  /// Resets to untouched, with pieces as after reset(). Keeps the memory.
  void clear();

  std::size_t piece() const { return std::size_t{1} << shift_; }
  /// Cells for an access of `bytes` at `offset`: [first, last).
  struct Range {
    std::uint64_t first, last;
  };
  Range range(std::uint64_t offset, std::size_t bytes) {
    if (((offset | bytes) & (piece() - 1)) != 0) [[unlikely]]
      split();
    return {offset >> shift_, (offset + bytes) >> shift_};
  }
  Cell& cell(std::uint64_t index) {
    auto& page = pages_[index / kPageCells];
    if (page == 0) [[unlikely]]
      page = new_page(index / kPageCells);
    return cells_[static_cast<std::size_t>(page - 1) * kPageCells + index % kPageCells];
  }
  /// Calls body(index, cell) for each cell of the allocated pages, in the order of the addresses.
  template <class Body>
  void for_each(Body&& body) {
    std::vector<std::uint64_t> pages = used_;
    std::sort(pages.begin(), pages.end());
    for (const std::uint64_t page : pages) {
      const auto first = static_cast<std::size_t>(pages_[page] - 1) * kPageCells;
      for (std::uint64_t i = 0; i < kPageCells; ++i) body(page * kPageCells + i, cells_[first + i]);
    }
  }

 private:
  int new_page(std::uint64_t page);
  /// Splits each piece into single bytes.
  void split();

  std::uint64_t bytes_ = 0;
  int shift_ = 0, first_shift_ = 0;
  Zeroed<int> pages_;                ///< by page: the number of its cells, in pages; 0: none
  std::vector<std::uint64_t> used_;  ///< the allocated pages
  std::vector<Cell> cells_;
};

}  // namespace tessera::check
