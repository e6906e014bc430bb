// `warpgroup` under the checker: f32 and bf16 in its tiles, f16 in the first and in those of
// clusters, bytes in the first. Operands that bulk copies cannot read are multiplied by
// `tensor_core` or copied, as in every run.
#include <algorithm>

#include "matmul/byte_rows.hpp"
#include "matmul/checked.hpp"
#include "matmul/warpgroup_operands.hpp"

namespace tessera::detail {

namespace {

using CheckedWarpgroupTiles = CompiledTiles<WarpgroupTiles>;

template <class T, class Out, class Tiles>
check::Report check_typed(const LadderCall& call, const check::Options& options) {
  const Problem& p = call.problem;
  check::Report report;
  WarpgroupLadder<T, Tiles>::with_kernel(call.tile, [&]<class Kernel>(const Kernel& kernel) {
    with_bulk_operands<Kernel, T, Out>(
        p, call.A, call.B, call.C, call.bias, software_map,
        [&](const auto& A, const auto& B, const auto& slices, const auto& C) {
          // All of few blocks, so that each computes a second tile; or some of a whole GPU's.
          const Dim3 grid =
              options.blocks == 0 ? Kernel::grid(p.M, p.N, 2) : Kernel::grid(p.M, p.N);
          report = check::check(options, grid, kernel, A, B, slices, C);
        });
  });
  return report;
}

/// Into the type of the inputs; bytes into that of their sums.
template <class T>
using CheckedOut = std::conditional_t<sizeof(T) == 1, Accumulator<T>, T>;
/// The first tile; of bf16 all, of f16, whose kernels are the same, also those of clusters.
template <class T>
struct CheckedTiles {
  using List = TileList<1, WarpgroupTilesOf<T>::tiles[0]>;
};
template <>
struct CheckedTiles<bf16> {
  using List = CheckedWarpgroupTiles;
};
template <>
struct CheckedTiles<f16> {
  using List = CompiledTiles<
      TileList<1, WarpgroupTiles::tiles[0], WarpgroupTiles::tiles[5], WarpgroupTiles::tiles[6]>>;
};
static_assert(WarpgroupTiles::tiles[5].cm > 0 && WarpgroupTiles::tiles[6].cm > 0);
template <class T>
using TilesOf = typename CheckedTiles<T>::List;
/// Those whose products this build has.
template <class... Ts>
using CheckedOf = typename Joined<
    std::conditional_t<has_warpgroup_product(dtype_of<Ts>(), dtype_of<CheckedOut<Ts>>()),
                       TypeList<Ts>, TypeList<>>...>::type;
using CheckedLikeFirst = CheckedOf<bf16, f16, f8e4m3, f8e5m2, std::int8_t, std::uint8_t>;

template <class... Ts>
check::Report check_first(const LadderCall& call, const check::Options& options, TypeList<Ts...>) {
  check::Report report;
  (void)((call.problem.in == dtype_of<Ts>() &&
          (report = check_typed<Ts, CheckedOut<Ts>, TilesOf<Ts>>(call, options), true)) ||
         ...);
  return report;
}

check::Report run_warpgroup_checked(const LadderCall& call, const check::Options& options) {
  const Problem& p = call.problem;
  const bool has_maps = why_no_bulk_operands(p, call.A, call.B).empty();
  if (!has_maps && size_of(p.in) > 1) return check_by_tensor_core(call, options);
  if (!has_maps) {
    const ByteRows rows(p, call.A, call.B);
    return check_first(
        {rows.problem, call.tile, call.config, rows.A.data(), rows.B.data(), call.C, call.bias},
        options, CheckedLikeFirst{});
  }
  if (p.in == DType::f32) return check_typed<float, float, CheckedWarpgroupTiles>(call, options);
  return check_first(call, options, CheckedLikeFirst{});
}

template <class Tiles>
bool has_tile(const TileShape& tile) {
  return std::find(std::begin(Tiles::tiles), std::end(Tiles::tiles), tile) !=
         std::end(Tiles::tiles);
}
template <class... Ts>
bool is_first_of(DType in, DType out, const TileShape& tile, TypeList<Ts...>) {
  return (
      (in == dtype_of<Ts>() && out == dtype_of<CheckedOut<Ts>>() && has_tile<TilesOf<Ts>>(tile)) ||
      ...);
}

bool has_warpgroup_type(DType in, DType out, const TileShape& tile) {
  if (in == DType::f32 && out == DType::f32) return has_tile<CheckedWarpgroupTiles>(tile);
  return is_first_of(in, out, tile, CheckedLikeFirst{});
}

RingOf ring_of_warpgroup(DType in, const TileShape& tile) {
  // Of 16 bits either mode may be contiguous.
  RingOf out{128 / static_cast<int>(size_of(in)), 0,
             size_of(in) == 2 ? check::ProductStrides::aligned
                              : check::ProductStrides::aligned_transposed_b};
  const auto take = [&]<class Kernel>(const Kernel&) { out.stages = Kernel::stages; };
  if (size_of(in) == 1) WarpgroupLadder<std::int8_t>::with_kernel(tile, take);
  else WarpgroupLadder<f16>::with_kernel(tile, take);
  return out;
}

template <class One, class Other>
struct BothLists;
template <int One, TileShape... Ones, int Other, TileShape... Others>
struct BothLists<TileList<One, Ones...>, TileList<Other, Others...>>
    : TileList<One, Ones..., Others...> {};

}  // namespace

CheckedEntry checked_warpgroup() {
  return {"warpgroup", BothLists<CheckedWarpgroupTiles, WarpgroupByteTiles>::tiles,
          has_warpgroup_type, run_warpgroup_checked, ring_of_warpgroup};
}

}  // namespace tessera::detail
