// Buffers for the slices of a streamed operand.
#pragma once

#include <vector>

#include "io/past_cache.hpp"
#include "tessera/io/array.hpp"

namespace tessera::scale {

/// Buffers that one thread fills and another one empties, in a ring. A block may begin anywhere in
/// the first page of a buffer.
class Slots {
 public:
  Slots(DType type, index_t count, index_t elements) : count_(count) {
    for (index_t n = 0; n < count; ++n)
      arrays_.push_back(make_array(type, {elements + io::kPage / size_of(type)}));
  }
  const Array& slot(index_t load) const { return arrays_[static_cast<std::size_t>(load % count_)]; }
  index_t filled = 0, released = 0;
  index_t count() const { return count_; }
  bool is_full() const { return filled - released >= count_; }

 private:
  index_t count_;
  std::vector<Array> arrays_;
};

/// A block of a matrix in a buffer, in the order of its file, so that reading needs no reordering.
/// It begins `place` bytes after the buffer's first one.
inline Array matrix_in(const Array& slot, Order order, index_t rows, index_t cols,
                       index_t place = 0) {
  const bool in_rows = order == Order::c;
  return {slot.dtype(),
          {rows, cols},
          in_rows ? std::vector<index_t>{cols, 1} : std::vector<index_t>{1, rows},
          static_cast<std::byte*>(slot.writable()) + place,
          nullptr};
}

}  // namespace tessera::scale
