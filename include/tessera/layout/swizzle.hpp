// Swizzle(bits, base, shift): an index with `bits` of its bits replaced by their exclusive-or with
// the bits `shift` places above. It permutes the indices of every aligned range of 2^(base + bits +
// shift), is its own inverse, and spreads the columns of a tile over the banks of shared memory.
#pragma once

#include "tessera/layout/layout.hpp"

namespace tessera {

struct Swizzle {
  int bits = 0;   ///< how many bits are mixed
  int base = 0;   ///< how many low bits stay: 2^base elements move together
  int shift = 0;  ///< how far above the mixing bits are; negative: below

  constexpr Swizzle() = default;
  /// Error(shape) unless 0 <= bits <= |shift| <= 31, base >= 0 and bits + base <= 31.
  constexpr Swizzle(int bits_, int base_, int shift_) : bits(bits_), base(base_), shift(shift_) {
    const int distance = shift < -31 || shift > 31 ? 32 : shift < 0 ? -shift : shift;
    if (bits < 0 || base < 0 || bits > 31 || base > 31 - bits || distance < bits || distance > 31)
      refused::a_swizzle_needs_0_to_31_bits_and_a_shift_of_at_least_bits(bits, base, shift);
  }

  /// The bits that mix in.
  TESSERA_HD constexpr index_t source_mask() const {
    return ((index_t{1} << bits) - 1) << (base + (shift > 0 ? shift : 0));
  }

  TESSERA_HD constexpr index_t operator()(index_t index) const {
    const index_t source = index & source_mask();
    return index ^ (shift >= 0 ? source >> shift : source << -shift);
  }

  /// The smallest range it maps to itself.
  constexpr index_t size() const {
    return index_t{1} << (bits + base + (shift < 0 ? -shift : shift));
  }
  constexpr index_t cosize() const { return size(); }

  friend constexpr bool operator==(const Swizzle&, const Swizzle&) = default;
};

namespace detail {

constexpr int swizzled_element(int bytes) {
  if (bytes < 1 || bytes > 16) refused::a_swizzle_needs_elements_of_1_to_16_bytes(bytes);
  return bytes;
}

}  // namespace detail

/// log2(n) of a power of two, refused otherwise.
constexpr int exact_log2(index_t n) {
  int bits = 0;
  while (n > 1 && n % 2 == 0) {
    n /= 2;
    ++bits;
  }
  if (n != 1) refused::a_swizzle_needs_powers_of_two(n);
  return bits;
}

/// The width of shared memory that a swizzle spreads over.
enum class SwizzleMode { none, bytes_32, bytes_64, bytes_128 };

/// The hardware's swizzles, in elements of `element_bytes`: 16-byte chunks are exchanged within
/// rows of 32, 64 or 128 bytes.
constexpr Swizzle make_swizzle(SwizzleMode mode, int element_bytes) {
  const int piece = 4 - exact_log2(detail::swizzled_element(element_bytes));
  return mode == SwizzleMode::none ? Swizzle(0, piece, 3)
                                   : Swizzle(static_cast<int>(mode), piece, 3);
}

/// For a row-major tile: chunks of `access_size` elements, rows of `row_size`; `num_rows` rows that
/// are read together use different chunks.
constexpr Swizzle make_swizzle(index_t num_rows, index_t row_size, index_t access_size) {
  const int bits = exact_log2(num_rows), base = exact_log2(access_size);
  const int shift = exact_log2(row_size) - base;
  return Swizzle(bits, base, shift > bits ? shift : bits);
}

/// For ldmatrix: eight rows of `row_size` elements, each read in 16-byte chunks.
constexpr Swizzle make_ldmatrix_swizzle(index_t row_size, int element_bytes) {
  const index_t piece = index_t{16} >> exact_log2(detail::swizzled_element(element_bytes));
  // Rows shorter than 128 bytes share the banks: then fewer bits, taken from further up.
  const index_t per_row = row_size / piece < 8 ? row_size / piece : 8;
  if (per_row < 1) refused::a_swizzle_needs_powers_of_two(row_size);
  const int bits = exact_log2(per_row), base = exact_log2(piece);
  const int shift = exact_log2(row_size) - base;
  return Swizzle(bits, base, shift > 3 ? shift : 3);
}

}  // namespace tessera
