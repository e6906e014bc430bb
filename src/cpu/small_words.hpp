// Tiny and small products of types whose elements are packed into words first (f16, bf16, bytes),
// and tiny ones of f32 into 16 bits: by one thread, no jobs, no shared state. Few rows or columns
// along lines, else both factors packed at once. Called by gemm.cpp and gemm_plan.cpp.
#pragma once

#include <algorithm>
#include <type_traits>

#include "blocking.hpp"
#include "choose_kernels.hpp"
#include "epilogue.hpp"
#include "kernels.hpp"
#include "swapped.hpp"
#include "tessera/cpu/gemm.hpp"
#include "workspace.hpp"

namespace tessera::cpu {

/// Columns of a panel of B: as few panels as possible, equal ones.
template <class Table>
int small_panel(index_t N, const Table& kernels) {
  if (N <= kernels.nr()) return kernels.lanes * kernels.vectors_of(static_cast<int>(N));
  return static_cast<int>(even_part(N, kernels.nr(), kernels.lanes));
}

/// A, B and C of `call` are not looked at. `a` has room for all of A, `b` for all of B, packed.
template <class In, class Out, class Source, class Word, class Sum>
void multiply_words(const Gemm<In, Out>& call, const Kernels<Source, Word, Sum>& kernels,
                    const ElementA<In>* A, const ElementB<In>* B, Out* C, Word* a, Word* b) {
  using Table = Kernels<Source, Word, Sum>;
  alignas(64) Sum sums[Table::kMostRows * kMostColumns];
  const auto* rows = reinterpret_cast<const Source*>(A);
  const auto* columns = reinterpret_cast<const Source*>(B);
  const index_t words = ceil_div(call.K, kernels.group);
  const int mr = kernels.rows, nr = small_panel(call.N, kernels);
  kernels.pack_b(b, nr, columns, call.N, call.K, call.b_col, call.b_row);
  MicroTile<Word, Sum> micro{};
  micro.K = words, micro.b_k = nr;
  const bool reads_a = kernels.reads_a(call.K, call.a_row, call.a_col);
  const Word* first = a;
  index_t a_step = words + kernels.a_extra;  // of a row
  if (!reads_a) {
    kernels.pack_a(a, mr, rows, call.M, call.K, call.a_row, call.a_col);
  } else {
    first = reinterpret_cast<const Word*>(rows);
    a_step = micro.a_row = call.a_row / kernels.group, micro.a_k = call.a_col;
    if (kernels.sum_rows != nullptr)
      kernels.sum_rows(reinterpret_cast<Sum*>(a), first, call.M, words, a_step);
  }
  const bool plain = is_plain(call), ends = finishes_in_tiles(call, kernels);
  const auto& table = reads_a ? kernels.direct : kernels.packed;
  micro.b = b;
  for (index_t j = 0; j < call.N; j += nr, micro.b += nr * (words + kernels.b_extra)) {
    micro.cols = static_cast<int>(std::min<index_t>(nr, call.N - j));
    const int vectors = kernels.vectors_of(micro.cols);
    const bool ends_here = ends && kernels.fills_vectors(micro.cols);
    for (index_t i = 0; i < call.M; i += mr) {
      micro.rows = static_cast<int>(std::min<index_t>(mr, call.M - i));
      micro.a = first + i * a_step;
      if (reads_a) micro.shifts = reinterpret_cast<const Sum*>(a) + i;
      const auto run = table[kernels.entry(micro.rows)][vectors - 1];
      if constexpr (std::is_same_v<Out, Sum>) {
        if (plain) {
          micro.c = C + i * call.c_row + j, micro.c_row = call.c_row;
          run(micro);
          continue;
        }
      }
      micro.c = sums, micro.c_row = kMostColumns;
      run_and_finish_tile(call, C, kernels, run, ends_here, micro, i, j, micro.rows);
    }
  }
}

/// A few rows of A, as they lie or packed on the stack, times a B whose columns are lines in
/// memory, which are turned in registers. No more than is_for_word_lines() says, or `a` is too
/// short; A, B and C of `call` are not looked at.
template <class In, class Out, class Source, class Word, class Sum>
[[gnu::noinline]] void multiply_word_lines(const Gemm<In, Out>& call,
                                           const Kernels<Source, Word, Sum>& kernels,
                                           const ElementA<In>* A, const ElementB<In>* B, Out* C) {
  constexpr int most_rows = Kernels<Source, Word, Sum>::kMaxRows;
  alignas(64) Word a[most_rows * (kSmallExtent + 1)];
  alignas(64) Sum sums[most_rows * kMostColumns], shifts[most_rows];
  const auto* first = reinterpret_cast<const Source*>(A);
  const int rows = static_cast<int>(call.M);
  const bool plain = is_plain(call);
  MicroTile<Word, Sum> micro{};
  micro.K = ceil_div(call.K, kernels.group),
  micro.k_rest = static_cast<int>(call.K % kernels.group);
  micro.b_k = call.b_col;
  const bool reads_a = kernels.reads_a(call.K, rows > 1 ? call.a_row : 0, call.a_col);
  if (reads_a) {
    micro.a = reinterpret_cast<const Word*>(A);
    micro.a_row = call.a_row / kernels.group, micro.a_k = call.a_col;
  } else {
    kernels.pack_a(a, rows, first, rows, call.K, call.a_row, call.a_col);
    micro.a = a, micro.a_row = 1, micro.a_k = rows;
  }
  if (kernels.sum_rows != nullptr) {
    micro.shifts = reads_a ? shifts : reinterpret_cast<const Sum*>(a + rows * micro.K);
    if (reads_a) kernels.sum_rows(shifts, micro.a, rows, micro.K, micro.a_row);
  }
  micro.c = sums, micro.c_row = kMostColumns;
  for (index_t j = 0; j < call.N; j += kMostColumns) {
    micro.cols = static_cast<int>(std::min<index_t>(kMostColumns, call.N - j));
    micro.b = reinterpret_cast<const Word*>(B + j * call.b_col);
    if constexpr (std::is_same_v<Out, Sum>) {
      if (plain) micro.c = C + j, micro.c_row = call.c_row;
    }
    kernels.sweep_lines[rows - 1](micro);
    if (!plain) finish_tile(call, C, kernels, sums, kMostColumns, 0, j, rows, micro.cols);
  }
}

/// What those make, of C or, `in_columns`, of its transpose. One thread of an EPYC (family 26),
/// 2026-11-26, times as fast as packed or in jobs, bf16 and i8: 48x1x48 2.1 and 1.7, 64x4x64 1.2
/// and 1.2, 256x1x256 1.2 and 1.5, with B transposed 12x3x128 2.3 and 2.3, 8x128x128 1.1 and 1.2;
/// bf16 100x8x100 1.1, 48x8x48 0.95. i8 not so: with 8 columns 1.0 and 0.9, and 1000x4x16, whose
/// few words are not turned in registers, 0.75.
template <class In, class Out, class Table>
bool is_for_word_lines(const Gemm<In, Out>& call, const Table& kernels, bool in_columns) {
  const index_t rows = in_columns ? call.N : call.M, lines = in_columns ? call.M : call.N;
  const index_t along = in_columns ? call.a_col : call.b_row, words = call.K / kernels.group;
  return rows <= kernels.line_rows && along == 1 && lines > rows && 2 * words >= kernels.lanes &&
         words < kSmallExtent && (!in_columns || rows * kernels.group <= kernels.lanes) &&
         bounded_product(call.M, call.N, call.K) <= kSmallWork;
}
template <class In, class Out, class Table>
bool is_for_word_lines(const Gemm<In, Out>& call, const Table& kernels) {
  return is_for_word_lines(call, kernels, false) || is_for_word_lines(call, kernels, true);
}
/// False where others are better.
template <class In, class Out, class Table>
bool gemm_word_lines(const Gemm<In, Out>& call, const Table& kernels, const ElementA<In>* A,
                     const ElementB<In>* B, Out* C) {
  if (is_for_word_lines(call, kernels, false))
    return multiply_word_lines(call, kernels, A, B, C), true;
  if (!is_for_word_lines(call, kernels, true)) return false;
  with_kernels<typename OperandTypes<In>::Swapped>(
      [&](const auto& others) { multiply_word_lines(swapped(call), others, B, A, C); });
  return true;
}

/// Both factors on the stack. `call` is tiny. In the way of larger products and in this one, ns,
/// one thread of an EPYC (family 25), 2026-11-24: 4^3 of bf16 198 and 86, i8 208 and 87, f16 308
/// and 152; 8^3 of f16 501 and 352.
template <class In, class Out, class Source, class Word, class Sum>
[[gnu::noinline]] void gemm_tiny_words(const Gemm<In, Out>& call,
                                       const Kernels<Source, Word, Sum>& kernels,
                                       const ElementA<In>* A, const ElementB<In>* B, Out* C) {
  // Words of one element each, or of two or more and, for tile units, 15 words beyond them.
  constexpr index_t most_words = std::is_same_v<Word, Sum> ? kTiny : kTiny / 2 + 15;
  constexpr index_t most_lines = 64;  // of panels that reach to the last of kTiny
  if (gemm_word_lines(call, kernels, A, B, C)) return;
  alignas(64) Word a[most_lines * most_words], b[most_lines * most_words];
  multiply_words(call, kernels, A, B, C, a, b);
}

/// Words of both factors, packed.
struct PackedWords {
  index_t a, b;
  std::size_t bytes() const { return bytes_of_a() + Workspace::rounded(size(b)); }
  std::size_t bytes_of_a() const { return Workspace::rounded(size(a)); }

