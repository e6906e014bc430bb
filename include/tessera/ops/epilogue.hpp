// C together with its epilogue (core/finish.hpp), as kernels see it. A kernel takes C either as a
// plain tensor (C = sum) or as an Output (alpha, beta, bias, activation); it calls tile() and
// store() on both and sees no difference.
#pragma once

#include "tessera/core/finish.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"

namespace tessera {

/// C together with its epilogue. Behaves like the tensor C for tile() and store().
template <AnyTensor CTensor>
struct Output {
  using element = typename CTensor::element;
  using accumulator = Accumulator<element>;

  CTensor c;
  EpilogueScalars<accumulator> scalars;
  const accumulator* bias = nullptr;   ///< of this view's first row and column
  index_t bias_row = 0, bias_col = 0;  ///< 1 along the mode that the bias follows

  template <class... I>
  TESSERA_HD constexpr bool contains(I... coordinates) const {
    return c.contains(coordinates...);
  }
  template <int Mode>
  TESSERA_HD constexpr index_t valid() const {
    return c.template valid<Mode>();
  }
  template <int Mode>
  TESSERA_HD constexpr index_t extent() const {
    return c.template extent<Mode>();
  }
};

/// A tile of C without an epilogue. `Cut`: only its first rows and columns exist, which each store
/// checks; else all exist and nothing is checked.
template <AnyTensor CTensor, bool Cut>
struct PlainOutput {
  using element = typename CTensor::element;
  CTensor c;
  int rows = 0, cols = 0;  ///< existing rows and columns; 32 bits, as few registers are left

