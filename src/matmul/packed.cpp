// The packed CPU path as an algorithm beside the ladder.
#include "ladder.hpp"
#include "tessera/cpu/gemm.hpp"

namespace tessera::detail {

namespace {

constexpr TileShape kNoTile[] = {TileShape{}};  // it blocks for the caches by itself

bool supports(DType in, DType out) { return in == out && (in == DType::f64 || in == DType::f32); }

template <class T>
void run_typed(const LadderCall& call) {
  const Problem& p = call.problem;
  cpu::Gemm<T> gemm;
  gemm.M = p.M, gemm.N = p.N, gemm.K = p.K;
  gemm.A = static_cast<const T*>(call.A), gemm.a_row = p.a.row, gemm.a_col = p.a.col;
  gemm.B = static_cast<const T*>(call.B), gemm.b_row = p.b.row, gemm.b_col = p.b.col;
  gemm.C = static_cast<T*>(call.C), gemm.c_row = p.c.row, gemm.c_col = p.c.col;
  gemm.alpha = static_cast<T>(p.alpha), gemm.beta = static_cast<T>(p.beta);
  const T* bias = static_cast<const T*>(call.bias);
  gemm.row_bias = p.epilogue.bias == Bias::per_row ? bias : nullptr;
  gemm.column_bias = p.epilogue.bias == Bias::per_column ? bias : nullptr;
  gemm.activation = p.epilogue.activation;
  gemm.threads = call.config.threads;
  cpu::gemm(gemm);
}

void run(const LadderCall& call) {
  if (call.problem.in == DType::f64) run_typed<double>(call);
  else run_typed<float>(call);
}

}  // namespace

const LadderEntry kPacked{
    {"packed", "packed panels and microkernels of this CPU's vector instructions", kNoTile, true,
     supports},
    run,
    "",
    no_tile};

}  // namespace tessera::detail
