// Do two arrays share memory, or does one hold an element twice? Decided from addresses and
// strides, without touching an element. Knows bytes only; matrices and Python's arrays become them.
#pragma once

#include <cstdint>
#include <span>

namespace tessera {

/// `count` places, 1 or more, `step` bytes apart; a step may be negative or 0.
struct ByteMode {
  std::int64_t count = 1, step = 0;
};

/// `size` bytes at `first` + the sum of i * step over all modes, i from 0 to count - 1. The
/// distances fit in 64 bits.
struct StridedBytes {
  const void* first = nullptr;
  std::int64_t size = 1;
  std::span<const ByteMode> modes;
};

/// Does an element of `a` share a byte with an element of `b`? `false` is certain. `true` is
/// certain too, unless a search of bounded length is inconclusive, which does not happen for
/// strides that come from slicing, transposing or broadcasting an array.
bool may_overlap(const StridedBytes& a, const StridedBytes& b);

/// Do two different elements of `a` share a byte? As certain as may_overlap().
bool may_overlap_itself(const StridedBytes& a);

}  // namespace tessera
