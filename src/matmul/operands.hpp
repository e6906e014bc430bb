// The operands of a problem as the tensors that every kernel of the ladder takes, whatever engine
// runs it, and its element types as types. Private to src/matmul.
#pragma once

#include "product_types.hpp"
#include "tessera/matmul/problem.hpp"
#include "tessera/tensor/tensor.hpp"

namespace tessera::detail {

/// body(A, B, C): A (M,K) and B (K,N), of no depth where alpha = 0, so that they are not read; C
/// (M,N) with its epilogue. The pointers are valid on the device of the kernel.
template <class In, class Out, class Body>
decltype(auto) with_operands(const Problem& p, const void* a, const void* b, void* c,
                             const void* bias, const Body& body) {
  using Acc = Accumulator<Out>;
  const index_t K = p.alpha == 0 ? 0 : p.K;
  const auto A = tensor<kAnyMatrix>(static_cast<const In*>(a), p.M, K, p.a.row, p.a.col);
  const auto B = tensor<kAnyMatrix>(static_cast<const In*>(b), K, p.N, p.b.row, p.b.col);
  const auto view = tensor<kAnyMatrix>(static_cast<Out*>(c), p.M, p.N, p.c.row, p.c.col);
  const Output<Tensor<Out*, kAnyMatrix>> C{
      view,
      {static_cast<Acc>(p.alpha), static_cast<Acc>(p.beta), last_step<Acc>(p.epilogue)},
      p.epilogue.bias == Bias::none ? nullptr : static_cast<const Acc*>(bias),
      p.epilogue.bias == Bias::per_row ? 1 : 0,
      p.epilogue.bias == Bias::per_column ? 1 : 0};
  return body(A, B, C);
}

}  // namespace tessera::detail
