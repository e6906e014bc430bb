// The matrix units of a warpgroup, four warps that begin at a multiple of four: D (M,N) += A (M,K)
// * B (K,N), both operands in shared memory as UnitTiles, the sums in the registers of the 128
// threads. Instructions run asynchronously: between the first one and wait_mma() no thread may
// access the sums or overwrite the operands. Needs sm_90a on a GPU (PTX ISA 9.7.15).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tessera/ops/bulk.hpp"
#include "tessera/ops/unit_arithmetic.hpp"
#if defined(__CUDACC__)
#include "tessera/simt/cuda_wgmma.cuh"
#else
#include "tessera/simt/async_observer.hpp"
#endif

namespace tessera {

inline constexpr int kWarpgroupThreads = 128;

/// Some rows of a UnitTile, as an operand.
template <class Tile, int Rows>
struct UnitOperand {
  using tile_type = Tile;
  static constexpr int rows = Rows;
  const typename Tile::element* first;
};

/// The rows from part * Rows on.
template <int Rows, class Tile>
TESSERA_HD constexpr UnitOperand<Tile, Rows> rows(const Tile& tile, int part) {
  static_assert(Rows % 8 == 0 && Tile::rows % Rows == 0, "rows<R>: R is a multiple of 8 rows");
  constexpr int distance = static_cast<int>(Tile::rows > Rows ? Tile::layout(Rows, 0) : 0);
  static_assert(Tile::major == Major::k || Tile::rows == Rows ||
                    distance % (row_bytes(Tile::mode) / sizeof(typename Tile::element)) == 0,
                "rows<R> of an MN-major tile: whole panels");
  detail::tell_tile(tile);
  return {tile.elements + part * distance};
}
template <class Tile>
TESSERA_HD constexpr UnitOperand<Tile, Tile::rows> whole(const Tile& tile) {
  detail::tell_tile(tile);
  return {tile.elements};
}

/// Some rows of an OperandTile, as an operand of which the major is known at run time.
template <class Tile, int Rows>
struct EitherOperand {
  Tile& tile;
  Major major;
  int part;
};
template <int Rows, class T, int R, int C>
TESSERA_HD constexpr EitherOperand<OperandTile<T, R, C>, Rows> part(OperandTile<T, R, C>& tile,
                                                                    Major major, int part = 0) {
  return {tile, major, part};
}

namespace detail {

inline constexpr MatrixUnit kWarpgroupUnit = MatrixUnit::sm_90_warpgroup;

/// On the CPU: the elements of a row of A, or of a column of B, that one instruction reads.
template <class T, int Depth>
struct UnitLine {
  T value[Depth];
  std::int16_t significand[Depth], exponent[Depth];  ///< as ops/unit_arithmetic.hpp adds them
  int largest = kSpecialExponent;                    ///< exponent; of zeros alone kZeroExponent

  template <Major M>
  void read(const std::byte* shared, const UnitDescriptor& d, int mn) {
    constexpr int size = static_cast<int>(sizeof(T)), together = M == Major::k ? 16 / size : 1;
    for (int k = 0; k < Depth; k += together)
      std::memcpy(static_cast<void*>(value + k), shared + unit_address(d, M, mn, k, size),
                  together * sizeof(T));
    if constexpr (kIsFusedInput<T>) {
      for (int k = 0; k < Depth; ++k) {
        const UnitTerm term = unit_operand<kWarpgroupUnit>(value[k]);
        const int at = unit_position<kWarpgroupUnit, T>(k, Depth);
        significand[at] = term.significand, exponent[at] = term.exponent;
      }
      largest = *std::max_element(exponent, exponent + Depth);
    }
  }
};

/// The descriptor of an operand from k on; `address` is that of its first element.
template <class Tile>
TESSERA_HD constexpr std::uint64_t descriptor_at(std::uint32_t address, int bytes_on) {
  constexpr std::uint64_t fixed =
      bits_of(describe(Tile::layout, Tile::mode, static_cast<int>(sizeof(typename Tile::element))));
  return fixed | descriptor_address(address + static_cast<std::uint32_t>(bytes_on));
}

}  // namespace detail

/// The unit for M x N sums of type Acc and operands of types InA and InB, by one warpgroup.
template <class Acc, class InA, class InB, int M, int N>
struct TESSERA_CHECKED_SYMBOL WarpgroupUnit {
  static_assert(M % 64 == 0 && N % 8 == 0 && N >= 8 && N <= 256,
                "a warpgroup's instruction takes 64 rows, and columns in multiples of 8 up to 256");
  static_assert(!std::is_integral_v<InA> || N <= 24 || N % 16 == 0,
                "of whole numbers an instruction has 8, 16 or 24 columns, or multiples of 16");
  static_assert(sizeof(InA) == sizeof(InB), "both operands have elements of as many bytes");
  using accumulator = Acc;
  static constexpr int slabs = M / 64, values = N / 2;  ///< slab: the 64 rows of an instruction
  static constexpr int depth = 32 / static_cast<int>(sizeof(InA));  ///< k of one instruction
  /// (thread of the warpgroup, value) -> m + 64 n, of each 64 rows.
  static constexpr Layout layout_c{tuple(tuple(4, 8, 4), tuple(2, 2, N / 8)),
                                   tuple(tuple(128, 1, 16), tuple(64, 8, 512))};

