// A long K with a small C: K is cut into parts that are summed in parallel, and the sums are added
// in the order of the parts. The cut depends on the shape alone, so that the bits are the same for
// every number of threads; they are not those of one chain over K, which gemm() gives.
#pragma once

#include <cstddef>

#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

/// Elements of K in one part, for a product of this shape: 512 at least, and enough for some
/// microseconds of work.
index_t split_k_depth(index_t M, index_t N, index_t K);

/// Bytes that gemm_split_k() takes for the sums of the parts and for the panels of those that run
/// at the same time. Pointers are not read.
template <class In, class Out = In>
std::size_t split_k_bytes(const Gemm<In, Out>& call);

/// As gemm(), which computes what continues the sums of C. Without memory for the sums of the parts
/// it is slower, with the same bits.
template <class In, class Out = In>
void gemm_split_k(const Gemm<In, Out>& call);

}  // namespace tessera::cpu