 private:
  static std::size_t size(index_t words) { return static_cast<std::size_t>(words) * 4; }
};
template <class In, class Out, class Table>
PackedWords packed_words(const Gemm<In, Out>& call, const Table& kernels) {
  const index_t words = ceil_div(call.K, kernels.group);
  return {round_up(call.M, kernels.rows) * (words + kernels.a_extra),
          round_up(call.N, small_panel(call.N, kernels)) * (words + kernels.b_extra)};
}

/// What one thread packs at once and multiplies without jobs: B stays in L1. More rows than are
/// swept over a B as it lies. One thread of an EPYC (family 26), 2026-11-25, times as fast: 50^3 of
/// bf16 1.13, i8 1.21, u8 times i8 1.13, 64^3 1.09, 1.16, 1.13, (20,200,100) 1.03, 1.18, 1.20;
/// where B is larger, (24,256,256) of bf16 0.86.
template <class In, class Out, class Table>
bool is_for_words(const Gemm<In, Out>& call, const Table& kernels) {
  if constexpr (std::is_same_v<In, typename Gemm<In, Out>::Sum>) return false;  // f32 into 16 bits
  return call.M <= kSmallExtent && call.N <= kSmallExtent &&
         call.K <= kSmallExtent * kernels.group && call.M > Table::kSweepRows[Table::kSweeps - 1] &&
         !has_few_columns(call, kernels.lanes, kernels.group) &&
         packed_words(call, kernels).b * 4 <= caches().l1 * 2 / 3;
}

/// False where there is no memory.
template <class In, class Out, class Source, class Word, class Sum>
[[gnu::noinline]] bool gemm_small_words(const Gemm<In, Out>& call,
                                        const Kernels<Source, Word, Sum>& kernels) {
  static_assert(sizeof(Word) == 4);
  const PackedWords packed = packed_words(call, kernels);
  Workspace workspace(packed.bytes());
  if (!workspace) return false;
  Word* const a = workspace.take<Word>(packed.bytes_of_a());
  multiply_words(call, kernels, call.A, call.B, call.C, a, workspace.take<Word>(0));
  return true;
}

}  // namespace tessera::cpu
