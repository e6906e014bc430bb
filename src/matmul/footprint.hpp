// The bytes that a matrix occupies, or several of them at equal distances, as numbers. In 128 bits:
// nothing overflows that reach_fits() in call.hpp has let through. Private to src/matmul.
#pragma once

#include <array>
#include <cstdint>

#include "tessera/matmul/matrix.hpp"

namespace tessera::detail {

using Wide = __int128;

inline Wide floor_mod(Wide a, Wide b) { return (a % b + b) % b; }
inline Wide floor_div(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }

/// `count` places, `step` bytes apart.
struct Mode {
  std::int64_t count = 1, step = 0;
};

/// `size` bytes at low + the sum of i * step over all modes, i from 0 to count - 1. Steps are
/// positive and differ, or are 0 in a mode that has one place.
struct Footprint {
  Wide low = 0;
  std::int64_t size = 0;
  std::array<Mode, 3> modes;

  /// Of `count` matrices, each `step` elements further on. None is empty.
  explicit Footprint(const ConstMatrix& m, index_t count = 1, index_t step = 0)
      : low(reinterpret_cast<std::intptr_t>(m.data)), size(size_of(m.dtype)) {
    add(m.rows, m.row_stride);
    add(m.cols, m.col_stride);
    add(count, step);
  }

  /// How many places there are along a step.
  std::int64_t count(std::int64_t step) const {
    for (const Mode& mode : modes) {
      if (mode.step == step) return mode.count;
    }
    return 1;
  }
  Wide high() const {
    Wide end = low + size;
    for (const Mode& mode : modes) end += Wide{mode.count - 1} * mode.step;
    return end;
  }
  /// Modulo `period` steps that are multiples of it vanish, the others spread: all bytes are in one
  /// interval of so many.
  Wide bytes_modulo(std::int64_t period) const {
    Wide bytes = size;
    for (const Mode& mode : modes) {
      if (mode.step % period != 0) bytes += Wide{mode.count - 1} * mode.step;
    }
    return bytes;
  }

 private:
  void add(index_t extent, index_t stride) {
    if (extent == 1 || stride == 0) return;
    const std::int64_t step = (stride < 0 ? -stride : stride) * size;
    if (stride < 0) low -= Wide{extent - 1} * step;
    for (Mode& mode : modes) {
      if (mode.step != 0 && mode.step != step) continue;
      mode = {mode.count + extent - 1, step};  // one step twice: the sum takes so many values
      return;
    }
  }
};

}  // namespace tessera::detail
