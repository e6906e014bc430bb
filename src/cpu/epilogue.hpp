// From the sums of a micro-tile to C, for the packed path. Measurements:
// bench/results/cpu/tuning.md.
#pragma once

#include <algorithm>
#include <type_traits>

#include "complex_parts.hpp"

namespace tessera::cpu {

/// Columns of the largest micro-tile of any instruction set; its rows: Kernels::kMostRows.
constexpr int kMostColumns = 64;

/// Finished numbers rounded to the 16 bits of C.
inline void narrow(f16* to, const float* from, int count) {
  kernel_set().f16.narrow(reinterpret_cast<HalfBits*>(to), from, count);
}
inline void narrow(bf16* to, const float* from, int count) {
  kernel_set().bf16.narrow(reinterpret_cast<BrainBits*>(to), from, count);
}

/// finish_tile for a C with contiguous rows, from c on.
template <class Out, class Table, class Sum, class Scalar>
void finish_side_by_side(const Table& kernels, const Sum* sums, index_t sums_row, int rows,
                         int cols, Out* c, index_t c_row, const FinishRow<Scalar>& how) {
  if constexpr (std::is_same_v<Sum, Out>) {
    kernels.finish(sums, sums_row, rows, cols, c, c_row, how);
  } else if constexpr (std::is_same_v<Scalar, Out>) {  // whole sums become floats
    alignas(64) Scalar rounded[Table::kMostRows * kMostColumns];
    for (int r = 0; r < rows; ++r)
      kernels.to_f32(rounded + r * kMostColumns, sums + r * sums_row, cols);
    kernel_set().f32.finish(rounded, kMostColumns, rows, cols, c, c_row, how);
  } else {
    alignas(64) Scalar finished[Table::kMostRows * kMostColumns];
    for (int r = 0; r < rows && how.beta != Scalar{0}; ++r) {
      for (int n = 0; n < cols; ++n)
        finished[r * kMostColumns + n] = static_cast<Scalar>(c[r * c_row + n]);
    }
    kernels.finish(sums, sums_row, rows, cols, finished, kMostColumns, how);
    for (int r = 0; r < rows; ++r) narrow(c + r * c_row, finished + r * kMostColumns, cols);
  }
}

/// The epilogue from (i, j) of C on.
template <class In, class Out>
FinishRow<typename Gemm<In, Out>::Scalar> finish_at(const Gemm<In, Out>& call, index_t i,
                                                    index_t j) {
  const auto* bias = call.bias.at(i, j);
  const bool along_rows = call.bias.kind == Bias::per_row;
  return {call.alpha, call.beta, along_rows ? bias : nullptr, along_rows ? nullptr : bias,
          call.last};
}

/// finish_tile for complex elements, from c on.
template <class R, class Table>
void combine_tile(const ComplexGemm<R>& call, const Table& kernels, const R* sums, index_t sums_row,
                  int rows, int cols, ComplexPart<R>* C) {
  R* const c = reinterpret_cast<R*>(C);
  const auto& how = call.combination;
  if (call.c_col == 1) return kernels.combine(sums, sums_row, rows, cols, c, 2 * call.c_row, how);
  alignas(64) R beside[Table::kMostRows / 2 * kMostColumns];
  const auto each = [&](const auto& body) {
    for (int i = 0; i < rows; i += 2) {
      for (int j = 0; j < cols; ++j)
        body(c[i * call.c_row + j / 2 * 2 * call.c_col + j % 2], beside[i / 2 * kMostColumns + j]);
    }
  };
  if (how.reads_c()) each([](const R& of_c, R& own) { own = of_c; });
  kernels.combine(sums, sums_row, rows, cols, beside, index_t{kMostColumns}, how);
  each([](R& of_c, const R& own) { of_c = own; });
}

/// The same for real ones. Rows that are not contiguous are gathered first.
template <class In, class Out, class Table>
void finish_real_tile(const Gemm<In, Out>& call, Out* C, const Table& kernels,
                      const typename Gemm<In, Out>::Sum* sums, index_t sums_row, index_t i,
                      index_t j, int rows, int cols) {
  using Scalar = typename Gemm<In, Out>::Scalar;
  Out* c = C + i * call.c_row + j * call.c_col;
  FinishRow<Scalar> how = finish_at(call, i, j);
  if (call.c_col == 1)
    return finish_side_by_side(kernels, sums, sums_row, rows, cols, c, call.c_row, how);
  if constexpr (std::is_same_v<Out, typename Gemm<In, Out>::Sum>) {
    if (how.changes_nothing()) {
      for (int n = 0; n < cols; ++n) {
        for (int r = 0; r < rows; ++r) c[r * call.c_row + n * call.c_col] = sums[r * sums_row + n];
      }
      return;
    }
  }
  constexpr int most = Table::kMaxRows;
  alignas(64) Out beside[most * kMostColumns];
  for (int first = 0; first < rows; first += most) {
    const int here = std::min(most, rows - first);
    Out* at = c + first * call.c_row;
    for (int r = 0; r < here && call.beta != Scalar{0}; ++r) {
      for (int n = 0; n < cols; ++n)
        beside[r * kMostColumns + n] = at[r * call.c_row + n * call.c_col];
    }
    finish_side_by_side(kernels, sums + first * sums_row, sums_row, here, cols, beside,
                        index_t{kMostColumns}, how);
    for (int r = 0; r < here; ++r) {
      for (int n = 0; n < cols; ++n)
        at[r * call.c_row + n * call.c_col] = beside[r * kMostColumns + n];
    }
    if (how.row_bias != nullptr) how.row_bias += here;
  }
}

/// The epilogue of a micro-tile of finished sums at (i, j) of C; `call` has everything but C.
template <class In, class Out, class Table>
void finish_tile(const Gemm<In, Out>& call, Out* C, const Table& kernels,
                 const typename Gemm<In, Out>::Sum* sums, index_t sums_row, index_t i, index_t j,
                 int rows, int cols) {
  if constexpr (kIsComplexPart<In>)
    combine_tile(call, kernels, sums, sums_row, rows, cols, C + i * call.c_row + j * call.c_col);
  else finish_real_tile(call, C, kernels, sums, sums_row, i, j, rows, cols);
}

/// C is the plain sums with contiguous rows: microkernels store directly to it.
template <class In, class Out>
bool is_plain(const Gemm<In, Out>& call) {
  return std::is_same_v<Out, typename Gemm<In, Out>::Sum> && call.c_col == 1 && call.alpha == 1 &&
         call.beta == 0 && call.bias.kind == Bias::none && call.last.changes_nothing();
}

/// May microkernels apply the epilogue, except its last step, in registers?
template <class In, class Out, class Table>
bool finishes_in_tiles(const Gemm<In, Out>& call, const Table& kernels) {
  return std::is_same_v<Out, typename Gemm<In, Out>::Sum> && kernels.finishes && call.c_col == 1 &&
         !is_plain(call);
}

/// The last step of an epilogue (activation, clamp), applied to a micro-tile that has been stored.
template <class Table, class Tile>
void finish_last_step(const Table& kernels, const Tile& micro, int rows) {
  kernels.finish(micro.to, micro.to_row, rows, micro.cols, micro.to, micro.to_row,
                 {1, 0, nullptr, nullptr, micro.finish->last});
}

/// One micro-tile of `rows` rows at (i, j) of C and its epilogue: in registers, or of the sums that
/// it has stored where `micro` says.
template <class In, class Out, class Table, class Micro, class Tile>
void run_and_finish_tile(const Gemm<In, Out>& call, Out* C, const Table& kernels, Micro run,
                         bool in_registers, Tile& micro, index_t i, index_t j, int rows) {
  if constexpr (std::is_same_v<Out, typename Gemm<In, Out>::Sum>) {
    if (in_registers) {
      const FinishRow<Out> how = finish_at(call, i, j);
      micro.finish = &how;
      micro.to = C + i * call.c_row + j, micro.to_row = call.c_row;
      run(micro);
      if (!how.last.changes_nothing()) finish_last_step(kernels, micro, rows);
      micro.finish = nullptr;
      return;
    }
  }
  run(micro);
  finish_tile(call, C, kernels, micro.c, micro.c_row, i, j, rows, micro.cols);
}

}  // namespace tessera::cpu