  template <int Mode>
  TESSERA_HD constexpr index_t extent() const {
    return c.template extent<Mode>();
  }
};

namespace detail {
/// The same tile, treated as if all of it existed.
template <class P, Layout L, class E>
TESSERA_HD constexpr auto without_edge(const Tensor<P, L, E>& t) {
  return Tensor<P, L, Whole>(t.data(), t.values(), Whole{});
}
}  // namespace detail

/// Tile (i, j) of the output, with the part of the bias that belongs to it.
template <index_t Rows, index_t Cols, AnyTensor CTensor>
TESSERA_HD constexpr auto tile(const Output<CTensor>& out, index_t i, index_t j) {
  auto c = tile<Rows, Cols>(out.c, i, j);
  const auto* bias =
      out.bias == nullptr ? nullptr : out.bias + i * Rows * out.bias_row + j * Cols * out.bias_col;
  return Output<decltype(c)>{c, out.scalars, bias, out.bias_row, out.bias_col};
}

/// Stores one finished sum; does nothing where (row, col) does not exist.
template <AnyTensor CTensor, class Acc>
TESSERA_KERNEL void store(const Output<CTensor>& out, index_t row, index_t col, Acc sum,
                          Here here = Here::current()) {
  if (!out.contains(row, col)) return;
  using T = std::remove_cv_t<typename CTensor::element>;
  const auto* bias =
      out.bias == nullptr ? nullptr : out.bias + row * out.bias_row + col * out.bias_col;
  const auto old = [&] { return static_cast<T>(out.c(row, col, here)); };
  out.c(row, col, here) = convert<T>(finish(out.scalars, sum, old, bias));
}

/// The same to a plain tensor: C = sum, converted to its type.
template <AnyTensor CTensor, class Acc>
TESSERA_KERNEL void store(const CTensor& c, index_t row, index_t col, Acc sum,
                          Here here = Here::current()) {
  if (c.contains(row, col))
    c(row, col, here) = convert<std::remove_cv_t<typename CTensor::element>>(sum);
}

/// Tile (i, j) of it.
template <index_t Rows, index_t Cols, AnyTensor CTensor, bool Cut>
TESSERA_HD constexpr auto tile(const PlainOutput<CTensor, Cut>& out, index_t i, index_t j) {
  const auto c = detail::without_edge(tile<Rows, Cols>(out.c, i, j));
  return PlainOutput<std::remove_const_t<decltype(c)>, Cut>{
      c, out.rows - static_cast<int>(i * Rows), out.cols - static_cast<int>(j * Cols)};
}

/// The same for a PlainOutput.
template <AnyTensor CTensor, bool Cut, class Acc>
TESSERA_KERNEL void store(const PlainOutput<CTensor, Cut>& out, index_t row, index_t col, Acc sum,
                          Here here = Here::current()) {
  if (Cut && (static_cast<int>(row) >= out.rows || static_cast<int>(col) >= out.cols)) return;
  out.c(row, col, here) = convert<std::remove_cv_t<typename CTensor::element>>(sum);
}

/// Calls body(to) with `out`, a tile of C, as a PlainOutput where it has no epilogue: one test for
/// all elements, and far fewer instructions. Elements that body stores are in the tile, or `inside`
/// is false.
template <AnyTensor CTensor, class Body>
TESSERA_KERNEL void store_by(const Output<CTensor>& out, const Body& body, bool inside = true) {
  const auto& s = out.scalars;
  using Acc = typename Output<CTensor>::accumulator;
  if (!inside || s.alpha != Acc{1} || s.beta != Acc{0} || out.bias != nullptr ||
      !s.last.changes_nothing())
    return body(out);
  const auto c = detail::without_edge(out.c);
  using Full = std::remove_const_t<decltype(c)>;
  if (out.c.is_full()) return body(PlainOutput<Full, false>{c});
  body(PlainOutput<Full, true>{c, static_cast<int>(out.c.template valid<0>()),
                               static_cast<int>(out.c.template valid<1>())});
}
template <AnyTensor CTensor, class Body>
TESSERA_KERNEL void store_by(const CTensor& out, const Body& body, bool = true) {
  body(out);
}

/// Are sums stored to this output in loops that stay loops, so that the code has the epilogue once,
/// not once for each sum? Where nothing is checked and there is no epilogue, a store is one
/// instruction.
template <class Out>
inline constexpr bool kStoresInLoops = false;
template <AnyTensor CTensor>
inline constexpr bool kStoresInLoops<Output<CTensor>> = true;
template <AnyTensor CTensor>
inline constexpr bool kStoresInLoops<PlainOutput<CTensor, true>> = true;

/// Stores sum (i, j) of a thread (TM,TN) at (row_of(i), col_of(j)) of `out`. A loop cannot index
/// registers: after each row the others move up, and after each sum the rest of its row.
template <class Out, class Acc, Layout L, class RowOf, class ColOf>
TESSERA_KERNEL void store_each(const Out& out, const Storage<Acc, L>& acc, const RowOf& row_of,
                               const ColOf& col_of, Here here = Here::current()) {
  constexpr int rows = static_cast<int>(L.shape.leaf(0)), cols = static_cast<int>(L.shape.leaf(1));
  if constexpr (kStoresInLoops<Out>) {
    Storage<Acc, L> left = acc;
    TESSERA_NO_UNROLL
    for (int i = 0; i < rows; ++i) {
      Acc row[cols];
      TESSERA_UNROLL_REGISTERS
      for (int j = 0; j < cols; ++j) row[j] = left(0, j, here);
      TESSERA_UNROLL_REGISTERS
      for (int r = 0; r + 1 < rows; ++r) {
        TESSERA_UNROLL_REGISTERS
        for (int j = 0; j < cols; ++j) left(r, j, here) = left(r + 1, j, here);
      }
      TESSERA_NO_UNROLL
      for (int j = 0; j < cols; ++j) {
        store(out, row_of(i), col_of(j), row[0], here);
        TESSERA_UNROLL_REGISTERS
        for (int c = 0; c + 1 < cols; ++c) row[c] = row[c + 1];
      }
    }
  } else {
    TESSERA_UNROLL_REGISTERS
    for (int i = 0; i < rows; ++i) {
      TESSERA_UNROLL_REGISTERS
      for (int j = 0; j < cols; ++j) store(out, row_of(i), col_of(j), acc(i, j, here), here);
    }
  }
}

/// Stores a thread's tile of sums (TM,TN) at tile (i, j) of `out`, element by element.
template <class Out, class Acc, Layout L>
TESSERA_KERNEL void store_tile(const Out& out, index_t i, index_t j, const Storage<Acc, L>& acc,
                               Here here = Here::current()) {
  constexpr index_t rows = L.shape.leaf(0), cols = L.shape.leaf(1);
  const auto body = [&](const auto& to) {
    store_each(
        to, acc, [&](int r) { return i * rows + r; }, [&](int c) { return j * cols + c; }, here);
  };
  store_by(out, body,
           i >= 0 && j >= 0 && (i + 1) * rows <= out.template extent<0>() &&
               (j + 1) * cols <= out.template extent<1>());
}

/// Are neighbours along a row closer in memory than those along a column?
template <class Out>
TESSERA_HD constexpr bool runs_along_rows(const Out& out) {
  if constexpr (requires { out.c; }) return runs_along_rows(out.c);
  else {
    const index_t down = out.template stride<0>(), along = out.template stride<1>();
    return (along < 0 ? -along : along) <= (down < 0 ? -down : down);
  }
}

/// A zero of C's accumulator type.
template <class C>
TESSERA_HD constexpr auto zero_of(const C&) {
  return Accumulator<typename C::element>{};
}
/// C's accumulator type.
template <class C>
using AccumulatorFor = Accumulator<std::remove_cv_t<typename std::remove_cvref_t<C>::element>>;

}  // namespace tessera
