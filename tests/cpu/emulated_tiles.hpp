// A tile unit in plain C++, for tile_kernel.hpp: what ldtilecfg, tilezero, tileloadd, tilestored
// and the dots do to the eight tiles, and when they fault, as Intel SDM vol. 2 and, for TDPFP16PS,
// the Instruction Set Extensions reference write it down. A fault is an exception here.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "tile_kernel.hpp"
#include "vector_portable.hpp"

namespace tessera::testing {
namespace {

inline void fault_if(bool wrong, const char* what) {
  if (wrong) throw std::logic_error(what);
}

/// DAZ = FTZ = 1: subnormal numbers are zeros of their sign.
inline float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.f, x) : x;
}

struct Tile {
  int rows = 0, bytes = 0;
  std::uint32_t k_groups[16][16] = {};
};

struct Tiles {
  inline static thread_local std::array<Tile, 8> tiles;
  inline static thread_local bool configured = false;

  static void configure(const cpu::TileConfig& config) {
    fault_if(config.palette != 1 || config.start_row != 0, "ldtilecfg: palette or start row");
    for (const std::uint8_t byte : config.reserved) fault_if(byte != 0, "ldtilecfg: reserved");
    for (int t = 0; t < 16; ++t) {
      const int rows = config.rows[t], bytes = config.row_bytes[t];
      fault_if(rows > 16 || bytes > 64 || (rows == 0) != (bytes == 0), "ldtilecfg: a shape");
      fault_if(t >= 8 && rows != 0, "ldtilecfg: more than eight tiles");
      if (t < 8) tiles[static_cast<std::size_t>(t)] = {rows, bytes, {}};
    }
    configured = true;
  }
  static void release() {
    tiles = {};
    configured = false;
  }
  template <int T>
  static Tile& tile() {
    Tile& out = std::get<T>(tiles);
    fault_if(!configured || out.rows == 0, "a tile that is not configured");
    return out;
  }
  template <int T>
  static void zero() {
    std::memset(tile<T>().k_groups, 0, sizeof(Tile{}.k_groups));
  }
  template <int T>
  static void load(const void* p, index_t step) {
    zero<T>();
    for (int r = 0; r < tile<T>().rows; ++r)
      std::memcpy(tile<T>().k_groups[r], static_cast<const char*>(p) + r * step,
                  static_cast<std::size_t>(tile<T>().bytes));
  }
  template <int T>
  static void load_once(const void* p, index_t step) {
    load<T>(p, step);
  }
  template <int T>
  static void store(void* p, index_t step) {
    for (int r = 0; r < tile<T>().rows; ++r)
      std::memcpy(static_cast<char*>(p) + r * step, tile<T>().k_groups[r],
                  static_cast<std::size_t>(tile<T>().bytes));
  }
};

/// The checks that all dots share, then row(c, m): row m of C.
template <int C, int A, int B, class Row>
void dot_rows(Row&& row) {
  static_assert(C != A && C != B && A != B);
  auto &c = Tiles::tile<C>(), &a = Tiles::tile<A>(), &b = Tiles::tile<B>();
  fault_if(c.rows != a.rows || c.bytes != b.bytes || a.bytes != 4 * b.rows, "a dot's shapes");
  fault_if(c.bytes % 4 != 0 || a.bytes % 4 != 0, "a dot of parts of words");
  for (int m = 0; m < c.rows; ++m) row(c, a, b, m);
}

