// The checked calls and the packed CPU path: which element types it multiplies, a problem as its
// argument, and the plan for calls that only it can run. For src/matmul and src/bench.
#pragma once

#include <string_view>

#include "product_types.hpp"
#include "tessera/cpu/gemm.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::detail {

/// Calls body(TypeTag<In>{}, TypeTag<Out>{}) with the element types of a product of the packed
/// path.
template <class Body>
void visit_packed(const Problem& p, Body&& body) {
  const auto visit = [&]<class In, class Out>() { body(TypeTag<In>{}, TypeTag<Out>{}); };
  if (!p.in_b) return visit_products(p.in, p.out, CpuProducts{}, visit);
#if !defined(TESSERA_ONLY_DEMO)
  const auto of_mixed_bytes = [&]<class In>(TypeTag<In> a) {
    if (p.out == DType::i32) body(a, TypeTag<std::int32_t>{});
    else body(a, TypeTag<float>{});
  };
  if (p.in == DType::u8) of_mixed_bytes(TypeTag<cpu::U8I8>{});
  else of_mixed_bytes(TypeTag<cpu::I8U8>{});
#endif
}

/// A problem and its matrices as the packed path takes them. `bias` as for run().
template <class In, class Out>
cpu::Gemm<In, Out> gemm_of(const Problem& p, const void* A, const void* B, void* C,
                           const void* bias, int threads,
                           Arithmetic arithmetic = Arithmetic::chain) {
  using Scalar = typename cpu::Gemm<In, Out>::Scalar;
  cpu::Gemm<In, Out> gemm;
  gemm.M = p.M, gemm.N = p.N, gemm.K = p.K;
  gemm.A = static_cast<const cpu::ElementA<In>*>(A), gemm.a_row = p.a.row, gemm.a_col = p.a.col;
  gemm.B = static_cast<const cpu::ElementB<In>*>(B), gemm.b_row = p.b.row, gemm.b_col = p.b.col;
  gemm.C = static_cast<Out*>(C), gemm.c_row = p.c.row, gemm.c_col = p.c.col;
  gemm.alpha = static_cast<Scalar>(p.alpha), gemm.beta = static_cast<Scalar>(p.beta);
  gemm.bias = {p.epilogue.bias, static_cast<const Scalar*>(bias)};
  gemm.last = last_step<Scalar>(p.epilogue);
  gemm.threads = threads, gemm.arithmetic = arithmetic;
  return gemm;
}

/// sums += A * B where the chains continue over a further part of K: see cpu::Chain. `p` is this
/// part of a product of the packed path into the type of its sums, of alpha 1 and beta 0.
void go_on(const Problem& p, const void* A, const void* B, void* sums, int threads);

/// The plan of a call that only the packed path can run; `what` it multiplies says why ("a packed
/// matrix"). Throws Error(argument) where the options ask for another algorithm, and as make_plan
/// does.
Plan packed_plan(const Problem& problem, const Options& options, std::string_view what);

}  // namespace tessera::detail
