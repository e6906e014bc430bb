// The bytes that a matrix occupies, or several of them at equal distances, as numbers. Addresses in
// 128 bits: nothing overflows that reach_fits() in call.hpp has accepted. Private to src/matmul.
#pragma once

#include <array>
#include <cstdint>

#include "base/overlap.hpp"
#include "tessera/matmul/matrix.hpp"

namespace tessera::detail {

using Int128 = __int128;

inline Int128 floor_mod(Int128 a, Int128 b) { return (a % b + b) % b; }

/// The bytes from the first to the last of a matrix, which is not empty: [low, high).
struct Reach {
  Int128 low, high;

  explicit Reach(const ConstMatrix& m) {
    const index_t size = size_of(m.dtype);
    const index_t down = (m.rows - 1) * m.row_stride, along = (m.cols - 1) * m.col_stride;
    const Int128 first = reinterpret_cast<std::intptr_t>(m.data);
    low = first + ((down < 0 ? down : 0) + (along < 0 ? along : 0)) * size;
    high = first + ((down > 0 ? down : 0) + (along > 0 ? along : 0) + 1) * size;
  }
};

/// `size` bytes at low + the sum of i * step over all modes, i from 0 to count - 1. Steps are
/// positive and differ, or are 0 in a mode that has one place.
struct Footprint {
  Int128 low = 0;
  std::int64_t size = 0;
  std::array<ByteMode, 3> modes;

  /// Of `count` matrices, each `step` elements further on. None is empty.
  explicit Footprint(const ConstMatrix& m, index_t count = 1, index_t step = 0)
      : low(reinterpret_cast<std::intptr_t>(m.data)), size(size_of(m.dtype)) {
    add(m.rows, m.row_stride);
    add(m.cols, m.col_stride);
    add(count, step);
  }

  StridedBytes bytes() const {
    return {reinterpret_cast<const void*>(static_cast<std::intptr_t>(low)), size, modes};
  }
  Int128 high() const {
    Int128 end = low + size;
    for (const ByteMode& mode : modes) end += Int128{mode.count - 1} * mode.step;
    return end;
  }
  /// Modulo `period`, steps that are multiples of it vanish; returns the length of the one interval
  /// that then contains all bytes.
  Int128 bytes_modulo(std::int64_t period) const {
    Int128 bytes = size;
    for (const ByteMode& mode : modes) {
      if (mode.step % period != 0) bytes += Int128{mode.count - 1} * mode.step;
    }
    return bytes;
  }

 private:
  void add(index_t extent, index_t stride) {
    if (extent == 1 || stride == 0) return;
    const std::int64_t step = (stride < 0 ? -stride : stride) * size;
    if (stride < 0) low -= Int128{extent - 1} * step;
    for (ByteMode& mode : modes) {
      if (mode.step != 0 && mode.step != step) continue;
      mode = {mode.count + extent - 1, step};  // one step twice: the number of values of the sum
      return;
    }
  }
};

}  // namespace tessera::detail