/// TDPBF16PS and TDPFP16PS: value(element) is the f32 that is multiplied. The even and the odd
/// products of a tile are summed apart, each by fused multiply-adds, then together.
template <class Source>
struct FloatTiles : Tiles {
  static float value(std::uint32_t k_group, int half) {
    const Source element{static_cast<std::uint16_t>(k_group >> 16 * half)};
    const float x = cpu::float_of(element);
    return std::is_same_v<Source, cpu::BrainBits> ? flushed(x) : x;  // TDPFP16PS keeps subnormals
  }
  template <int C, int A, int B>
  static void dot() {
    dot_rows<C, A, B>([](Tile& c, const Tile& a, const Tile& b, int m) {
      for (int n = 0; n < c.bytes / 4; ++n) {
        float sums[2] = {0, 0};
        for (int k = 0; k < a.bytes / 4; ++k) {
          for (int half = 0; half < 2; ++half)
            sums[half] = flushed(
                std::fma(value(a.k_groups[m][k], half), value(b.k_groups[k][n], half), sums[half]));
        }
        const float both = flushed(sums[0] + sums[1]);
        c.k_groups[m][n] = std::bit_cast<std::uint32_t>(
            flushed(flushed(std::bit_cast<float>(c.k_groups[m][n])) + both));
      }
    });
  }
};

/// TDPBSSD, TDPBUUD, TDPBUSD and TDPBSUD: four products of bytes, and sums modulo 2^32.
template <class ByteOfA, class ByteOfB = ByteOfA>
struct ByteTiles : Tiles {
  template <int C, int A, int B>
  static void dot() {
    dot_rows<C, A, B>([](Tile& c, const Tile& a, const Tile& b, int m) {
      const auto product = [](std::uint32_t in_a, std::uint32_t in_b, int i) {
        return int{static_cast<ByteOfA>(in_a >> 8 * i)} * int{static_cast<ByteOfB>(in_b >> 8 * i)};
      };
      for (int k = 0; k < a.bytes / 4; ++k) {
        for (int n = 0; n < c.bytes / 4; ++n) {
          for (int i = 0; i < 4; ++i)
            c.k_groups[m][n] +=
                static_cast<std::uint32_t>(product(a.k_groups[m][k], b.k_groups[k][n], i));
        }
      }
    });
  }
};

/// Vectors that finish and pack.
template <class T, int Group>
struct TileKGroups : cpu::PortableBase<T, 4> {
  using k_group = std::uint32_t;
  static constexpr int group = Group;
};

/// K-groups unpacked in memory, one by one.
template <class Source_>
struct PlainKGroups {
  using source = Source_;
  static constexpr bool unconverted = false, rows_together = false;
  template <std::size_t N>
  static std::uint32_t k_group(const Source_ (&part)[N]) {
    return std::bit_cast<std::uint32_t>(part);
  }
};

using PairKGroups = TileKGroups<float, 2>;
using QuadKGroups = TileKGroups<std::int32_t, 4>;

/// The tables of kernels/amx.cpp over the emulation.
inline constexpr cpu::KernelsBf16Pairs kEmulatedBf16 =
    cpu::make_tile_kernels<FloatTiles<cpu::BrainBits>, PairKGroups, PlainKGroups<cpu::BrainBits>>(
        "emulated");
inline constexpr cpu::KernelsF16Pairs kEmulatedF16 =
    cpu::make_tile_kernels<FloatTiles<cpu::HalfBits>, PairKGroups, PlainKGroups<cpu::HalfBits>>(
        "emulated");
inline constexpr cpu::KernelsI8 kEmulatedI8 =
    cpu::make_tile_kernels<ByteTiles<std::int8_t>, QuadKGroups, PlainKGroups<std::int8_t>>(
        "emulated");
inline constexpr cpu::KernelsBytes kEmulatedU8I8 =
    cpu::make_tile_kernels<ByteTiles<std::uint8_t, std::int8_t>, QuadKGroups,
                           PlainKGroups<std::uint8_t>>("emulated");
inline constexpr cpu::KernelsBytes kEmulatedI8U8 =
    cpu::make_tile_kernels<ByteTiles<std::int8_t, std::uint8_t>, QuadKGroups,
                           PlainKGroups<std::uint8_t>>("emulated");
inline constexpr cpu::KernelsU8 kEmulatedU8 =
    cpu::make_tile_kernels<ByteTiles<std::uint8_t>, QuadKGroups, PlainKGroups<std::uint8_t>>(
        "emulated");

}  // namespace
}  // namespace tessera::testing