  /// The same as a constant, for kernels.
  static TESSERA_HD constexpr int position(int thread, int value) {
    return static_cast<int>(index_of<layout_c>(thread, value));
  }

#if TESSERA_CHECK
  /// Sums, in groups of 64 rows. Reading and copying them takes the source location, for the
  /// checker.
  struct Slabs {
    struct At {
      int slab;
      Here here;
      constexpr At(int slab_, Here here_ = Here::current()) : slab(slab_), here(here_) {}
    };
    Acc of[slabs][values];
    std::uint32_t unset;  ///< 0 where the sums have values, also of `{}`; else as memory was
    Acc (&operator[](At at))[values] {
      unset = 0;
      record(of[at.slab], sizeof of[at.slab], at.here);
      return of[at.slab];
    }
    const Acc (&operator[](At at) const)[values] {
      record(of[at.slab], sizeof of[at.slab], at.here);
      return of[at.slab];
    }
    static void record(const Acc* first, std::size_t bytes, Here here) {
      if (detail::async_observer != nullptr)
        detail::async_observer->touches_sums(first, bytes, here);
    }
    /// A product that keeps the sums, or sets them, follows.
    void tell_product(bool keep, Here here) {
      if (keep && detail::async_observer != nullptr && unset != 0)
        detail::async_observer->adds_to_nothing(here);
      unset = 0;
    }
  };
  /// One thread's sums.
  struct Fragment {
    Slabs value;
    Fragment() = default;
    Fragment(const Fragment& other, Here here = Here::current()) : value(other.value) {
      Slabs::record(other.value.of[0], sizeof other.value.of, here);
    }
    /// An operator has no default arguments to capture its caller's location: reports name this
    /// line.
    Fragment& operator=(const Fragment& other) {
      Slabs::record(other.value.of[0], sizeof value.of, Here::current());
      Slabs::record(value.of[0], sizeof value.of, Here::current());
      value = other.value;
      return *this;
    }
  };
#else
  /// One thread's sums.
  struct Fragment {
    Acc value[slabs][values];
  };
#endif
  /// The sums of 64 rows, accessed at `here`.
  static TESSERA_HD constexpr Acc (&sums(Fragment& acc, int slab,
                                         [[maybe_unused]] Here here))[values] {
#if TESSERA_CHECK
    return acc.value[{slab, here}];
#else
    return acc.value[slab];
#endif
  }

  /// Some of the sums += more, by the threads: those of 64 rows, in columns of which `part` counts
  /// as many as `more` has.
  template <class Part>
  static TESSERA_KERNEL void add(Fragment& acc, typename Part::Fragment& more, int slab, int part,
                                 Here here = Here::current()) {
    static_assert(Part::slabs == 1 && values % Part::values == 0, "whole parts of 64 rows");
    auto& to = sums(acc, slab, here);
    const auto& from = Part::sums(more, 0, here);
    TESSERA_UNROLL_REGISTERS
    for (int v = 0; v < Part::values; ++v) to[part * Part::values + v] += from[v];
  }

  /// acc += a * b, or acc = a * b where `keep` is false: started by all threads of the warpgroup.
  template <class Thread, class TileA, class TileB>
  static TESSERA_KERNEL void mma(Thread& t, Fragment& acc, const UnitOperand<TileA, M>& a,
                                 const UnitOperand<TileB, N>& b, bool keep,
                                 Here here = Here::current()) {
    static_assert(TileA::cols == TileB::cols, "both operands have the same depth");
    static_assert(sizeof(InA) == 2 || (TileA::major == Major::k && TileB::major == Major::k),
                  "only 16-bit operands may be MN-major");
    static_assert(std::is_same_v<typename TileA::element, InA> &&
                      std::is_same_v<typename TileB::element, InB>,
                  "the unit is one of these types");
#if TESSERA_CHECK
    acc.value.tell_product(keep, here);
#endif
    auto&& async = t.async();
    async.begin_units(here);
    const std::uint32_t from_a = async.address(a.first), from_b = async.address(b.first);
    constexpr int row = TileA::cols * static_cast<int>(sizeof(InA));  // bytes
    if constexpr (requires { async.read_operand(a.first, row, row, here); }) {
      async.read_operand(a.first, M * row, swizzle_bytes(TileA::mode), here);
      async.read_operand(b.first, N * row, swizzle_bytes(TileB::mode), here);
    }
    TESSERA_UNROLL_REGISTERS
    for (int step = 0; step < TileA::cols / depth; ++step) {
      TESSERA_UNROLL_REGISTERS
      for (int slab = 0; slab < slabs; ++slab) {
        const auto da = detail::descriptor_at<TileA>(
            from_a, step_bytes<TileA>(step) + slab * slab_bytes<TileA>());
        const auto db = detail::descriptor_at<TileB>(from_b, step_bytes<TileB>(step));
        multiply<TileA::major, TileB::major>(async, own(acc, slab), da, db, keep || step > 0);
      }
    }
    async.commit_units(here);
  }
  /// The same for operands whose major is known at run time.
  template <class Thread, class TileA, class TileB>
  static TESSERA_KERNEL void mma(Thread& t, Fragment& acc, const EitherOperand<TileA, M>& a,
                                 const EitherOperand<TileB, N>& b, bool keep,
                                 Here here = Here::current()) {
    const auto with_a = [&](const auto& rows_of_a) {
      if (TileB::is_either && b.major == Major::mn)
        mma(t, acc, rows_of_a, rows<N>(b.tile.mn_major, b.part), keep, here);
      else mma(t, acc, rows_of_a, rows<N>(b.tile.k_major, b.part), keep, here);
    };
    if (TileA::is_either && a.major == Major::mn) with_a(rows<M>(a.tile.mn_major, a.part));
    else with_a(rows<M>(a.tile.k_major, a.part));
  }

