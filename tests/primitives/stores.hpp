// P9: sums of a warpgroup go to memory through a swizzled slice in shared memory (stmatrix), by a
// bulk store that is clipped at the edges of C.
#pragma once

#include "machine.hpp"
#include "tessera/ops/bulk_matrix.hpp"
#include "tessera/ops/warpgroup_store.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera::primitives {

template <class T>
struct StoreSlice {
  static constexpr const char* name = "store_slice";
  static constexpr Dim3 block{128};
  static constexpr bool needs_sm_90a = true;
  static constexpr int columns = SliceTile<T>::cols;
  using Unit = WarpgroupUnit<float, bf16, bf16, 64, columns>;
  // C (rows,cols) in rows of `pitch`, with room behind it; the slice begins at (row, col).
  static constexpr int rows = 50, room = 64, row = 20;
  static constexpr int cols = columns + columns / 2 - 8, pitch = columns + columns / 2;
  static constexpr int col = columns / 2 + 8;
  struct Shared {
    Slice slice;
  };

  /// The number at (m, n) of the slice: whole, different, and exact in f16.
  static TESSERA_HD constexpr float number(int m, int n) {
    const int small = m % 32 * columns + n;
    return static_cast<float>(m < 32 ? small : -small - 1);
  }

  TESSERA_KERNEL void operator()(auto t, const BulkMatrix<SliceTile<T>>& C) const {
    auto& s = shared<Shared>(t);
    float sums[columns / 2];
    TESSERA_UNROLL_REGISTERS
    for (int v = 0; v < columns / 2; ++v) {
      const int at = Unit::position(t.thread, v);
      sums[v] = number(at % 64, at / 64);
    }
    auto& slice = detail::slice_of<T>(s.slice);
    detail::put<columns>(t, sums, slice);
    fence_async(t);
    t.barrier();  // the slice is complete
    if (t.thread == 0) {
      store_bulk(t, slice, tile_from(C, row, col));
      commit_bulk(t);
      wait_bulk<0>(t);
    }
  }
};

template <class T, class Machine>
Dump record_stores_of(Machine& machine) {
  using Kernel = StoreSlice<T>;
  constexpr std::size_t words = Kernel::room * Kernel::pitch * sizeof(T) / 4;
  void* const out = machine.upload(Dump(words, kUntouched));
  const BulkMatrix<SliceTile<T>> C{
      machine.map(bulk_fields<SliceTile<T>>(out, Kernel::rows, Kernel::cols, Kernel::pitch, 1)),
      Kernel::rows, Kernel::cols};
  machine.run(Dim3{1}, Kernel{}, C);
  return machine.template download<std::uint32_t>(out, words);
}
template <class Machine>
Dump record_p9(Machine& machine) {
  Dump out = record_stores_of<f16>(machine);
  const Dump of_f32 = record_stores_of<float>(machine);
  out.insert(out.end(), of_f32.begin(), of_f32.end());
  return out;
}

}  // namespace tessera::primitives
