// Products by the kernel of warpgroup units on a GPU, in clusters and without: see
// cluster_product.hpp. compile_test.py reads what nvcc makes of this file.
#include <cstring>

#include "cluster_product.hpp"
#include "matmul/warpgroup_operands.hpp"
#include "tessera/cuda/launch.cuh"
#include "tessera/cuda/tensor_map.hpp"

namespace tessera::testing {

namespace {

constexpr TileShape kWide{.bm = 128, .bn = 256, .wm = 64, .wn = 256};
constexpr TileShape kByTurns{.bm = 128, .bn = 128, .wm = 128, .wn = 128};

/// A (M,K) and B (K,N), both row-major with whole pieces of 16 bytes in a row, of numbers whose
/// sums are rounded.
std::vector<bf16> numbers_of(index_t count, unsigned seed) {
  std::vector<bf16> out(static_cast<std::size_t>(count));
  for (auto& each : out) {
    seed = seed * 1664525 + 1013904223;
    each = bf16(static_cast<float>(seed >> 8) * 0x1p-23f - 1);
  }
  return out;
}

struct OnDevice {
  cuda::DeviceBuffer memory;
  OnDevice(const std::vector<bf16>& values, const cuda::Stream& stream)
      : memory(values.size() * sizeof(bf16), stream.device()) {
    cuda::copy(memory.data(), values.data(), memory.bytes(), stream);
    stream.synchronize();
  }
};

template <class Kernel>
std::vector<bf16> product_by(const cuda::Stream& stream, const Problem& problem, const OnDevice& a,
                             const OnDevice& b, std::vector<bf16> c) {
  const OnDevice there(c, stream);
  detail::with_bulk_operands<Kernel, bf16, bf16>(
      problem, a.memory.data(), b.memory.data(), const_cast<void*>(there.memory.data()), nullptr,
      cuda::tensor_map, [&](const auto& A, const auto& B, const auto& slices, const auto& C) {
        cuda::launch(stream, Kernel::grid(problem.M, problem.N), Kernel{}, A, B, slices, C);
      });
  cuda::copy(c.data(), there.memory.data(), there.memory.bytes(), stream);
  stream.synchronize();
  return c;
}

template <TileShape S>
void compare(const cuda::Stream& stream, const Problem& problem, const OnDevice& a,
             const OnDevice& b, std::vector<ClusterResult>& out) {
  const std::vector<bf16> empty(static_cast<std::size_t>(problem.M * problem.c.row), bf16(77.f));
  const auto alone = product_by<WarpgroupTiled<S>>(stream, problem, a, b, empty);
  const auto add = [&]<ClusterShape Together>() {
    const auto got = product_by<WarpgroupTiled<S, Together>>(stream, problem, a, b, empty);
    std::int64_t different = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      different += std::memcmp(&got[i], &alone[i], sizeof got[i]) != 0;
    out.push_back({S, Together.down, Together.across, different});
  };
  add.template operator()<ClusterShape{.down = 2, .across = 1}>();
  add.template operator()<ClusterShape{.down = 1, .across = 2}>();
}

}  // namespace

std::vector<ClusterResult> compare_clusters(const cuda::Stream& stream, index_t M, index_t N,
                                            index_t K) {
  const auto whole = [](index_t extent) { return (extent + 7) / 8 * 8; };
  const Problem problem{.M = M,
                        .N = N,
                        .K = K,
                        .in = DType::bf16,
                        .out = DType::bf16,
                        .a = {whole(K), 1},
                        .b = {whole(N), 1},
                        .c = {whole(N), 1}};
  const OnDevice a(numbers_of(M * whole(K), 1), stream), b(numbers_of(K * whole(N), 2), stream);
  std::vector<ClusterResult> out;
  compare<kWide>(stream, problem, a, b, out);
  compare<kByTurns>(stream, problem, a, b, out);
  return out;
}

}  // namespace tessera::testing
