// The checked calls and the packed CPU path: which element types it multiplies, a problem as its
// argument, a plan that has no other choice. Private to src/matmul.
#pragma once

#include <string_view>

#include "tessera/cpu/gemm.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::detail {

/// Calls body(TypeTag<In>{}, TypeTag<Out>{}) with the element types of a product of the packed
/// path.
template <class Body>
void visit_packed(const Problem& p, Body&& body) {
  const DType in = p.in, out = p.out;
  const auto with = [&]<class In, class Out>(TypeTag<In> a, TypeTag<Out> c) { body(a, c); };
  if (in == DType::f64) return with(TypeTag<double>{}, TypeTag<double>{});
  if (in == DType::f32 && out == DType::f16) return with(TypeTag<float>{}, TypeTag<f16>{});
  if (in == DType::f32 && out == DType::bf16) return with(TypeTag<float>{}, TypeTag<bf16>{});
  if (in == DType::f32) return with(TypeTag<float>{}, TypeTag<float>{});
  const bool whole = out == DType::i32;
  if (p.in_b && in == DType::u8 && whole)
    return with(TypeTag<cpu::U8I8>{}, TypeTag<std::int32_t>{});
  if (p.in_b && in == DType::u8) return with(TypeTag<cpu::U8I8>{}, TypeTag<float>{});
  if (p.in_b && whole) return with(TypeTag<cpu::I8U8>{}, TypeTag<std::int32_t>{});
  if (p.in_b) return with(TypeTag<cpu::I8U8>{}, TypeTag<float>{});
  if (in == DType::i8 && whole) return with(TypeTag<std::int8_t>{}, TypeTag<std::int32_t>{});
  if (in == DType::i8) return with(TypeTag<std::int8_t>{}, TypeTag<float>{});
  if (in == DType::u8 && whole) return with(TypeTag<std::uint8_t>{}, TypeTag<std::int32_t>{});
  if (in == DType::u8) return with(TypeTag<std::uint8_t>{}, TypeTag<float>{});
  if (in == DType::f16 && out == DType::f16) return with(TypeTag<f16>{}, TypeTag<f16>{});
  if (in == DType::f16) return with(TypeTag<f16>{}, TypeTag<float>{});
  if (out == DType::bf16) return with(TypeTag<bf16>{}, TypeTag<bf16>{});
  with(TypeTag<bf16>{}, TypeTag<float>{});
}

/// A problem and its matrices as the packed path takes them. `bias` as for run().
template <class In, class Out>
cpu::Gemm<In, Out> gemm_of(const Problem& p, const void* A, const void* B, void* C,
                           const void* bias, int threads) {
  using Scalar = typename cpu::Gemm<In, Out>::Scalar;
  cpu::Gemm<In, Out> gemm;
  gemm.M = p.M, gemm.N = p.N, gemm.K = p.K;
  gemm.A = static_cast<const cpu::ElementA<In>*>(A), gemm.a_row = p.a.row, gemm.a_col = p.a.col;
  gemm.B = static_cast<const cpu::ElementB<In>*>(B), gemm.b_row = p.b.row, gemm.b_col = p.b.col;
  gemm.C = static_cast<Out*>(C), gemm.c_row = p.c.row, gemm.c_col = p.c.col;
  gemm.alpha = static_cast<Scalar>(p.alpha), gemm.beta = static_cast<Scalar>(p.beta);
  gemm.bias = {p.epilogue.bias, static_cast<const Scalar*>(bias)};
  gemm.last = last_step<Scalar>(p.epilogue);
  gemm.threads = threads;
  return gemm;
}

/// The plan of a call that only the packed path can run; `what` it multiplies says why ("a packed
/// matrix"). Throws Error(argument) where the options ask for another algorithm, and as make_plan
/// does.
Plan packed_plan(const Problem& problem, const Options& options, std::string_view what);

}  // namespace tessera::detail
