// Tiny products of types whose elements are packed into words first (f16, bf16, bytes): both
// factors on the stack, no jobs, no shared state. Called by gemm.cpp and gemm_plan.cpp.
#pragma once

#include <algorithm>
#include <type_traits>

#include "epilogue.hpp"
#include "kernels.hpp"
#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

/// `call` is tiny; its A, B and C are not looked at. In the way of larger products and in this one,
/// ns, one thread of an EPYC (family 25), 2026-11-24: 4^3 of bf16 198 and 86, i8 208 and 87, f16
/// 308 and 152; 8^3 of f16 501 and 352.
template <class In, class Out, class Source, class Word, class Sum>
[[gnu::noinline]] void gemm_tiny_words(const Gemm<In, Out>& call,
                                       const Kernels<Source, Word, Sum>& kernels,
                                       const ElementA<In>* A, const ElementB<In>* B, Out* C) {
  using Table = Kernels<Source, Word, Sum>;
  // Words of one element each, or of two or more and, for tile units, 15 words beyond them.
  constexpr index_t most_words = std::is_same_v<Word, Sum> ? kTiny : kTiny / 2 + 15;
  constexpr index_t most_columns = 64;  // of panels that reach to the last of kTiny
  alignas(64) Word a[Table::kMostRows * most_words], b[most_columns * most_words];
  alignas(64) Sum sums[Table::kMostRows * kMostColumns];
  const index_t words = (call.K + kernels.group - 1) / kernels.group;
  const int nr =
      std::min(kernels.nr(), kernels.lanes * kernels.vectors_of(static_cast<int>(call.N)));
  const index_t b_panel = nr * (words + kernels.b_extra);
  kernels.pack_b(b, nr, reinterpret_cast<const Source*>(B), call.N, call.K, call.b_col, call.b_row);
  const bool plain = is_plain(call), ends = finishes_in_tiles(call, kernels);
  const bool reads_a = kernels.reads_a(call.K, call.a_row, call.a_col);
  const auto& table = reads_a ? kernels.direct : kernels.packed;
  MicroTile<Word, Sum> micro{};
  micro.K = words, micro.b_k = nr;
  micro.a_row = call.a_row / kernels.group, micro.a_k = call.a_col;
  for (index_t i = 0; i < call.M; i += kernels.rows) {
    const Source* rows = reinterpret_cast<const Source*>(A) + i * call.a_row;
    micro.rows = static_cast<int>(std::min<index_t>(kernels.rows, call.M - i));
    micro.a = a;
    if (!reads_a) {
      kernels.pack_a(a, kernels.rows, rows, micro.rows, call.K, call.a_row, call.a_col);
    } else {
      micro.a = reinterpret_cast<const Word*>(rows);
      micro.shifts = reinterpret_cast<const Sum*>(a);
      if (kernels.sum_rows != nullptr)
        kernels.sum_rows(reinterpret_cast<Sum*>(a), micro.a, micro.rows, words, micro.a_row);
    }
    micro.b = b;
    for (index_t j = 0; j < call.N; j += nr, micro.b += b_panel) {
      micro.cols = static_cast<int>(std::min<index_t>(nr, call.N - j));
      const auto run = table[kernels.entry(micro.rows)][kernels.vectors_of(micro.cols) - 1];
      micro.c = sums, micro.c_row = kMostColumns;
      if constexpr (std::is_same_v<Out, Sum>) {
        if (plain) {
          micro.c = C + i * call.c_row + j, micro.c_row = call.c_row;
          run(micro);
          continue;
        }
      }
      run_and_finish_tile(call, C, kernels, run, ends && kernels.fills_vectors(micro.cols), micro,
                          i, j, micro.rows);
    }
  }
}

}  // namespace tessera::cpu
