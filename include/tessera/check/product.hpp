// check_product<Kernel, In, Out>(options, problem): a kernel that multiplies matrices, as the
// kernels of include/tessera/kernels are, under the checker on seeded numbers of any shape.
#pragma once

#include <string>

#include "tessera/check/check.hpp"
#include "tessera/core/dtype.hpp"
#include "tessera/core/random.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/tensor/host_tensor.hpp"

namespace tessera::check {

/// C = A * B + beta * C with A (m,k), B (k,n), C (m,n).
struct ProductProblem {
  index_t m = 100, n = 100, k = 100;  ///< no multiple of any tile, so that every edge is met
  double beta = 0;                    ///< 0: C holds nothing that may be read
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
  const auto [m, n, k, beta] = problem;
  HostTensor<In> a(m, k), b(k, n);
  HostTensor<Out> c(m, n);
  detail::fill(a, options.seed, 1);
  detail::fill(b, options.seed, 2);
  detail::fill(c, options.seed, 3);
  Options own = options;
  own.fresh_outputs = beta == 0;
  own.coverage = true;  // a product needs all of A and B, and gives all of C
  if (own.tensors.empty()) own.tensors = {"A", "B", "C"};
  if (own.problem.empty()) own.problem = cat("m=", m, " n=", n, " k=", k);
  const auto A = tensor<kAnyMatrix>(static_cast<const In*>(a.data()), m, k, k, index_t{1});
  const auto B = tensor<kAnyMatrix>(static_cast<const In*>(b.data()), k, n, n, index_t{1});
  const Output<Tensor<Out*, kAnyMatrix>> C{
      tensor<kAnyMatrix>(c.data(), m, n, n, index_t{1}),
      {Accumulator<Out>{1}, static_cast<Accumulator<Out>>(beta), {}}};
  return check(own, Kernel::grid(m, n), Kernel{}, A, B, C);
}

}  // namespace tessera::check
