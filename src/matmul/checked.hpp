// The kernels of the ladder compiled once more, for the checker: each file src/matmul/checked_*.cpp
// is compiled with TESSERA_CHECK=1. Private to src/matmul; see ladder.hpp for the kernels as they
// run.
#pragma once

#include <span>

#include "ladder.hpp"
#include "tessera/check/check.hpp"

namespace tessera::detail {

/// One kernel that can be checked, in its tiles.
struct CheckedEntry {
  std::string_view name;
  std::span<const TileShape> tiles;
  bool (*has_type)(DType in, DType out, const TileShape& tile);
  check::Report (*run)(const LadderCall& call, const check::Options& options);
};

/// In the order of the ladder.
std::span<const CheckedEntry> checked_ladder();

extern const CheckedEntry kCheckedNaive, kCheckedCoalescing, kCheckedTiled, kCheckedTiledRegister,
    kCheckedBlockTiled, kCheckedBlockTiledVectorized, kCheckedTensorCore, kCheckedPipelined,
    kCheckedSingleBlock, kCheckedTiledByHand, kCheckedTiledIdiomatic, kCheckedSarekNaive,
    kCheckedSarekTiled;

/// As run_kernel() of ladder.hpp.
template <class Kernel, class In, class Out>
check::Report check_kernel(const LadderCall& call, const check::Options& options) {
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
  return check::check(options, Kernel::grid(p.M, p.N), Kernel{}, A, B, C);
}

/// A kernel for f32 with every tile, and with its first tile for the other types that are checked.
template <template <TileShape> class Kernel, bool F64, TileShape First, TileShape... Rest>
struct CheckedLadder {
  static constexpr TileShape tiles[] = {First, Rest...};

  static bool has_type(DType in, DType out, const TileShape& tile) {
    if (in == DType::f32 && out == DType::f32) return true;
    if (tile != First) return false;
    return (in == DType::f16 && out == DType::f16) ||
           (F64 && in == DType::f64 && out == DType::f64);
  }
  static check::Report run(const LadderCall& call, const check::Options& options) {
    if (call.problem.in == DType::f16) return check_kernel<Kernel<First>, f16, f16>(call, options);
    if constexpr (F64) {
      if (call.problem.in == DType::f64)
        return check_kernel<Kernel<First>, double, double>(call, options);
    }
    return run_tile<First, Rest...>(call, options);
  }

 private:
  template <TileShape Tile, TileShape... Others>
  static check::Report run_tile(const LadderCall& call, const check::Options& options) {
    if constexpr (sizeof...(Others) > 0) {
      if (call.tile != Tile) return run_tile<Others...>(call, options);
    }
    return check_kernel<Kernel<Tile>, float, float>(call, options);
  }
};

}  // namespace tessera::detail
