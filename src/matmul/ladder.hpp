// The kernels of the ladder as compiled functions: each file src/matmul/ladder_*.cpp instantiates
// one kernel for its element types and tile shapes. Private to src/matmul.
#pragma once

#include <span>

#include "tessera/matmul/plan.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera::detail {

/// Everything a kernel needs at run time. Checked before it gets here.
struct LadderCall {
  const Problem& problem;
  const TileShape& tile;
  LaunchConfig config;  ///< threads, order, seed; the kernel sets grid and block
  const void* A;
  const void* B;
  void* C;
  const void* bias;
};

/// One compiled kernel.
struct LadderEntry {
  Algorithm algorithm;
  void (*run)(const LadderCall& call);
};

/// In the order of the ladder.
std::span<const LadderEntry> ladder();

extern const LadderEntry kNaive, kCoalescing, kTiled, kTiledRegister, kBlockTiled,
    kBlockTiledVectorized, kTensorCore, kSingleBlock, kTiledIdiomatic, kSarekNaive, kSarekTiled,
    kPacked;

/// Element types with a product in the accumulator's arithmetic.
inline bool has_native_product(DType in, DType out) {
  if (in == out)
    return in == DType::f64 || in == DType::f32 || in == DType::f16 || in == DType::bf16 ||
           in == DType::i32;
  return out == DType::f32 && (in == DType::f16 || in == DType::bf16);
}

template <class Kernel, class In, class Out>
void run_kernel(const LadderCall& call) {
  using Acc = Accumulator<Out>;
  const Problem& p = call.problem;
  const index_t K = p.alpha == 0 ? 0 : p.K;  // alpha = 0: A and B are not read
  const auto A = tensor<kAnyMatrix>(static_cast<const In*>(call.A), p.M, K, p.a.row, p.a.col);
  const auto B = tensor<kAnyMatrix>(static_cast<const In*>(call.B), K, p.N, p.b.row, p.b.col);
  const auto c = tensor<kAnyMatrix>(static_cast<Out*>(call.C), p.M, p.N, p.c.row, p.c.col);
  const Output<Tensor<Out*, kAnyMatrix>> C{
      c,
      {static_cast<Acc>(p.alpha), static_cast<Acc>(p.beta), p.epilogue.activation},
      p.epilogue.bias == Bias::none ? nullptr : static_cast<const Acc*>(call.bias),
      p.epilogue.bias == Bias::per_row ? 1 : 0,
      p.epilogue.bias == Bias::per_column ? 1 : 0};
  LaunchConfig config = call.config;
  config.grid = Kernel::grid(p.M, p.N);
  config.block = Kernel::block;
  launch(config, Kernel{}, A, B, C);
}

/// Instantiates Kernel<Default> for all element types, and Kernel<Others>... for f32.
template <template <TileShape> class Kernel, TileShape Default, TileShape... Others>
struct Ladder {
  static constexpr TileShape tiles[] = {Default, Others...};

  static void run(const LadderCall& call) {
    const DType in = call.problem.in, out = call.problem.out;
    if (call.tile == Default) {
      using K = Kernel<Default>;
      if (in == DType::f64) return run_kernel<K, double, double>(call);
      if (in == DType::f32) return run_kernel<K, float, float>(call);
      if (in == DType::i32) return run_kernel<K, std::int32_t, std::int32_t>(call);
      if (in == DType::f16 && out == DType::f16) return run_kernel<K, f16, f16>(call);
      if (in == DType::f16) return run_kernel<K, f16, float>(call);
      if (in == DType::bf16 && out == DType::bf16) return run_kernel<K, bf16, bf16>(call);
      return run_kernel<K, bf16, float>(call);
    }
    (void)((call.tile == Others && (run_kernel<Kernel<Others>, float, float>(call), true)) || ...);
  }
};

}  // namespace tessera::detail
