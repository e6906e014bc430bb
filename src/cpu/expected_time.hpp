// How long a product takes one thread, roughly: whether sharing it pays off.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "blocking.hpp"
#include "tessera/core/team.hpp"
#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

/// Multiply-adds of whole vectors of f32, of the instruction set in use, in 16 ns: 16 at least.
/// Measured in the first calls, which takes each of them a microsecond or two.
int vectors_in_16_ns();

/// One measurement of that.
int measured_vectors_in_16_ns();

/// Estimated read bandwidth in bytes per nanosecond: from L2, a near L3, memory.
constexpr index_t kBytesOfL2 = 200, kBytesOfL3 = 100, kBytesOfMemory = 20;

/// Estimated single-threaded time of a product in nanoseconds.
template <class In, class Out, class Table>
std::int64_t expected_ns(index_t M, index_t N, index_t K, const Table& kernels) {
  const std::int64_t bytes =
      bounded_product(M + N, K, sizeof(In)) + bounded_product(M, N, sizeof(Out));
  const Caches& cache = caches();
  const index_t per_ns = bytes <= cache.l2                               ? kBytesOfL2
                         : 2 * bytes <= cache.l3 && tuning().far_l3 == 0 ? kBytesOfL3
                                                                         : kBytesOfMemory;
  const std::int64_t vectors = bounded_product(M, N, K) / (kernels.lanes * kernels.group);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 32;
  return std::min(vectors, most) * 16 / vectors_in_16_ns() + bytes / per_ns;
}

}  // namespace tessera::cpu
