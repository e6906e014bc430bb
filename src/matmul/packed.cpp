// The packed CPU path as two algorithms beside the ladder: one chain over K, and K in parts.
#include "ladder.hpp"
#include "tessera/cpu/gemm.hpp"
#include "tessera/cpu/split_k.hpp"

namespace tessera::detail {

namespace {

constexpr TileShape kNoTile[] = {TileShape{}};  // it blocks for the caches by itself

bool supports(DType in, DType out) { return in != DType::i32 && has_product(in, out); }

template <class In, class Out>
void run_typed(const LadderCall& call, bool split_k) {
  using Sum = typename cpu::Gemm<In, Out>::Sum;
  const Problem& p = call.problem;
  cpu::Gemm<In, Out> gemm;
  gemm.M = p.M, gemm.N = p.N, gemm.K = p.K;
  gemm.A = static_cast<const In*>(call.A), gemm.a_row = p.a.row, gemm.a_col = p.a.col;
  gemm.B = static_cast<const In*>(call.B), gemm.b_row = p.b.row, gemm.b_col = p.b.col;
  gemm.C = static_cast<Out*>(call.C), gemm.c_row = p.c.row, gemm.c_col = p.c.col;
  gemm.alpha = static_cast<Sum>(p.alpha), gemm.beta = static_cast<Sum>(p.beta);
  const Sum* bias = static_cast<const Sum*>(call.bias);
  gemm.row_bias = p.epilogue.bias == Bias::per_row ? bias : nullptr;
  gemm.column_bias = p.epilogue.bias == Bias::per_column ? bias : nullptr;
  gemm.last = last_step<Sum>(p.epilogue);
  gemm.threads = call.config.threads;
  if (split_k) cpu::gemm_split_k(gemm);
  else cpu::gemm(gemm);
}

template <bool SplitK>
void run(const LadderCall& call) {
  const DType in = call.problem.in, out = call.problem.out;
  if (in == DType::f64) return run_typed<double, double>(call, SplitK);
  if (in == DType::f32) return run_typed<float, float>(call, SplitK);
  if (in == DType::f16 && out == DType::f16) return run_typed<f16, f16>(call, SplitK);
  if (in == DType::f16) return run_typed<f16, float>(call, SplitK);
  if (in == DType::i8) return run_typed<std::int8_t, std::int32_t>(call, SplitK);
  if (in == DType::u8) return run_typed<std::uint8_t, std::int32_t>(call, SplitK);
  if (out == DType::bf16) return run_typed<bf16, bf16>(call, SplitK);
  return run_typed<bf16, float>(call, SplitK);
}

}  // namespace

const LadderEntry kPacked{
    {"packed", "packed panels and microkernels of this CPU's vector instructions", kNoTile, true,
     supports},
    run<false>,
    "",
    no_tile};

const LadderEntry kSplitK{{"split_k", "packed, with K cut into parts that are summed side by side",
                           kNoTile, false, supports},
                          run<true>,
                          "",
                          no_tile};

}  // namespace tessera::detail
