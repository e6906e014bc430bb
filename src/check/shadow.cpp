// Pages of cells: see shadow.hpp.
#include "shadow.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tessera::check {

void Shadow::reset(std::uint64_t bytes, std::size_t piece) {
  bytes_ = bytes;
  shift_ = first_shift_ = std::countr_zero(piece);
  const std::uint64_t count = (bytes >> shift_) + 1;
  pages_.reset(static_cast<std::size_t>(count / kPageCells + 1));
  used_.clear();
  cells_.clear();
}

void Shadow::clear() {
  if (shift_ != first_shift_) return reset(bytes_, std::size_t{1} << first_shift_);
  for (const auto page : used_) pages_[static_cast<std::size_t>(page)] = 0;
  used_.clear();
  cells_.clear();
}

int Shadow::new_page(std::uint64_t page) {
  used_.push_back(page);
  cells_.resize(cells_.size() + kPageCells);
  return static_cast<int>(used_.size());
}

void Shadow::split() {
  const auto old_pages = std::move(pages_);
  const auto old_used = std::move(used_);
  const auto old_cells = std::move(cells_);
  const std::size_t pieces = piece();
  const int first_shift = first_shift_;
  reset(bytes_, 1);
  first_shift_ = first_shift;
  for (const std::uint64_t page : old_used) {
    for (std::uint64_t i = 0; i < kPageCells; ++i) {
      const Cell& old = old_cells[static_cast<std::size_t>(old_pages[page] - 1) * kPageCells + i];
      if (!old.touched()) continue;
      const std::uint64_t first = (page * kPageCells + i) * pieces;
      for (std::uint64_t byte = first; byte < std::min(first + pieces, bytes_); ++byte) {
        Cell& own = cell(byte);
        own = old;
        own.bits = old.bits >> (byte - first) % 8 * 8 & 0xff;
      }
    }
  }
}

}  // namespace tessera::check
