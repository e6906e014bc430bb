// A product with its K in parts: each leaves sums of its own, which are then added in the order of
// the parts, so that every run gives the same bits. Private to src/matmul.
#pragma once

#include "grouped_product.hpp"
#include "operands.hpp"
#include "tessera/kernels/warpgroup_tiled.hpp"

namespace tessera::detail {

/// The product into row-major sums at `to`, without its epilogue.
template <class Sum>
GroupedProduct sums_of(GroupedProduct product, void* to) {
  Problem& p = product.problem;
  p.out = dtype_of<Sum>(), p.c = {p.N, 1};
  p.alpha = 1, p.beta = 0, p.epilogue = {};
  product.C = to, product.bias = nullptr;
  return product;
}

/// C = the sums of all parts, one (M,N) after another.
template <class In, class Out, class Launch>
void sum_parts(const GroupedProduct& product, int parts, const void* sums, const Launch& launch) {
  const Problem& p = product.problem;
  with_operands<In, Out>(p, product.A, product.B, product.C, product.bias,
                         [&](const auto&, const auto&, const auto& C) {
                           launch(SumParts::grid(p.M, p.N), SumParts{parts},
                                  static_cast<const Accumulator<Out>*>(sums), C);
                         });
}

}  // namespace tessera::detail
