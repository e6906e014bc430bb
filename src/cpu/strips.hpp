// A few rows of A times a B in a near cache, at the cache's speed: strips of columns, whose sums
// stay in registers for all of K. V is a vector type as microkernel.hpp describes it. Measurements:
// bench/results/cpu/tuning.md.
#pragma once

#include <utility>

#include "microkernel.hpp"

namespace tessera::cpu {

/// One row of A: `Deep` rows of B over all columns before the next ones. c holds the sums except
/// those of the last `Last` vectors, which stay in registers, to avoid reloading a partial vector
/// right after its store. Reading several rows of B together takes fewer stores, and more streams
/// for the hardware prefetchers of L1.
template <class V, int Last, int Deep>
void row_by_row(const MicroTile<typename V::k_group, typename V::sum>& call) {
  constexpr int wide = 4;
  const index_t K = call.K, a_k = call.a_k, b_k = call.b_k;
  const auto *a = call.a, *b = call.b;
  auto* const c = call.c;  // copies: stores could alias the fields of `call`
  const int vectors = (call.cols + V::lanes - 1) / V::lanes, rest = (vectors - Last) * V::lanes;
  const auto mask = V::first(call.cols - (vectors - 1) * V::lanes);
  typename V::type last[Last];
  each<1, Last>([&](int, int v) { last[v] = V::zero(); });
  const auto add_rows = [&]<int Rows, bool First>() {
    typename V::type x[Rows];
    each<Rows, 1>([&](int i, int) { x[i] = V::broadcast(a + i * a_k); });
    for (int j = 0; j < rest; j += wide * V::lanes) {
      typename V::type sums[wide];
      each<1, wide>(
          [&](int, int v) { sums[v] = First ? V::zero() : V::load(c + j + v * V::lanes); });
      each<Rows, wide>([&](int i, int v) {
        sums[v] = V::step(x[i], V::load_operand(b + i * b_k + j + v * V::lanes), sums[v]);
      });
      each<1, wide>([&](int, int v) { V::store(c + j + v * V::lanes, sums[v]); });
    }
    each<Rows, Last>([&](int i, int v) {
      const auto* from = b + i * b_k + rest + v * V::lanes;
      last[v] = V::step(
          x[i], v + 1 < Last ? V::load_operand(from) : V::load_operand_first(from, mask), last[v]);
    });
    a += Rows * a_k, b += Rows * b_k;
  };
  add_rows.template operator()<1, true>();
  index_t k = 1;
  for (; Deep > 1 && k + Deep <= K; k += Deep) add_rows.template operator()<Deep, false>();
  for (; k < K; ++k) add_rows.template operator()<1, false>();
  each<1, Last>([&](int, int v) {
    auto* to = c + rest + v * V::lanes;
    v + 1 < Last ? V::store(to, last[v]) : V::store_first(to, mask, last[v]);
  });
}

/// Microkernels of 1 to `Count` vectors.
template <class V, int Count>
struct Widths {
  void (*of[Count])(const MicroTile<typename V::k_group, typename V::sum>&);
};

/// A few rows of A times a B in a near cache: the sums of as many columns as possible stay in
/// registers for all of K. More chains of multiply-adds keep the units busy, and a wider strip
/// reads more of a row of B at once. Whole rows of B are read from L2 twice as fast as parts of
/// rows, with or without software prefetching.
///
/// Out of L3 the rows of a strip are as far apart as B's. Where that is 4 KiB, hardware-prefetched
/// lines fall into a few sets of L1 and evict each other before they are read, so that times differ
/// from process to process. With call.prefetch_k > 0 rows are prefetched instead, each vector's
/// last cache line; for one and two rows that gains nothing.
template <class V, int Rows, int Sums>
void strips(const MicroTile<typename V::k_group, typename V::sum>& call) {
  constexpr int most = Sums / Rows;
  static constexpr auto tiles = []<int... I>(std::integer_sequence<int, I...>) {
    return Widths<V, most>{{micro_tile<V, 0, Rows, I + 1, A::strided, B::masked>...}};
  }
  (std::make_integer_sequence<int, most>());
  const int vectors = (call.cols + V::lanes - 1) / V::lanes;
  if constexpr (Rows == 1) {
    static constexpr auto by_last = []<int Deep, int... I>(std::integer_sequence<int, I...>) {
      return Widths<V, 4>{{row_by_row<V, I + 1, Deep>...}};
    };
    static constexpr std::make_integer_sequence<int, 4> four;
    static constexpr auto one = by_last.template operator()<1>(four);
    static constexpr auto two = by_last.template operator()<2>(four);
    static constexpr auto several = by_last.template operator()<4>(four);
    if (vectors > most) {
      const auto& together = call.prefetch_k > 2 ? several : call.prefetch_k == 2 ? two : one;
      return together.of[(vectors - 1) % 4](call);
    }
  }
  const bool prefetches = Rows > 2 && call.prefetch_k > 0;
  auto strip = call;
  for (int left = vectors, here; left > 0; left -= here) {
    // Equal strips, because a narrow last one would take as long; limited by the lines that can be
    // prefetched at a time.
    const int count = (left - 1) / most + 1;
    here = !prefetches ? (left + count - 1) / count : count > 1 ? most : left;
    const int columns = here * V::lanes;
    strip.cols = here < left ? columns : call.cols - (vectors - left) * V::lanes;
    if (strip.cols < most * V::lanes) tiles.of[here - 1](strip);
    else if (prefetches) micro_tile<V, 0, Rows, most, A::strided, B::prefetched>(strip);
    else micro_tile<V, 0, Rows, most, A::strided, B::no_prefetch>(strip);
    strip.b += columns, strip.c += columns;
  }
}

}  // namespace tessera::cpu
