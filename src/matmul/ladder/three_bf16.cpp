// `three_bf16`, for f32 in its tiles: kernels/pack_operand.hpp makes planes of any operands, which
// kernels/warpgroup_tiled.hpp multiplies.
#include <algorithm>
#include <vector>

#include "matmul/ladder.hpp"
#include "matmul/three_bf16_operands.hpp"

namespace tessera::detail {

void run_three_bf16(const LadderCall& call) {
  const Problem& p = call.problem;
  const auto planes_of = [&](index_t rows) {
    return std::vector<bf16>(static_cast<std::size_t>(plane_bytes(p, rows)) / sizeof(bf16));
  };
  std::vector<bf16> A = planes_of(p.M), B = planes_of(p.N);
  run_three_bf16_by({p, call.A, call.B, call.C, call.bias}, call.tile, {A.data(), B.data()},
                    std::max(1, call.config.threads), software_map, engine_launcher(call.config));
}

LadderEntry entry_of_three_bf16() {
  return {
      {"three_bf16", "f32 as three bf16 each, six products of a warpgroup's units (Hopper)",
       ThreeBf16Tiles::tiles, false, is_f32_product, ThreeBf16Tiles::typed, Arithmetic::three_bf16},
      run_three_bf16,
      "ThreeBf16Tiled",
      three_bf16_tile};
}

}  // namespace tessera::detail
