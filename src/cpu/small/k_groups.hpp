// Tiny and small products of types whose elements are packed into K-groups first (f16, bf16,
// bytes), and tiny ones of f32 into 16 bits: by one thread, no tasks, no shared state. Few rows or
// columns in dot form, else with both factors packed at once. Called by gemm.cpp and gemm_plan.cpp.
// Measurements: bench/results/cpu/tuning.md.
#pragma once

#include <algorithm>
#include <type_traits>

#include "cpu/call_forms.hpp"
#include "forms.hpp"

namespace tessera::cpu {

/// A, B and C of `call` are not looked at. `a` has room for all of A, `b` for all of B, packed.
template <class In, class Out, class Source, class KGroup, class Sum>
void multiply_k_groups(const Gemm<In, Out>& call, const Kernels<Source, KGroup, Sum>& kernels,
                       const ElementA<In>* A, const ElementB<In>* B, Out* C, KGroup* a, KGroup* b) {
  using Table = Kernels<Source, KGroup, Sum>;
  alignas(64) Sum sums[Table::kMostRows * kMostColumns];
  const auto* rows = reinterpret_cast<const Source*>(A);
  const auto* columns = reinterpret_cast<const Source*>(B);
  const index_t k_groups = ceil_div(call.K, kernels.group);
  const int mr = kernels.rows, nr = small_panel(call.N, kernels);
  kernels.pack_b(b, nr, columns, call.N, call.K, call.b_col, call.b_row);
  MicroTile<KGroup, Sum> micro{};
  micro.K = k_groups, micro.b_k = nr;
  const bool reads_a = kernels.reads_a(call.K, call.a_row, call.a_col);
  const KGroup* first = a;
  index_t a_step = k_groups + kernels.a_extra;  // of a row
  if (!reads_a) {
    kernels.pack_a(a, mr, rows, call.M, call.K, call.a_row, call.a_col);
  } else {
    first = reinterpret_cast<const KGroup*>(rows);
    a_step = micro.a_row = call.a_row / kernels.group, micro.a_k = call.a_col;
    if (kernels.sum_rows != nullptr)
      kernels.sum_rows(reinterpret_cast<Sum*>(a), first, call.M, k_groups, a_step);
  }
  const bool plain = is_plain(call), ends = finishes_in_tiles(call, kernels);
  const auto& table = reads_a ? kernels.direct : kernels.packed;
  const Prepared unit(kernels);
  micro.b = b;
  for (index_t j = 0; j < call.N; j += nr, micro.b += nr * (k_groups + kernels.b_extra)) {
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

/// A few rows of A, unpacked or packed on the stack, times a B whose columns are contiguous, which
/// are transposed in registers. Only for products that is_for_k_group_dots() accepts, else `a` is
/// too short; A, B and C of `call` are ignored.
template <class In, class Out, class Source, class KGroup, class Sum>
[[gnu::noinline]] void multiply_k_group_dots(const Gemm<In, Out>& call,
                                             const Kernels<Source, KGroup, Sum>& kernels,
                                             const ElementA<In>* A, const ElementB<In>* B, Out* C) {
  constexpr int most_rows = Kernels<Source, KGroup, Sum>::kMaxRows;
  alignas(64) KGroup a[most_rows * (kSmallExtent + 1)];
  alignas(64) Sum sums[most_rows * kMostColumns], shifts[most_rows];
  const auto* first = reinterpret_cast<const Source*>(A);
  const int rows = static_cast<int>(call.M);
  const bool plain = is_plain(call);
  MicroTile<KGroup, Sum> micro{};
  micro.K = ceil_div(call.K, kernels.group),
  micro.k_rest = static_cast<int>(call.K % kernels.group);
  micro.b_k = call.b_col;
  const bool reads_a = kernels.reads_a(call.K, rows > 1 ? call.a_row : 0, call.a_col);
  if (reads_a) {
    micro.a = reinterpret_cast<const KGroup*>(A);
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
    micro.b = reinterpret_cast<const KGroup*>(B + j * call.b_col);
    if constexpr (std::is_same_v<Out, Sum>) {
      if (plain) micro.c = C + j, micro.c_row = call.c_row;
    }
    kernels.dots[rows - 1](micro);
    if (!plain) finish_tile(call, C, kernels, sums, kMostColumns, 0, j, rows, micro.cols);
  }
}

/// In dot form, if `form` says so.
template <class In, class Out, class Table>
bool multiply_k_group_dots(const Gemm<In, Out>& call, const Table& kernels, SmallForm form,
                           const ElementA<In>* A, const ElementB<In>* B, Out* C) {
  if (form == SmallForm::dots) return multiply_k_group_dots(call, kernels, A, B, C), true;
  if (form != SmallForm::column_dots) return false;
  with_kernels<typename OperandTypes<In>::Swapped>(
      [&](const auto& others) { multiply_k_group_dots(swapped(call), others, B, A, C); });
  return true;
}

/// `call` is tiny; its A, B and C are ignored. Panels are on the stack.
template <class In, class Out, class Source, class KGroup, class Sum>
[[gnu::noinline]] void multiply_tiny_k_groups(const Gemm<In, Out>& call,
                                              const Kernels<Source, KGroup, Sum>& kernels,
                                              SmallForm form, const ElementA<In>* A,
                                              const ElementB<In>* B, Out* C) {
  // K-groups of one element each, or of two or more and, for tile units, 15 K-groups beyond them.
  constexpr index_t share = sizeof(KGroup) / 4;  // see is_tiny
  constexpr index_t most_k_groups = std::is_same_v<KGroup, Sum> ? kTiny / share : kTiny / 2 + 15;
  constexpr index_t most_lines = 64 / share;  // panels that cover kTiny lines
  if (multiply_k_group_dots(call, kernels, form, A, B, C)) return;
  alignas(64) KGroup a[most_lines * most_k_groups], b[most_lines * most_k_groups];
  multiply_k_groups(call, kernels, A, B, C, a, b);
}

/// False where there is no memory.
template <class In, class Out, class Source, class KGroup, class Sum>
[[gnu::noinline]] bool multiply_small_k_groups(const Gemm<In, Out>& call,
                                               const Kernels<Source, KGroup, Sum>& kernels,
                                               SmallForm form) {
  if (multiply_k_group_dots(call, kernels, form, call.A, call.B, call.C)) return true;
  const PackedKGroups packed = packed_k_groups(call, kernels);
  Workspace workspace(packed.bytes());
  if (!workspace) return false;
  KGroup* const a = workspace.take<KGroup>(packed.bytes_of_a());
  multiply_k_groups(call, kernels, call.A, call.B, call.C, a, workspace.take<KGroup>(0));
  return true;
}

}  // namespace tessera::cpu
