// `warpgroup` as no row of the ladder has it, for every type that it takes: with two stages, and
// with three in clusters along N. compile_test.py reads what nvcc makes of this file; nothing runs.
#include "matmul/warpgroup_operands.hpp"
#include "tessera/cuda/launch.cuh"
#include "tessera/cuda/tensor_map.hpp"

namespace tessera::testing {

namespace {

constexpr TileShape kWide{.bm = 128, .bn = 256, .wm = 64, .wn = 256};

template <class Kernel, class In, class Out>
void launch_one(const cuda::Stream& stream, const Problem& p, void* memory) {
  detail::with_bulk_operands<Kernel, In, Out>(
      p, memory, memory, memory, nullptr, cuda::tensor_map,
      [&](const auto& A, const auto& B, const auto& slices, const auto& C) {
        cuda::launch(stream, Kernel::grid(p.M, p.N), Kernel{}, A, B, slices, C);
      });
}

template <class In, class Out = In>
void launch_variants(const cuda::Stream& stream, const Problem& p, void* memory) {
  launch_one<WarpgroupTiled<kWide, ClusterShape{}, 2, Products::one, kAddsOf<In>>, In, Out>(
      stream, p, memory);
  launch_one<
      WarpgroupTiled<kWide, ClusterShape{.down = 1, .across = 2}, 3, Products::one, kAddsOf<In>>,
      In, Out>(stream, p, memory);
}

}  // namespace

void launch_every_variant(const cuda::Stream& stream, const Problem& p, void* memory) {
  launch_variants<float>(stream, p, memory);
  launch_variants<f16>(stream, p, memory);
  launch_variants<bf16>(stream, p, memory);
  launch_variants<f8e4m3, float>(stream, p, memory);
  launch_variants<f8e5m2, float>(stream, p, memory);
  launch_variants<std::int8_t, std::int32_t>(stream, p, memory);
  launch_variants<std::uint8_t, std::int32_t>(stream, p, memory);
}

}  // namespace tessera::testing
