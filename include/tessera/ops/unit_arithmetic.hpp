// The arithmetic of one matrix instruction on a CPU: k products added to a sum.
#pragma once

#include "tessera/core/dtype.hpp"

namespace tessera::detail {

/// sum + a[0] * b[0] + ... + a[K - 1] * b[K - 1], as a warpgroup's unit adds it.
template <int K, class Acc, class InA, class InB>
Acc unit_sum(const InA* a, const InB* b, Acc sum) {
  for (int k = 0; k < K; ++k) sum = multiply_add(a[k], b[k], sum);
  return sum;
}

}  // namespace tessera::detail
