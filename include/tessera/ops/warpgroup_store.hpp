// Stores the sums of a warpgroup through slices in shared memory: 64 rows of 128 bytes each, two
// for a warpgroup. Where C has no epilogue and bulk copies can store to it, one slice is stored by
// a bulk copy while the next is filled. Else the threads apply the epilogue element by element, in
// a loop that is not unrolled, to keep the code small.
#pragma once

#include <numeric>

#include "tessera/ops/epilogue.hpp"
#include "tessera/ops/warpgroup.hpp"
#include "tessera/tensor/vectorize.hpp"

namespace tessera {

inline constexpr int kSliceRows = 64, kSliceBytes = kSliceRows * 128;

/// A slice of elements of type T, in the swizzle of bulk copies.
template <class T>
using SliceTile = UnitTile<T, row_major(kSliceRows, 128 / static_cast<index_t>(sizeof(T)))>;
/// Storage of one, of any type.
using Slice = SliceTile<std::uint8_t>;

/// Without a depth there are no sums: zeros are stored.
enum class Sums { of_unit, none };

namespace detail {

template <class T>
TESSERA_KERNEL SliceTile<T>& slice_of(Slice& slice) {
  return *static_cast<SliceTile<T>*>(static_cast<void*>(&slice));
}

/// A barrier of the warpgroup.
template <class Thread>
TESSERA_KERNEL void meet_warpgroup(Thread& t, Here here = Here::current()) {
  if (t.warpgroup() == 0) meet<1>(t, kWarpgroupThreads, here);
  else meet<2>(t, kWarpgroupThreads, here);
}

/// The sums of Cols columns, as a thread holds them, into the first columns of a slice.
template <int Cols, class Thread, class T, class Acc>
TESSERA_KERNEL void put(Thread& t, const Acc* sums, SliceTile<T>& slice) {
  const int thread = t.thread % kWarpgroupThreads;
  if constexpr (requires { t.async().template put<Cols>(thread, sums, slice.elements); }) {
    t.async().template put<Cols>(thread, sums, slice.elements);
  } else {
    auto to = vectorize<1, 2>(slice.view());  // (64,W/2)
    const int row = thread / 32 * 16 + thread % 32 / 4, pair = thread % 4;
    for (int v = 0; v < Cols / 2; v += 2)
      to(row + v / 2 % 2 * 8, pair + v / 4 * 4) =
          Vec<T, 2>{{convert<T>(sums[v]), convert<T>(sums[v + 1])}};
  }
}

}  // namespace detail

/// The same by the threads, element by element; the first Rows rows of each slice are stored, at
/// tile (i, j) of C, counted in tiles of that many rows.
template <class Unit, int Rows, class Thread, class Out>
TESSERA_KERNEL void store_elements(Thread& t, typename Unit::Fragment& acc, Slice& storage,
                                   const Out& C, int i, int j, Sums sums = Sums::of_unit,
                                   Here here = Here::current()) {
  using Acc = typename Unit::accumulator;
  constexpr int columns = 2 * Unit::values;
  const int thread = t.thread % kWarpgroupThreads;
  constexpr int some = std::gcd(columns, SliceTile<Acc>::cols);  // columns at one time
  auto& slice = detail::slice_of<Acc>(storage);
  TESSERA_NO_UNROLL
  for (int at = 0; at < Unit::slabs * (columns / some); ++at) {
    const int slab = at / (columns / some), part = at % (columns / some);
    detail::put<some>(t, Unit::sums(acc, 0, here), slice);
    // A loop cannot index registers: all sums move so that the next ones are in the first
    // registers.
    TESSERA_UNROLL_REGISTERS
    for (int v = 0; v + some / 2 < Unit::slabs * Unit::values; ++v) {
      const int next = v + some / 2;
      Unit::sums(acc, v / Unit::values, here)[v % Unit::values] =
          Unit::sums(acc, next / Unit::values, here)[next % Unit::values];
    }
    detail::meet_warpgroup(t);  // the slice is complete
    const auto out =
        tile<Rows, some>(C, index_t{i} * Unit::slabs + slab, index_t{j} * (columns / some) + part);
    const auto from = slice.view();
    const bool along_rows = runs_along_rows(C);
    TESSERA_NO_UNROLL
    for (int e = thread; e < Rows * some; e += kWarpgroupThreads) {
      const int row = along_rows ? e / some : e % Rows;
      const int col = along_rows ? e % some : e / Rows;
      const Acc sum = sums == Sums::none ? Acc{0} : Acc(from(row, col));
      store(out, row, col, sum);
    }
    detail::meet_warpgroup(t);  // the slice may be overwritten
  }
}

/// Stores a warpgroup's tile of sums at tile (i, j) of C, in tiles of the unit's extents.
/// `bulk`: C for bulk stores, empty where C is stored through the epilogue.
template <class Unit, class Thread, class Bulk, class Out>
TESSERA_KERNEL void store_sums(Thread& t, typename Unit::Fragment& acc, Slice (&slices)[2],
                               const Bulk& bulk, const Out& C, int i, int j,
                               Sums sums = Sums::of_unit, Here here = Here::current()) {
  using T = typename Bulk::element;
  constexpr int columns = 2 * Unit::values;
  const int thread = t.thread % kWarpgroupThreads;
  const bool leads = thread == 0;
  constexpr int wide = SliceTile<T>::cols;
  if constexpr (columns % wide == 0) {
    if (valid<0>(bulk) > 0 && sums == Sums::of_unit) {
      constexpr int count = Unit::slabs * (columns / wide);
      constexpr int unread = count % 2 == 0 ? 1 : 0;  // odd: slices[0] is used twice in a row
      TESSERA_UNROLL_REGISTERS
      for (int at = 0; at < count; ++at) {
        const int slab = at / (columns / wide), part = at % (columns / wide);
        auto& slice = detail::slice_of<T>(slices[at % 2]);
        if (leads) wait_bulk_read<unread>(t);  // the previous bulk store has read this slice
        detail::meet_warpgroup(t);
        detail::put<wide>(t, Unit::sums(acc, slab, here) + part * (wide / 2), slice);
        fence_async(t);
        detail::meet_warpgroup(t);  // the slice is complete
        if (leads) {
          store_bulk(
              t, slice,
              tile<kSliceRows, wide>(bulk, i * Unit::slabs + slab, j * (columns / wide) + part));
          commit_bulk(t);
        }
      }
      return;
    }
  }
  if (leads) wait_bulk_read<0>(t);  // of a tile of another product, which was stored by bulk copies
  detail::meet_warpgroup(t);        // the slices may be overwritten
  store_elements<Unit, kSliceRows>(t, acc, slices[0], C, i, j, sums, here);
}

}  // namespace tessera
