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
/// is false. `Cut`: also for tiles across the edge; a thread with very many sums may lack the
/// registers for that.
template <bool Cut = true, AnyTensor CTensor, class Body>
TESSERA_KERNEL void store_by(const Output<CTensor>& out, const Body& body, bool inside = true) {
  const auto& s = out.scalars;
  using Acc = typename Output<CTensor>::accumulator;
  if (!inside || s.alpha != Acc{1} || s.beta != Acc{0} || out.bias != nullptr ||
      !s.last.changes_nothing())
    return body(out);
  const auto c = detail::without_edge(out.c);
  using Full = std::remove_const_t<decltype(c)>;
  if (out.c.is_full()) return body(PlainOutput<Full, false>{c});
  if constexpr (Cut)
    body(PlainOutput<Full, true>{c, static_cast<int>(out.c.template valid<0>()),
                                 static_cast<int>(out.c.template valid<1>())});
  else body(out);
}
template <bool Cut = true, AnyTensor CTensor, class Body>
TESSERA_KERNEL void store_by(const CTensor& out, const Body& body, bool = true) {
  body(out);
}

/// Stores a thread's tile of sums (TM,TN) at tile (i, j) of `out`, element by element.
template <class Out, class Acc, Layout L>
TESSERA_KERNEL void store_tile(const Out& out, index_t i, index_t j, const Storage<Acc, L>& acc,
                               Here here = Here::current()) {
  constexpr index_t rows = L.shape.leaf(0), cols = L.shape.leaf(1);
  const auto body = [&](const auto& to) {
    TESSERA_UNROLL_REGISTERS
    for (index_t r = 0; r < rows; ++r) {
      TESSERA_UNROLL_REGISTERS
      for (index_t c = 0; c < cols; ++c)
        store(to, i * rows + r, j * cols + c, acc(r, c, here), here);
    }
  };
  store_by(out, body,
           i >= 0 && j >= 0 && (i + 1) * rows <= out.template extent<0>() &&
               (j + 1) * cols <= out.template extent<1>());
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
