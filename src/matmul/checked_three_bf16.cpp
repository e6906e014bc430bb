// `three_bf16` under the checker: the product of planes, which the host makes.
#include <algorithm>
#include <vector>

#include "checked.hpp"
#include "three_bf16_operands.hpp"

namespace tessera::detail {

namespace {

std::vector<bf16> planes_of(const Problem& p, const void* from, index_t rows, Strides strides) {
  const index_t depth = plane_depth(p);
  std::vector<bf16> out(static_cast<std::size_t>(plane_bytes(p, rows)) / sizeof(bf16));
  for (index_t i = 0; depth > 0 && i < rows; ++i) {
    for (index_t k = 0; k < p.K; ++k) {
      const ThreeBf16 all =
          three_bf16(static_cast<const float*>(from)[i * strides.row + k * strides.col]);
      for (int plane = 0; plane < 3; ++plane)
        out[static_cast<std::size_t>((i * 3 + plane) * depth + k)] = all.parts[plane];
    }
  }
  return out;
}

check::Report run_three_bf16_checked(const LadderCall& call, const check::Options& options) {
  const Problem& p = call.problem;
  std::vector<bf16> A = planes_of(p, call.A, p.M, p.a);
  std::vector<bf16> B = planes_of(p, call.B, p.N, {p.b.col, p.b.row});
  check::Report report;
  multiply_planes({p, call.A, call.B, call.C, call.bias}, call.tile, {A.data(), B.data(), true}, 2,
                  software_map, [&](Dim3 grid, const auto& kernel, const auto&... arguments) {
                    report = check::check(options, grid, kernel, arguments...);
                  });
  return report;
}

bool has_three_bf16(DType in, DType out, const TileShape&) { return is_f32_product(in, out); }

}  // namespace

CheckedEntry checked_three_bf16() {
  return {"three_bf16", ThreeBf16Tiles::tiles, has_three_bf16, run_three_bf16_checked, true};
}

}  // namespace tessera::detail
