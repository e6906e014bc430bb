// For each piece of a memory who wrote it last and who has read it since, so that two accesses that
// nothing orders meet. A piece is as small as the smallest access so far: the rules act on bytes.
// Private to src/check.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::check {

/// One access to a piece: when, by whom, where in the source.
struct Mark {
  std::uint32_t epoch = 0;       ///< barriers of the block before it, plus 1; 0: there was none
  std::uint32_t warp_epoch = 0;  ///< barriers of its warp before it
  std::uint16_t thread = 0;
  std::uint16_t site = 0;
  bool is_atomic = false;
};

struct Cell {
  Mark write, read;  ///< the last write, the first read of the last epoch with reads
  Mark other_read;   ///< a read of that epoch by another thread, of another warp if there is one
  std::uint64_t bits = 0;        ///< of the last write
  std::uint32_t generation = 0;  ///< of the tile when it was written
  std::uint16_t pending = 0;     ///< 1 + the thread whose asynchronous copy may still write
  std::uint16_t pending_site = 0;
  bool plain_write = false, atomic_write = false, plain_read = false;  ///< at any time
  bool touched() const { return plain_write || atomic_write || plain_read; }
};

/// The cells of one memory, in pages that exist where something was accessed.
class Shadow {
 public:
  static constexpr std::size_t kPageCells = 256;

  /// All of `bytes` bytes untouched, in pieces of `piece` bytes, a power of two.
  void reset(std::uint64_t bytes, std::size_t piece);
  /// Nothing was touched; pieces are as after reset(). Keeps the memory.
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
    if (page < 0) [[unlikely]]
      page = new_page(index / kPageCells);
    return cells_[static_cast<std::size_t>(page) * kPageCells + index % kPageCells];
  }
  /// Calls body(index, cell) for each cell of the pages that exist, in the order of the addresses.
  template <class Body>
  void for_each(Body&& body) {
    for (std::uint64_t page = 0; page < pages_.size(); ++page) {
      if (pages_[page] < 0) continue;
      for (std::uint64_t i = 0; i < kPageCells; ++i)
        body(page * kPageCells + i,
             cells_[static_cast<std::size_t>(pages_[page]) * kPageCells + i]);
    }
  }

 private:
  int new_page(std::uint64_t page);
  /// Each piece becomes single bytes.
  void split();

  std::uint64_t bytes_ = 0;
  int shift_ = 0, first_shift_ = 0;
  std::vector<int> pages_;           ///< where the cells of a page begin, in pages; -1: nowhere
  std::vector<std::uint64_t> used_;  ///< the pages that exist
  std::vector<Cell> cells_;
};

}  // namespace tessera::check
