// Tasks of a packed product of few rows: B is read once, in dot form, axpy form, strips or blocks.
// Part of product.hpp, which includes it. Measurements: bench/results/cpu/tuning.md.
#pragma once

#include "product.hpp"

namespace tessera::cpu {

/// Few rows: B is read once, packed in blocks of few rows and many columns, and multiplied with
/// all of A, which stays in L1. Where its rows are contiguous, the next block is prefetched into
/// L2 at the same time, row by row in the order of memory.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::run_streaming(int worker, const Part& part) {
  const int mr = plan_.mr, nr = plan_.blocks.nr;
  KGroup* const a = own_a(worker);
  KGroup* const packed_b = own_b(worker);
  const index_t a_panel = mr * (part.k_groups + kernels_.a_extra);
  const index_t a_panels = ceil_div(part.i_end - part.i, mr);
  kernels_.pack_a(a, mr, source(call_.A + (i0_ + part.i) * call_.a_row + part.k0 * call_.a_col),
                  part.i_end - part.i, part.k, call_.a_row, call_.a_col);
  alignas(64) Sum temporary[Table::kMostRows * kMostColumns];
  auto micro = micro_tile(part, temporary);
  Sum* const sums = micro.c;
  const bool in_place = sums != temporary;
  const index_t block = plan_.blocks.stream_panels * nr;
  for (index_t j0 = part.j; j0 < part.j_end; j0 += block) {
    const index_t j1 = std::min(part.j_end, j0 + block);
    pack_panels_of_b(packed_b, part, j0, j1);
    Prefetch prefetch = next_block(part, j1);
    const index_t share = prefetch.lines / (ceil_div(j1 - j0, nr) * a_panels) + 1;
    for (index_t j = j0; j < j1; j += nr) {
      micro.cols = static_cast<int>(std::min<index_t>(nr, part.j_end - j));
      micro.b = packed_b + (j - j0) * (part.k_groups + kernels_.b_extra);
      micro.a = a;
      for (index_t i = part.i; i < part.i_end; i += mr, micro.a += a_panel) {
        micro.c = in_place ? sums + i * micro.c_row + j : sums;
        micro.next_c = in_place && i + mr >= part.i_end ? sums + part.i * micro.c_row + j + nr
                       : in_place                       ? micro.c + mr * micro.c_row
                                                        : sums;
        micro.rows = static_cast<int>(std::min<index_t>(mr, part.i_end - i));
        prefetch.some(share);
        multiply(micro, part, true, i, j);
      }
    }
  }
}

/// A task's columns in one call: in dot form; in axpy form, some rows of B with all of A before
/// the next ones; or in strips.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::run_unpacked(int worker, const Part& part) {
  const index_t group = kernels_.group, a_depth = part.k_groups + kernels_.a_extra;
  auto micro = micro_tile(part, sums_);
  micro.c += part.j;
  const auto* b = call_.B + part.k0 * call_.b_row + (j0_ + part.j) * call_.b_col;
  micro.b = in_k_groups(b);
  micro.cols = static_cast<int>(part.j_end - part.j);
  micro.k_rest = static_cast<int>(part.k % group);
  if constexpr (kUnpacked) {
    if (plan_.blocks.stream == Stream::strips) return run_strips(part, micro);
  }
  const ElementA<In>* a = call_.A + part.k0 * call_.a_col;
  const int rows = plan_.blocks.stream == Stream::dots ? static_cast<int>(call_.M)
                                                       : Table::kAxpyRows[plan_.axpy];
  KGroup* const panels = own_a(worker);
  if (plan_.packs_a())
    kernels_.pack_a(panels, rows, source(a), call_.M, part.k, call_.a_row, call_.a_col);
  // The row sums at the end of panel i, which correct for shifted signs.
  const auto shifts = [&](index_t i) {
    const bool shifted = kernels_.sum_rows != nullptr;
    return shifted ? reinterpret_cast<const Sum*>(panels + i * a_depth + rows * part.k_groups)
                   : nullptr;
  };
  Sum* const sums = micro.c;
  if (plan_.blocks.stream == Stream::dots) {
    micro.a = plan_.packs_a() ? panels : in_k_groups(a);
    micro.a_row = plan_.packs_a() ? 1 : call_.a_row,
    micro.a_k = plan_.packs_a() ? rows : call_.a_col;
    micro.b_k = call_.b_col;
    micro.shifts = shifts(0);
    micro.prefetch_k = b_bytes() <= near_bytes() ? 0
                       : call_.threads == 1      ? tuning().dot_ahead_alone
                                                 : tuning().dot_ahead;
    kernels_.dots[rows - 1](micro);
  } else {
    const index_t deep = rows < call_.M ? kAxpyTogether : part.k_groups;
    micro.prefetch_k = b_bytes() > 2 * near_bytes() && prefetches_in_order(micro.cols) ? 1 : 0;
    for (index_t w = 0; w < part.k_groups; w += deep) {
      micro.b = in_k_groups(b + w * group * call_.b_row);
      micro.K = std::min(deep, part.k_groups - w);
      micro.k_rest = w + deep < part.k_groups ? 0 : static_cast<int>(part.k % group);
      micro.resume = part.kc_block > 0 || w > 0;
      for (index_t i = 0; i < call_.M; i += rows) {
        micro.a = panels + i * a_depth + w * rows;
        micro.c = sums + i * micro.c_row;
        micro.shifts = w == 0 ? shifts(i) : nullptr;
        kernels_.axpy[plan_.axpy](micro);
      }
    }
  }
  if (part.kc_block + 1 == plan_.kc_blocks)
    finish_unpacked(sums, micro.c_row, 0, call_.M, part.j, part.j_end);
}

