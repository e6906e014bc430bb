// The operands of a problem as the tensors that every kernel of the ladder takes, whatever engine
// runs it, and its element types as types. Private to src/matmul.
#pragma once

#include "tessera/matmul/problem.hpp"
#include "tessera/tensor/tensor.hpp"

namespace tessera::detail {

/// body(A, B, C): A (M,K) and B (K,N), of no depth where alpha = 0, so that they are not read; C
/// (M,N) with its epilogue. The pointers lie where the kernel will run.
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

/// Element types that every kernel of the ladder multiplies, in the accumulator's arithmetic.
inline bool has_native_product(DType in, DType out) {
  if (in == out)
    return in == DType::f64 || in == DType::f32 || in == DType::f16 || in == DType::bf16 ||
           in == DType::i32;
  return out == DType::f32 && (in == DType::f16 || in == DType::bf16);
}

/// body.template operator()<In, Out>() for a pair that has_native_product.
template <class Body>
decltype(auto) visit_product(DType in, DType out, const Body& body) {
  if (in == DType::f64) return body.template operator()<double, double>();
  if (in == DType::f32) return body.template operator()<float, float>();
  if (in == DType::i32) return body.template operator()<std::int32_t, std::int32_t>();
  if (in == DType::f16 && out == DType::f16) return body.template operator()<f16, f16>();
  if (in == DType::f16) return body.template operator()<f16, float>();
  if (out == DType::bf16) return body.template operator()<bf16, bf16>();
  return body.template operator()<bf16, float>();
}

/// Element types that a kernel with matrix units multiplies; tensor_core has f64 besides.
inline bool has_unit_product(DType in, DType out) {
  return in != DType::f64 && in != DType::i32 && has_native_product(in, out);
}

/// The same for a pair that has_unit_product.
template <class Body>
decltype(auto) visit_unit_product(DType in, DType out, const Body& body) {
  if (in == DType::f32) return body.template operator()<float, float>();
  if (in == DType::f16 && out == DType::f16) return body.template operator()<f16, f16>();
  if (in == DType::f16) return body.template operator()<f16, float>();
  if (out == DType::bf16) return body.template operator()<bf16, bf16>();
  return body.template operator()<bf16, float>();
}

}  // namespace tessera::detail
