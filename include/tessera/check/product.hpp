// check_product<Kernel, In, Out>(options, problem): a kernel that multiplies matrices, as the
// kernels of include/tessera/kernels are, under the checker on seeded numbers of any shape.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/check/check.hpp"
#include "tessera/core/dtype.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/random.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/tensor/host_tensor.hpp"

namespace tessera::check {

/// The memory layout of A, B and C of a product. padded: rows are further apart than they are long.
/// aligned: they begin at multiples of 16 elements, as bulk copies need.
enum class ProductStrides : std::uint8_t {
  rows,
  transposed_a,
  transposed_b,
  transposed_c,
  padded,
  transposed_padded,  ///< all three
  aligned,
  aligned_transposed_b
};
inline constexpr std::array<std::string_view, 8> kProductStridesNames = {
    "rows",   "transposed-a",      "transposed-b", "transposed-c",
    "padded", "transposed-padded", "aligned",      "aligned-transposed-b"};
constexpr std::string_view name(ProductStrides strides) {
  return kProductStridesNames[static_cast<std::size_t>(strides)];
}
/// Throws Error(argument).
inline ProductStrides parse_product_strides(std::string_view text) {
  for (std::size_t i = 0; i < kProductStridesNames.size(); ++i)
    if (text == kProductStridesNames[i]) return static_cast<ProductStrides>(i);
  throw Error(Category::argument, cat("unknown strides '", text, "'"),
              "rows, transposed-a, transposed-b, transposed-c, padded, transposed-padded, aligned "
              "or aligned-transposed-b");
}

/// One operand of a product in memory.
struct OperandLayout {
  index_t row_stride, col_stride;
  index_t elements;  ///< of all its memory, gaps included
};
/// `operand`: 'A', 'B' or 'C'.
constexpr OperandLayout operand_layout(ProductStrides strides, char operand, index_t rows,
                                       index_t cols) {
  using S = ProductStrides;
  const bool all = strides == S::transposed_padded;
  const bool transposed =
      all || (operand == 'A' && strides == S::transposed_a) ||
      (operand == 'B' && (strides == S::transposed_b || strides == S::aligned_transposed_b)) ||
      (operand == 'C' && strides == S::transposed_c);
  const index_t gap = all || strides == S::padded ? 3 : 0;  // makes a wide access misaligned
  const index_t length = transposed ? rows : cols, lines = transposed ? cols : rows;
  const bool aligned = strides == S::aligned || strides == S::aligned_transposed_b;
  const index_t apart = aligned ? (length + 15) / 16 * 16 : length + gap,
                elements = lines > 0 ? (lines - 1) * apart + length : 0;
  return transposed ? OperandLayout{1, apart, elements} : OperandLayout{apart, 1, elements};
}

/// C = A * B + beta * C with A (m,k), B (k,n), C (m,n).
struct ProductProblem {
  index_t m = 100, n = 100, k = 100;  ///< no multiple of any tile, so that every edge occurs
  double beta = 0;                    ///< 0: C is uninitialised
  ProductStrides strides = ProductStrides::rows;
};

/// Whole numbers from -8 to 8, which every type holds; the same for the same seed and stream.
template <class T>
T seeded_element(std::uint64_t seed, std::uint64_t stream, index_t i) {
  const auto bits = random_bits(seed + stream, static_cast<std::uint64_t>(i));
  return convert<T>(static_cast<double>(bits % 17) - 8);
}

namespace detail {

template <class T>
void fill(HostTensor<T>& out, std::uint64_t seed, std::uint64_t stream) {
  for (index_t i = 0; i < out.size(); ++i) out.data()[i] = seeded_element<T>(seed, stream, i);
}

}  // namespace detail

/// The report of a Kernel with `grid(M, N)`, `block` and operator()(t, A, B, C). Throws as check().
template <class Kernel, class In, class Out = In>
Report check_product(const Options& options, const ProductProblem& problem = {}) {
  const auto [m, n, k, beta, strides] = problem;
  const OperandLayout la = operand_layout(strides, 'A', m, k),
                      lb = operand_layout(strides, 'B', k, n),
                      lc = operand_layout(strides, 'C', m, n);
  HostTensor<In> a(1, la.elements), b(1, lb.elements);
  HostTensor<Out> c(1, lc.elements);
  detail::fill(a, options.seed, 1);
  detail::fill(b, options.seed, 2);
  detail::fill(c, options.seed, 3);
  Options own = options;
  own.fresh_outputs = beta == 0;
  own.coverage = true;  // a product reads all of A and B and writes all of C
  if (own.tensors.empty()) own.tensors = {"A", "B", "C"};
  if (own.problem.empty()) {
    own.problem = cat("m=", m, " n=", n, " k=", k);
    if (strides != ProductStrides::rows) own.problem += cat(" strides=", name(strides));
  }
  const auto A =
      tensor<kAnyMatrix>(static_cast<const In*>(a.data()), m, k, la.row_stride, la.col_stride);
  const auto B =
      tensor<kAnyMatrix>(static_cast<const In*>(b.data()), k, n, lb.row_stride, lb.col_stride);
  const Output<Tensor<Out*, kAnyMatrix>> C{
      tensor<kAnyMatrix>(c.data(), m, n, lc.row_stride, lc.col_stride),
      {Accumulator<Out>{1}, static_cast<Accumulator<Out>>(beta), {}}};
  return check(own, Kernel::grid(m, n), Kernel{}, A, B, C);
}

}  // namespace tessera::check