/// A few rows of A, unpacked, in groups of at most MR. Each strip of columns stays in L2 for all
/// groups; its sums, where C does not hold them, stay in L1. Whole micro-tiles are faster from L2
/// and slower from L3.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::run_strips(const Part& part,
                                                MicroTile<KGroup, Sum> micro) const {
  const index_t rows = even_part(call_.M, kernels_.rows, 1), cols = micro.cols;
  const index_t most = kernels_.lanes * (kernels_.rows * kernels_.vectors / rows);
  const index_t width = rows < call_.M ? even_part(cols, most, kernels_.lanes) : cols;
  const auto first = micro;
  micro.a_row = call_.a_row, micro.a_k = call_.a_col;
  const index_t hardware_prefetched =
      call_.M == 4 ? kFourHardwarePrefetched : kHardwarePrefetched * call_.threads;
  micro.prefetch_k =
      call_.M <= kMostPrefetching && b_bytes() > hardware_prefetched * caches().l2 ? 1 : 0;
  if (call_.M == 1)  // out of L2: see row_by_row()
    micro.prefetch_k =
        b_bytes() <= caches().l2 * 3 / 2 * call_.threads ? tuning().rows_together : 1;
  for (index_t j = 0; j < cols; j += width) {
    micro.b = first.b + j;
    micro.cols = static_cast<int>(std::min(width, cols - j));
    for (index_t i = 0; i < call_.M; i += rows) {
      const index_t here = std::min(rows, call_.M - i);
      micro.a = call_.A + i * call_.a_row;
      if (plan_.sums == SumsIn::c) micro.c = first.c + i * first.c_row + j;
      const bool is_tile = i > 0 && here == kernels_.rows && micro.cols == kernels_.nr();
      if (is_tile) kernels_.no_prefetch[0][here - 1][kernels_.vectors - 1](micro);
      else kernels_.strips[here - 1](micro);
      const index_t begin = part.j + j;
      finish_unpacked(micro.c, micro.c_row, i, i + here, begin, begin + micro.cols);
    }
  }
}

/// Applies the epilogue to rows [i0, i1) and columns [j0, j1) of C, whose sums are complete.
template <class In, class Out, class Table>
inline void Product<In, Out, Table>::finish_unpacked(const Sum* sums, index_t sums_row, index_t i0,
                                                     index_t i1, index_t j0, index_t j1) const {
  if (plan_.finish == FinishAt::never && plan_.sums == SumsIn::c) return;
  for (index_t i = i0; i < i1; i += kernels_.rows) {
    for (index_t j = j0; j < j1; j += kMostColumns) {
      finish_tile(call_, call_.C, kernels_, sums + (i - i0) * sums_row + j - j0, sums_row, i,
                  j0_ + j, static_cast<int>(std::min<index_t>(kernels_.rows, i1 - i)),
                  static_cast<int>(std::min<index_t>(kMostColumns, j1 - j)));
    }
  }
}

}  // namespace tessera::cpu
