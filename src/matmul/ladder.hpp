// The kernels of the ladder as compiled functions: each file src/matmul/ladder_*.cpp instantiates
// one kernel for its element types and tile shapes. Private to src/matmul.
#pragma once

#include <span>

#include "tessera/matmul/plan.hpp"
#include "tessera/simt/launch.hpp"
#include "tile_rules.hpp"

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
  std::string_view kernel;  ///< the class template; empty where there is none
  TileRule rule;
};

/// In the order of the ladder.
std::span<const LadderEntry> ladder();

extern const LadderEntry kNaive, kCoalescing, kTiled, kTiledRegister, kBlockTiled,
    kBlockTiledVectorized, kTensorCore, kSingleBlock, kTiledByHand, kTiledIdiomatic, kSarekNaive,
    kSarekTiled, kPacked, kSplitK;

/// The second tiles of two kernels, compiled for every type in files of their own.
inline constexpr TileShape kTiledSmall{.bm = 16, .bn = 16, .bk = 16};
inline constexpr TileShape kBlockTiledSmall{.bm = 64, .bn = 64, .bk = 8, .tm = 8, .tn = 8};

/// Element types that every kernel of the ladder multiplies, in the accumulator's arithmetic.
inline bool has_native_product(DType in, DType out) {
  if (in == out)
    return in == DType::f64 || in == DType::f32 || in == DType::f16 || in == DType::bf16 ||
           in == DType::i32;
  return out == DType::f32 && (in == DType::f16 || in == DType::bf16);
}

/// And those of the packed path: bytes too.
inline bool has_product(DType in, DType out) {
  return has_native_product(in, out) || (out == DType::i32 && (in == DType::i8 || in == DType::u8));
}

/// The tile that `wanted` means, built in or not. Throws Error(argument) where no kernel of the
/// entry can have it, or has this product.
TileShape possible_tile(const LadderEntry& entry, DType in, DType out, const TileShape& wanted);

/// Refuses what no plan can hold, whether it is made or read: extents, element types, scalars.
void check_problem(const Problem& problem);

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
      {static_cast<Acc>(p.alpha), static_cast<Acc>(p.beta), last_step<Acc>(p.epilogue)},
      p.epilogue.bias == Bias::none ? nullptr : static_cast<const Acc*>(call.bias),
      p.epilogue.bias == Bias::per_row ? 1 : 0,
      p.epilogue.bias == Bias::per_column ? 1 : 0};
  LaunchConfig config = call.config;
  config.grid = Kernel::grid(p.M, p.N);
  config.block = Kernel::block;
  launch(config, Kernel{}, A, B, C);
}

/// Kernel for every pair of element types that has_native_product.
template <class Kernel>
void run_every_type(const LadderCall& call) {
  const DType in = call.problem.in, out = call.problem.out;
  if (in == DType::f64) return run_kernel<Kernel, double, double>(call);
  if (in == DType::f32) return run_kernel<Kernel, float, float>(call);
  if (in == DType::i32) return run_kernel<Kernel, std::int32_t, std::int32_t>(call);
  if (in == DType::f16 && out == DType::f16) return run_kernel<Kernel, f16, f16>(call);
  if (in == DType::f16) return run_kernel<Kernel, f16, float>(call);
  if (in == DType::bf16 && out == DType::bf16) return run_kernel<Kernel, bf16, bf16>(call);
  return run_kernel<Kernel, bf16, float>(call);
}

/// The first Typed tiles of a kernel for every type, the others for f32. A file should not hold
/// more than one tile for every type: each takes some five seconds to compile.
template <template <TileShape> class Kernel, int Typed, TileShape... Tiles>
struct Ladder {
  static constexpr TileShape tiles[] = {Tiles...};
  static constexpr int typed = Typed;

  static void run(const LadderCall& call) { run_from<0, Tiles...>(call); }

 private:
  template <int At, TileShape First, TileShape... Rest>
  static void run_from(const LadderCall& call) {
    if (call.tile == First) {
      if constexpr (At < Typed) run_every_type<Kernel<First>>(call);
      else run_kernel<Kernel<First>, float, float>(call);
    } else if constexpr (sizeof...(Rest) > 0) {
      run_from<At + 1, Rest...>(call);
    }
  }
};

}  // namespace tessera::detail