 private:
  /// The unit's own access, which is not recorded.
  static TESSERA_HD constexpr Acc (&own(Fragment& acc, int slab))[values] {
#if TESSERA_CHECK
    return acc.value.of[slab];
#else
    return acc.value[slab];
#endif
  }
  template <class Tile>
  static TESSERA_HD constexpr int step_bytes(int step) {
    constexpr index_t next = Tile::layout(0, depth % Tile::cols);
    static_assert(Tile::layout(0, Tile::cols - depth) == (Tile::cols / depth - 1) * next,
                  "an operand's instructions begin at equal distances: rows of up to 128 bytes");
    return step * static_cast<int>(next * sizeof(InA));
  }
  template <class Tile>
  static TESSERA_HD constexpr int slab_bytes() {
    if constexpr (M == 64) return 0;
    else return static_cast<int>(Tile::layout(64, 0) * sizeof(InA));
  }
  template <Major A, Major B, class Async>
  static TESSERA_KERNEL void multiply(Async& async, Acc (&sums)[values], std::uint64_t a,
                                      std::uint64_t b, bool keep) {
#if defined(__CUDA_ARCH__)
    (void)async;
    detail::wgmma<InA, InB, N, A == Major::mn, B == Major::mn>(sums, a, b, keep);
#else
    async.start_unit({carry_out<A, B>, sums, a, b, keep, values * depth});
#endif
  }
  /// On the CPU: one thread's sums of one instruction.
  template <Major A, Major B>
  static void carry_out(const UnitCall& call, const std::byte* shared, int thread) {
    auto& sums = *static_cast<Acc(*)[values]>(call.sums);
    const int row = thread / 32 * 16 + thread % 32 / 4, col = thread % 4 * 2;
    const UnitDescriptor of_a = descriptor_of(call.a), of_b = descriptor_of(call.b);
    detail::UnitLine<InA, depth> a[2];
    detail::UnitLine<InB, depth> b;
    for (int half = 0; half < 2; ++half) a[half].template read<A>(shared, of_a, row + 8 * half);
    for (int n = 0; n < values / 2;
         ++n) {  // values v and v + 2 are of one column, eight rows apart
      const int v = n / 2 * 4 + n % 2;
      b.template read<B>(shared, of_b, col + n / 2 * 8 + n % 2);
      for (int half = 0; half < 2; ++half) {
        Acc& sum = sums[v + 2 * half];
        sum = add(call.keep ? sum : Acc{}, a[half], b);
      }
    }
  }
  static Acc add(Acc sum, const detail::UnitLine<InA, depth>& a,
                 const detail::UnitLine<InB, depth>& b) {
    if constexpr (std::is_same_v<InA, InB> && detail::kIsFusedInput<InA>) {
      // Beyond the edge of a matrix all products are zero: the sum stays, but that -0 becomes +0.
      constexpr int dropped = 23 - detail::unit_rules<detail::kWarpgroupUnit, InA>().result_bits;
      if (a.largest + b.largest < detail::kZeroExponent / 2 && sum - sum == 0 &&
          std::bit_cast<std::uint32_t>(sum) % (1u << dropped) == 0)
        return sum == 0 ? 0 : sum;
      return detail::sum_of_terms<detail::kWarpgroupUnit, InA, depth>(
          sum, {a.significand, a.exponent}, {b.significand, b.exponent});
    } else {
      for (int k = 0; k < depth; ++k) sum = detail::multiply_add(a.value[k], b.value[k], sum);
      return sum;
    }
  }
};

/// Waits until all but the newest Pending groups of this warpgroup are done: their sums may then be
/// read, their operands overwritten.
template <int Pending, class Thread>
TESSERA_KERNEL void wait_mma(Thread& t, Here here = Here::current()) {
  t.async().template wait_units<Pending>(here);
}

}  // namespace tessera
