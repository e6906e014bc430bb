// The 64 bits by which a warpgroup's matrix unit finds an operand in shared memory (PTX ISA
// 9.7.15.5.1, "Matrix Descriptor Format"), derived from a Layout and a swizzle; and the address
// from which the unit then reads each element. An operand maps (mn, k), a row of A or a column of B
// and a depth, to
// elements. K-major: neighbours along k are contiguous. MN-major: neighbours along mn do.
#pragma once

#include <cstdint>

#include "tessera/layout/swizzle.hpp"

namespace tessera {

enum class Major : std::uint8_t { k, mn };

/// The fields of a descriptor, in bytes. A swizzle's pattern begins at multiples of 1024 bytes
/// (128-byte rows), 512 or 256: so must the operand, and base_offset is 0.
struct UnitDescriptor {
  std::uint32_t start = 0;    ///< start address of the operand, 18 bits
  std::uint32_t leading = 0;  ///< "leading dimension byte offset"
  std::uint32_t stride = 0;   ///< "stride dimension byte offset"
  std::uint32_t base_offset = 0;
  SwizzleMode mode = SwizzleMode::none;
  constexpr bool operator==(const UnitDescriptor&) const = default;
};

/// An address in shared memory as the descriptor's field holds it.
TESSERA_HD constexpr std::uint32_t descriptor_address(std::uint32_t address) {
  return (address & 0x3ffff) >> 4;
}

constexpr std::uint64_t bits_of(const UnitDescriptor& d) {
  const auto field = [](std::uint32_t bytes) { return std::uint64_t{descriptor_address(bytes)}; };
  const int mode = static_cast<int>(d.mode);
  return field(d.start) | field(d.leading) << 16 | field(d.stride) << 32 |
         std::uint64_t{d.base_offset & 7} << 49 |
         static_cast<std::uint64_t>(mode == 0 ? 0 : 4 - mode) << 62;
}

constexpr UnitDescriptor descriptor_of(std::uint64_t bits) {
  const auto field = [&](int at) { return static_cast<std::uint32_t>(bits >> at & 0x3fff) << 4; };
  const int mode = static_cast<int>(bits >> 62);
  return {field(0), field(16), field(32), static_cast<std::uint32_t>(bits >> 49 & 7),
          static_cast<SwizzleMode>(mode == 0 ? 0 : 4 - mode)};
}

/// Bytes of a row of the swizzle's pattern; 16 without a swizzle.
constexpr int row_bytes(SwizzleMode mode) { return 16 << static_cast<int>(mode); }
/// Bytes of the whole pattern, at multiples of which operands begin.
constexpr int swizzle_bytes(SwizzleMode mode) {
  return mode == SwizzleMode::none ? 16 : 8 * row_bytes(mode);
}

/// The address from which the unit reads element (mn, k) of one instruction, for elements of
/// `bytes` bytes.
constexpr std::uint32_t unit_address(const UnitDescriptor& d, Major major, int mn, int k,
                                     int bytes) {
  const int wide = 16 / bytes, row = row_bytes(d.mode), chunks = row / 16;
  const bool swizzled = d.mode != SwizzleMode::none;
  const auto steps = [](int count, std::uint32_t step) {
    return static_cast<std::uint32_t>(count) * step;
  };
  std::uint32_t offset = 0;
  if (major == Major::k) {
    offset = steps(mn % 8, static_cast<std::uint32_t>(row)) + steps(mn / 8, d.stride) +
             steps(k / wide, swizzled ? 16 : d.leading) + steps(k % wide * bytes, 1);
  } else if (swizzled) {
    offset = steps(mn % wide * bytes, 1) + steps(mn / wide % chunks, 16) +
             steps(mn / (wide * chunks), d.leading) +
             steps(k % 8, static_cast<std::uint32_t>(row)) + steps(k / 8, d.stride);
  } else {
    offset = steps(mn % wide * bytes, 1) + steps(mn / wide, d.stride) + steps(k % 8, 16) +
             steps(k / 8, d.leading);
  }
  const std::uint32_t address = (d.start + offset) & 0x3ffff;
  const std::uint32_t mixed = (std::uint32_t{1} << static_cast<int>(d.mode)) - 1;
  return address ^ (address >> 7 & mixed) << 4;
}

namespace detail {

/// Is the layout K-major or MN-major?
constexpr Major major_of(const Layout& l) {
  return l(0, 1) == 1 && l.shape.mode(1).product() > 1 ? Major::k : Major::mn;
}

/// The descriptor of an operand that begins at 0.
constexpr UnitDescriptor describe(const Layout& l, SwizzleMode mode, int bytes) {
  const auto distance = [&](index_t mn, index_t k) {
    const bool exists = mn < l.shape.mode(0).product() && k < l.shape.mode(1).product();
    return exists ? static_cast<std::uint32_t>(l(mn, k) * bytes) : 0;
  };
  const int wide = 16 / bytes, row = row_bytes(mode) / bytes;
  const bool swizzled = mode != SwizzleMode::none;
  UnitDescriptor d{.mode = mode};
  if (major_of(l) == Major::k) {
    d.leading = swizzled ? 16 : distance(0, wide);  // not used with a swizzle
    d.stride = distance(8, 0);
  } else {
    d.leading = swizzled ? distance(row, 0) : distance(0, 8);
    d.stride = swizzled ? distance(0, 8) : distance(wide, 0);
  }
  return d;
}

/// With such descriptors, does the unit read every element from where the layout and the swizzle
/// put it? Instructions take 32 bytes of k each and begin at l(0, k), which is not swizzled. Tests
/// one element for each stride of the layout.
constexpr bool is_canonical(const Layout& l, SwizzleMode mode, int bytes) {
  const Swizzle swizzle = make_swizzle(mode, bytes);
  const int depth = 32 / bytes;
  const auto rows = static_cast<int>(l.shape.mode(0).product());
  const auto columns = static_cast<int>(l.shape.mode(1).product());
  if (rows % 8 != 0 || columns % depth != 0) return false;
  UnitDescriptor d = describe(l, mode, bytes);
  for (const int first : {0, depth, columns - depth}) {
    if (first >= columns) continue;
    d.start = static_cast<std::uint32_t>(l(0, first) * bytes);
    for (const int mn : {0, 1, 2, 4, 8, 16, 32, 64, 128, rows - 1}) {
      for (const int k : {0, 1, 2, 4, 8, 16, depth - 1}) {
        if (mn >= rows || k >= depth) continue;
        const auto wanted = static_cast<std::uint32_t>(swizzle(l(mn, first + k)) * bytes);
        if (unit_address(d, major_of(l), mn, k, bytes) != wanted) return false;
      }
    }
  }
  return true;
}

}  // namespace detail

/// The layout of an operand of `mn` x `k` elements that a unit reads and bulk copies fill, in rows
/// of 128 bytes: K-major (mn,k):(k,1), MN-major in panels as wide as a row.
template <class T>
constexpr Layout unit_layout(Major major, int mn, int k) {
  constexpr int wide = 128 / static_cast<int>(sizeof(T));
  if (major == Major::k) return row_major(mn, k);
  if (mn <= wide) return {tuple(mn, k), tuple(1, wide)};
  return {tuple(tuple(wide, mn / wide), k), tuple(tuple(1, wide * k), wide)};
}

}  // namespace tessera
