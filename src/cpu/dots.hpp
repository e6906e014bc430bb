// A few rows of A times B in dot form: along the columns of B, which are contiguous. V is a vector
// type as microkernel.hpp describes it. Measurements: bench/results/cpu/tuning.md.
#pragma once

#include "microkernel.hpp"
#include "pack.hpp"

namespace tessera::cpu {

/// Prefetches the cache line `ahead` bytes after p: into L2 if it is so far ahead that L1 would
/// evict it before its use.
constexpr index_t kMostAheadInL1 = 768;
template <class V>
void prefetch_ahead(const typename V::source* p, index_t ahead) {
  const char* cache_line = reinterpret_cast<const char*>(p) + ahead;
  if (ahead <= kMostAheadInL1) __builtin_prefetch(cache_line);
  else __builtin_prefetch(cache_line, 0, 2);
}

/// Rows for which columns pages apart are read as below.
constexpr int kPagesRows = 4;

/// As dots below, for whole vectors of columns that are pages apart: elements at the same k share a
/// set of L1, which has 8 or 12 ways. So one half of a vector's columns lags some bytes after the
/// other half, which then begins with the next columns. K: a multiple of the lanes, longer than
/// this lag.
constexpr index_t kBytesBehind = 1536;
template <class V, int Rows>
void sweep_pages(const MicroTile<typename V::k_group, typename V::sum>& call, index_t a_row,
                 index_t a_k) {
  using T = typename V::sum;
  using Source = typename V::source;
  constexpr int kBehind = kBytesBehind / sizeof(T), half = V::lanes / 2;
  constexpr index_t group = V::group;
  const index_t line = call.b_k * index_t{sizeof(Source)};
  typename V::type acc[Rows];
  each<Rows, 1>([&](int r, int) { acc[r] = V::zero(); });
  const auto at = [&](int j, index_t k) {
    return reinterpret_cast<const Source*>(call.b) + j * call.b_k + k * group;
  };
  // `count` K-groups of the lower lines from column `low` on and of the upper from `high` on.
  const auto add = [&](int low, index_t low_k, int high, index_t high_k, index_t count) {
    const auto *lower = at(low, low_k), *upper = at(high + half, high_k);
    const auto *a_low = call.a + low_k * a_k, *a_high = call.a + high_k * a_k;
    for (; count > 0; count -= V::lanes, lower += V::lanes * group, upper += V::lanes * group) {
      for (int i = 0; i < half; ++i) {
        prefetch_ahead<V>(lower + i * call.b_k, call.prefetch_k);
        prefetch_ahead<V>(upper + i * call.b_k, call.prefetch_k);
      }
      TESSERA_UNROLL
      for (int h = 0; h < 2; ++h) {
        typename V::operand column[half];
        transpose_registers<V>(lower + h * half * group, upper + h * half * group, line, column);
        TESSERA_UNROLL
        for (int k = 0; k < half; ++k, a_low += a_k, a_high += a_k) {
          each<Rows, 1>([&](int r, int) {
            const auto x = V::halves(a_low + r * a_row, a_high + r * a_row);
            acc[r] = V::step(x, column[k], acc[r]);
          });
        }
      }
    }
  };
  // Half of the sums are complete: those of columns from j + first on.
  const auto take = [&](int j, int first) {
    each<Rows, 1>([&](int r, int) {
      alignas(64) T sums[V::lanes];
      V::store(sums, acc[r]);
      for (int i = first; i < first + half; ++i) {
        if (j >= 0) call.c[r * call.c_row + j + i] = sums[i];
        sums[i] = 0;
      }
      acc[r] = V::load(sums);
    });
  };
  // Before the first columns and after the last, one half repeats existing columns, so that no
  // spurious floating-point flag is raised; its sums are discarded.
  const index_t most = call.K - kBehind;
  for (int j = 0;; j += V::lanes) {
    const bool ends = j + V::lanes > call.cols;
    const int before = j - V::lanes;
    add(ends ? before : j, 0, before < 0 ? j : before, before < 0 ? 0 : most, kBehind);
    take(before, half);
    if (ends) return;
    add(j, kBehind, j, 0, most);
    take(j, 0);
  }
}

/// One row of bytes in dot form: sums of bytes are exact in any order, so lanes run along a column,
/// eight columns at a time from the caches, four from memory. Not for pairs of bf16, whose bits
/// would differ from those with more rows of A or a packed B.
template <class V>
void dot_lines(const MicroTile<typename V::k_group, typename V::sum>& call) {
  using Source = typename V::source;
  constexpr index_t deep = V::lanes * V::group;  // elements in a vector
  const index_t whole = call.K - (call.k_rest > 0 ? 1 : 0);
  const index_t K = whole * V::group + call.k_rest;
  // `Lines` columns, a multiple of four; the last one is repeated beyond `count`.
  const auto add_lines = [&]<int Lines>(int j, int count) {
    const Source* line[Lines];
    for (int i = 0; i < Lines; ++i)
      line[i] = reinterpret_cast<const Source*>(call.b) + (j + lesser(i, count - 1)) * call.b_k;
    const auto* a = call.a;
    typename V::type acc[Lines / 4][4];
    each<Lines, 1>([&](int i, int) { acc[i / 4][i % 4] = V::zero(); });
    const auto add = [&](int i, const typename V::operand& x, const typename V::operand& y) {
      acc[i / 4][i % 4] = V::step(x, y, acc[i / 4][i % 4]);
    };
    index_t k = 0;
    for (; k + deep <= K; k += deep, a += V::lanes) {
      const auto x = V::load_operand(a);
      each<Lines, 1>([&](int i, int) { add(i, x, V::line(line[i] + k)); });
    }
    if (k < K) {
      const int left = static_cast<int>(K - k);
      const auto x = V::load_operand_first(a, V::first((left + V::group - 1) / V::group));
      each<Lines, 1>([&](int i, int) { add(i, x, V::line_part(line[i] + k, left)); });
    }
    for (int i = 0; i < Lines; i += 4)
      V::store_totals(call.c + j + i, acc[i / 4], lesser(count - i, 4), call.shifts);
  };
  int j = 0;
  for (; call.prefetch_k == 0 && j + 8 <= call.cols; j += 8) add_lines.template operator()<8>(j, 8);
  for (; j < call.cols; j += 4)
    add_lines.template operator()<4>(j, call.cols - j < 4 ? call.cols - j : 4);
}

/// As `axpy` for a B (K, cols) whose columns are contiguous, b_k apart: as many columns as a vector
/// has lanes are transposed in registers, so that each lane has its own chain. Data is prefetched
/// prefetch_k bytes ahead; where that is 0, b is in a cache: then two such groups of columns share
/// each element of A, and more chains of multiply-adds hide their latency. Not where that many
/// columns evict each other from L1; but where those of one group stay, one or two rows of A use
/// two or three groups, a cache line at a time. Transposing is then the bottleneck.
/// Over 150 lines: a transposition in registers, written out.
template <class V, int Rows>
void dot_transposed(const MicroTile<typename V::k_group, typename V::sum>& call) {
  using KGroup = typename V::k_group;
  using Source = typename V::source;
  constexpr index_t group = V::group;
  const index_t a_row = call.a_row, a_k = call.a_k;
  const index_t line = call.b_k * index_t{sizeof(Source)};
  const index_t whole = call.K - (call.k_rest > 0 ? 1 : 0);  // K-groups
  int j = 0;
  const bool is_cached = call.prefetch_k == 0;
  constexpr index_t small_l1 = 32 << 10, l1_way = 4096;
  const index_t apart = line == 0 ? l1_way : lesser(line & -line, l1_way);  // in L1's sets
  const bool one_fits = V::lanes * apart <= small_l1, two_fit = 2 * V::lanes * apart <= small_l1;
  if constexpr (
      requires { &V::both; } && !requires { V::shifts; } && !requires { &V::pack; } &&
      Rows <= kPagesRows) {
    constexpr index_t bytes = sizeof(KGroup);
    if (!is_cached && call.cols >= 4 * V::lanes && call.K % V::lanes == 0 && call.k_rest == 0 &&
        call.K * bytes >= 4 * kBytesBehind && line % 4096 == 0) {
      sweep_pages<V, Rows>(call, a_row, a_k);
      j = call.cols / V::lanes * V::lanes;
    }
  }
  // `Groups` of lines from j on, the last one `end` after the first, each of as many as a vector
  // has lanes; or a single one of `lines`, the last of which is repeated for missing ones.
  const auto add_inlined = [&]<int Groups, bool Whole, bool Together>(int lines, int end)
      __attribute__((always_inline)) {
    typename V::type acc[Groups][Rows];
    each<Groups, Rows>([&](int g, int r) { acc[g][r] = V::zero(); });
    const auto* a = call.a;
    const Source* b = reinterpret_cast<const Source*>(call.b) + j * call.b_k;
    const auto offset = [&](int g) { return g + 1 < Groups ? g * V::lanes : end; };
    const auto add = [&](int g, int k, const typename V::operand& column) {
      each<Rows, 1>([&](int r, int) {
        const auto x = V::broadcast(a + r * a_row + k * a_k);
        acc[g][r] = V::step(x, column, acc[g][r]);
      });
    };
    index_t k = 0;
    if constexpr (requires { &V::both; }) {
      constexpr int half = V::lanes / 2;
      index_t line_at[V::lanes];
      for (int i = 0; !Whole && i < V::lanes; ++i) line_at[i] = lesser(i, lines - 1) * call.b_k;
      // Forced inlining for whole groups, which the compiler would not do.
      const auto each_of = [&]<int N>(const auto& body) __attribute__((always_inline)) {
        if constexpr (Whole) {
          TESSERA_UNROLL
          for (int n = 0; n < N; ++n) body(n);
        } else {
          each<N, 1>([&](int n, int) { body(n); });
        }
      };
      // Columns [k + first, k + half) of `Count` groups, which share each element of A.
      const auto transpose_and_add = [&]<int From, int Count>(int first)
          __attribute__((always_inline)) {
        typename V::operand column[Count][half];
        const auto transpose_group = [&](int g) __attribute__((always_inline)) {
          const auto* from = b + offset(From + g) * call.b_k;
          for (int i = 0; Count == 1 && !is_cached && k % V::lanes == 0 && i < lines; ++i)
            prefetch_ahead<V>(from + i * call.b_k, call.prefetch_k);
          if constexpr (Whole) {
            transpose_registers<V>(from, from + half * call.b_k, line, column[g]);
          } else {
            transpose_registers<V>(column[g], [&](int h, int i) {
              const index_t* at = line_at + h * half + i;
              return V::both(from + at[0], from + at[half / 2]);
            });
          }
        };
        each_of.template operator()<Count>(transpose_group);
        // Rows of A that one pointer addresses: see micro_tile().
        constexpr int near = Rows > 4 ? 3 : 4;
        const KGroup* row[(Rows - 1) / near + 1];
        for (int i = 0; i < Rows; i += near) row[i / near] = a + i * a_row;
        TESSERA_UNROLL
        for (int i = 0; i < half; ++i) {
          const auto add_row = [&](int r) __attribute__((always_inline)) {
            if (i < first) return;
            const auto x =
                V::broadcast(row[r / near] + r % near * a_row + (Rows > 4 ? 0 : i * a_k));
            each<Count, 1>(
                [&](int g, int) { acc[From + g][r] = V::step(x, column[g][i], acc[From + g][r]); });
          };
          each_of.template operator()<Rows>(add_row);
          for (auto& p : row) p += Rows > 4 ? a_k : 0;
        }
      };
      const auto transpose_and_add_all = [&](int first) __attribute__((always_inline)) {
        transpose_and_add.template operator()<0, Groups>(first);
      };
      if (whole >= half) {
        const auto next = [&](index_t k_groups) {
          k += k_groups, a += k_groups * a_k, b += k_groups * group;
        };
        // The groups alternate, each with a whole cache line.
        const auto transpose_and_add_apart = [&]<int... G>(std::integer_sequence<int, G...>) {
          for (; k + V::lanes <= whole; next(V::lanes))
            ((transpose_and_add.template operator()<G, 1>(0), next(half),
              transpose_and_add.template operator()<G, 1>(0), next(-half)),
             ...);
        };
        if constexpr (!Together) transpose_and_add_apart(std::make_integer_sequence<int, Groups>());
        for (; k + half <= whole; next(half)) transpose_and_add_all(0);
        // The rest, overlapping the columns before it.
        if (const int rest = static_cast<int>(whole - k); rest > 0) {
          a -= (half - rest) * a_k, b -= (half - rest) * group, k = whole;
          transpose_and_add_all(half - rest);
          a += half * a_k, b += half * group;
        }
      }
    }
    alignas(64) KGroup transposed[V::lanes * V::lanes];
    for (; k < call.K; k += V::lanes) {
      const int deep = call.K - k < V::lanes ? static_cast<int>(call.K - k) : V::lanes;
      for (int g = 0; g < Groups; ++g) {
        const auto* from = b + offset(g) * call.b_k;
        if constexpr (Converts<V>) {
          V::pack(transposed, V::lanes, from, lines, deep, call.b_k, 1);
        } else if constexpr (group == 1) {
          pack_panel<V>(transposed, V::lanes, from, lines, deep, call.b_k, 1);
        } else {
          const bool ends = k + deep == call.K && call.k_rest > 0;
          pack_groups<V, typename V::packs>(transposed, V::lanes, from, lines,
                                            ends ? (deep - 1) * group + call.k_rest : deep * group,
                                            call.b_k, 1);
        }
        for (int i = 0; i < deep; ++i) add(g, i, V::load_operand(transposed + i * V::lanes));
      }
      a += V::lanes * a_k, b += V::lanes * group;
    }
    each<Groups, Rows>([&](int g, int r) {
      auto sum = acc[g][r];
      if constexpr (requires { V::shifts; }) sum = V::add(sum, V::splat(call.shifts[r]));
      auto* c = call.c + r * call.c_row + j + offset(g);
      Whole ? V::store(c, sum) : V::store_first(c, V::first(lines), sum);
    });
  };
  // Not inlined for more rows, which would be slower; inlined for few rows of f64, which are slower
  // otherwise.
  const auto add_one = [&]<bool Whole>(int lines) __attribute__((noinline)) {
    add_inlined.template operator()<1, Whole, true>(lines, 0);
  };
  if (call.cols < V::lanes) return add_one.template operator()<false>(call.cols);
  // The last group overlaps the previous one.
  const int last = call.cols - V::lanes;
  const auto add_several = [&]<bool Together>() {
    for (int end; j < last; j += V::lanes + end) {
      const int left = call.cols - j;
      if constexpr (Rows <= 2) {
        if (left > 2 * V::lanes && left <= 3 * V::lanes) {
          add_inlined.template operator()<3, true, Together>(V::lanes, last - j);
          j = call.cols;
          return;
        }
      }
      end = j + V::lanes < last ? V::lanes : last - j;
      add_inlined.template operator()<2, true, Together>(V::lanes, end);
    }
  };
  constexpr bool in_turn = Rows <= 2 && ReadsBoth<V> && !Converts<V>;
  if constexpr (Rows <= 5) {
    if (is_cached && two_fit) add_several.template operator()<true>();
    else if (in_turn && is_cached && one_fits) add_several.template operator()<false>();
  }
  for (; j < call.cols; j += V::lanes) {
    if (j > last) j = last;
    if constexpr (Rows <= 5) add_inlined.template operator()<1, true, true>(V::lanes, 0);
    else add_one.template operator()<true>(V::lanes);
  }
}

/// See Kernels::dots.
template <class V, int Rows>
void dots(const MicroTile<typename V::k_group, typename V::sum>& call) {
  if constexpr (Rows == 1 && requires { &V::line; }) dot_lines<V>(call);
  else dot_transposed<V, Rows>(call);
}

}  // namespace tessera::cpu
