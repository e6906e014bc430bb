// One or two rows of A times a B that passes by once, at the speed of memory: along its rows where
// the columns lie side by side, along its columns where these do. V is a vector type as
// microkernel.hpp describes it.
#pragma once

#include "microkernel.hpp"
#include "pack.hpp"

namespace tessera::cpu {

/// Rows of A times a long stretch of B, which passes by once: eight of its rows side by side, along
/// all of `cols` columns, then the next eight. c holds the sums in between.
template <class V, int Rows>
void sweep(const MicroTile<typename V::word, typename V::sum>& call) {
  constexpr int depth = 8;
  const auto pass = [&]<bool Whole>(index_t k, int deep) {
    typename V::operand x[Rows][depth];
    TESSERA_UNROLL
    for (int i = 0; i < depth; ++i) {
      TESSERA_UNROLL
      for (int r = 0; r < Rows; ++r)
        x[r][i] =
            V::broadcast(call.a + r * call.a_row + (k + (Whole || i < deep ? i : 0)) * call.a_k);
    }
    const bool resume = call.resume || k > 0;
    const auto* row = call.b + k * call.b_k;
    for (int j = 0; j < call.cols; j += V::lanes, row += V::lanes) {
      const bool whole = call.cols - j >= V::lanes;
      const auto mask = V::first(whole ? V::lanes : call.cols - j);
      typename V::type acc[Rows];
      TESSERA_UNROLL
      for (int r = 0; r < Rows; ++r) {
        auto* c = call.c + r * call.c_row + j;
        acc[r] = !resume ? V::zero() : whole ? V::load(c) : V::load_first(c, mask);
      }
      const auto add = [&](int i) {
        const auto* b = row + i * call.b_k;
        const auto y = whole ? V::fetch(b) : V::fetch_first(b, mask);
        TESSERA_UNROLL
        for (int r = 0; r < Rows; ++r) acc[r] = V::step(x[r][i], y, acc[r]);
      };
      if constexpr (Whole) {
        TESSERA_UNROLL
        for (int i = 0; i < depth; ++i) add(i);
      } else {
        for (int i = 0; i < deep; ++i) add(i);
      }
      TESSERA_UNROLL
      for (int r = 0; r < Rows; ++r) {
        auto* c = call.c + r * call.c_row + j;
        whole ? V::store(c, acc[r]) : V::store_first(c, mask, acc[r]);
      }
    }
  };
  index_t k = 0;
  for (; k + depth <= call.K; k += depth) pass.template operator()<true>(k, depth);
  if (k < call.K) pass.template operator()<false>(k, static_cast<int>(call.K - k));
}

/// The same for a B (K, cols) whose columns are lines of K elements side by side, b_k apart: as
/// many lines as a vector has lanes are turned in registers, so that each lane keeps to its own
/// chain. Each line of the cache is read once, at once: lines a power of two apart would push each
/// other out.
template <class V, int Rows>
void sweep_lines(const MicroTile<typename V::word, typename V::sum>& call) {
  for (int j = 0; j < call.cols; j += V::lanes) {
    const int lines = call.cols - j < V::lanes ? call.cols - j : V::lanes;
    typename V::type acc[Rows];
    each<Rows, 1>([&](int r, int) { acc[r] = V::zero(); });
    const auto* a = call.a;
    const auto add = [&](const typename V::type& column) {
      each<Rows, 1>(
          [&](int r, int) { acc[r] = V::step(V::broadcast(a + r * call.a_row), column, acc[r]); });
      a += call.a_k;
    };
    const auto* b = call.b + j * call.b_k;
    index_t left = call.K;
    if constexpr (requires { &V::turn; }) {
      for (; lines == V::lanes && left >= V::lanes; left -= V::lanes, b += V::lanes) {
        typename V::type column[V::lanes];
        V::turn(b, call.b_k, column);
        TESSERA_UNROLL
        for (int k = 0; k < V::lanes; ++k) add(column[k]);
      }
    }
    alignas(64) typename V::word turned[V::lanes * V::lanes];
    for (; left > 0; left -= V::lanes, b += V::lanes) {
      const int deep = left < V::lanes ? static_cast<int>(left) : V::lanes;
      pack_panel<V>(turned, V::lanes, b, lines, deep, call.b_k, 1);
      for (int k = 0; k < deep; ++k) add(V::load(turned + k * V::lanes));
    }
    const bool whole = lines == V::lanes;
    each<Rows, 1>([&](int r, int) {
      auto* c = call.c + r * call.c_row + j;
      whole ? V::store(c, acc[r]) : V::store_first(c, V::first(lines), acc[r]);
    });
  }
}

}  // namespace tessera::cpu
