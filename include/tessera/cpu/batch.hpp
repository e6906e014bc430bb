// Many products at once: threads take whole products where there are enough of them, and share one
// where there are not. Each product has the bits that it has alone.
#pragma once

#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

/// Products of equal shape, each `step` elements further on in A, B and C. A step of 0 in A or B:
/// the same operand for all. No C overlaps another.
struct BatchSteps {
  index_t a = 0, b = 0, c = 0;
};
template <class In, class Out = In>
void gemm_strided(const Gemm<In, Out>& first, index_t count, const BatchSteps& steps);

/// Products of any shapes, calls[0] to calls[count - 1]. The threads of the first count for all.
template <class In, class Out = In>
void gemm_batch(const Gemm<In, Out>* calls, index_t count);

}  // namespace tessera::cpu
