// A few rows of A times B in axpy form: along the rows of B, which are contiguous and are read
// once, at the speed of memory. V is a vector type as microkernel.hpp describes it. Measurements:
// bench/results/cpu/tuning.md.
#pragma once

#include "microkernel.hpp"

namespace tessera::cpu {

/// A panel of A, all of its Rows, times a long stretch of B, which is read once: some of its rows
/// at a time, along all of `cols` columns, then the next ones. c holds the sums in between. With
/// much work for each cache line of B, the following rows are prefetched at the same time; with
/// little, four cache lines of each row are read at once. Where call.prefetch_k is not 0, the
/// following rows are prefetched one after the other, in the order of memory; for four rows that is
/// slower.
template <class V, int Rows>
void axpy(const MicroTile<typename V::k_group, typename V::sum>& call) {
  using Source = typename V::source;
  constexpr bool prefetches = Rows >= 4, may_prefetch_in_order = Rows != 4;
  constexpr int group = V::group;
  constexpr int depth = (Rows > 12 ? 16 : 8) / (group > 1 ? 2 : 1);
  constexpr int wide = Rows <= 2 ? 4 : group == 1 || Rows > 8 ? 1 : Rows == 4 ? group : 2;
  // Rows that one pointer addresses: three, as in a micro-tile, or all. The compiler would spill
  // surplus pointers to vector registers, and moving them back waits for multiply-adds.
  constexpr int near = Rows > 4 ? 16 : 3;
  const index_t b_k = call.b_k, c_row = call.c_row, ahead = depth * group * b_k;
  constexpr index_t bytes = sizeof(Source);
  const index_t prefetched_bytes = call.cols * bytes,
                next_row = b_k * bytes;  // of a row, and to the next
  const char *prefetched_row = nullptr, *prefetched = nullptr;
  const int whole = call.cols / V::lanes * V::lanes;
  const auto* a = call.a;
  const Source* b = reinterpret_cast<const Source*>(call.b);
  [[maybe_unused]] const auto* shifts = call.shifts;
  bool resume = call.resume;
  // Some vectors of columns from j on: `deep` K-groups of B, the last one of `last` elements.
  // Whole: all K-groups, and all of the vectors.
  const auto add = [&]<int Vectors, bool Whole, bool InOrder>(int j, int deep, int last,
                                                              int lanes) {
    const auto mask = V::first(lanes);
    const Source *rows[(depth - 1) / near + 1], *next[(depth - 1) / near + 1];
    typename V::sum* sums[(Rows - 1) / near + 1];
    for (int i = 0; i < depth; i += near) rows[i / near] = b + j + i * group * b_k;
    for (int i = 0; i < depth; i += near) next[i / near] = rows[i / near] + ahead;
    for (int r = 0; r < Rows; r += near) sums[r / near] = call.c + j + r * c_row;
    const auto at = [&](int r, int v) { return sums[r / near] + r % near * c_row + v * V::lanes; };
    typename V::type acc[Rows][Vectors];
    each<Rows, Vectors>([&](int r, int v) {
      acc[r][v] = !resume ? V::zero() : Whole ? V::load(at(r, v)) : V::load_first(at(r, v), mask);
      if constexpr (requires { V::shifts; }) {
        if (shifts != nullptr) acc[r][v] = V::add(acc[r][v], V::splat(shifts[r]));
      }
    });
    const auto step = [&](int i) {
      if constexpr (InOrder) {
        constexpr index_t here = Vectors * V::lanes * group * bytes;
        TESSERA_UNROLL
        for (index_t line = 0; line < here; line += 64) __builtin_prefetch(prefetched + line, 0, 2);
        prefetched += here;
        if (prefetched - prefetched_row >= prefetched_bytes)
          prefetched = prefetched_row += next_row;
      }
      typename V::operand y[Vectors];
      TESSERA_UNROLL
      for (int v = 0; v < Vectors; ++v) {
        const index_t column = i % near * group * b_k + v * V::lanes;
        if constexpr (prefetches && !InOrder) {
          for (int g = 0; v * V::lanes * bytes % 64 == 0 && g < group; ++g)
            __builtin_prefetch(next[i / near] + column + g * b_k, 0, 2);
        }
        const auto* from = rows[i / near] + column;
        y[v] = Whole ? V::gather(from, b_k)
                     : V::gather_first(from, b_k, mask, i + 1 < deep ? group : last);
      }
      TESSERA_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const auto x = V::broadcast(a + i * Rows + r);
        TESSERA_UNROLL
        for (int v = 0; v < Vectors; ++v) acc[r][v] = V::step(x, y[v], acc[r][v]);
      }
    };
    if constexpr (Whole) {
      TESSERA_UNROLL
      for (int i = 0; i < depth; ++i) step(i);
    } else {
      for (int i = 0; i < deep; ++i) step(i);
    }
    each<Rows, Vectors>([&](int r, int v) {
      Whole ? V::store(at(r, v), acc[r][v]) : V::store_first(at(r, v), mask, acc[r][v]);
    });
  };
  for (index_t k = 0; k < call.K; k += depth, a += depth * Rows, b += ahead, resume = true) {
    const int deep = call.K - k < depth ? static_cast<int>(call.K - k) : depth;
    const int last = call.k_rest > 0 && k + deep == call.K ? call.k_rest : group;
    const bool whole_k_groups = deep == depth && last == group;
    int j = 0;
    const auto add_whole = [&]<bool InOrder>() {
      for (; j + wide * V::lanes <= whole; j += wide * V::lanes)
        add.template operator()<wide, true, InOrder>(j, depth, group, V::lanes);
      if constexpr (wide > 1) {
        for (; j < whole; j += V::lanes)
          add.template operator()<1, true, InOrder>(j, depth, group, V::lanes);
      }
    };
    prefetched = prefetched_row = reinterpret_cast<const char*>(b + ahead);
    if (may_prefetch_in_order && whole_k_groups && call.prefetch_k > 0)
      add_whole.template operator()<may_prefetch_in_order>();
    else if (whole_k_groups) add_whole.template operator()<false>();
    for (; j < whole; j += V::lanes)
      add.template operator()<1, false, false>(j, deep, last, V::lanes);
    if (j < call.cols) add.template operator()<1, false, false>(j, deep, last, call.cols - j);
    shifts = nullptr;
  }
}

}  // namespace tessera::cpu
