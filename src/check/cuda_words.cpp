// Hints and advice in the terms of CUDA, for programs in plain CUDA.
#include "cuda_words.hpp"

#include <string_view>
#include <utility>

namespace tessera::check {

std::string in_cuda(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      // hints of findings
      {"guard the access: if (C.contains(row, col)) ...",
       "guard the access with the extent of what it reads or writes: if (i < n) ...; in a matrix "
       "the row and the column"},
      {"begin with Mma::zero(), and load",
       "set the sums before: fill_fragment(sum, 0), zeros in the registers of mma.sync; load"},
      {"t.warp_barrier()", "__syncwarp()"},
      {"t.barrier()", "__syncthreads()"},
      {"t.fence()", "__threadfence()"},
      {"t.atomic_exchange()", "atomicExch()"},
      {"wait with t.atomic_load(...), and hand over with __threadfence() and t.atomic_store(...)",
       "read a volatile or an atomic, and hand over with __threadfence() on both sides"},
      {"wait with t.atomic_load(...)", "wait with a volatile read or an atomic"},
      {"cluster_barrier(t), by all threads of all blocks, belongs between the last copy or arrival "
       "and the end of any block",
       "cluster.sync(), by all threads, belongs before the first access to another block, and "
       "between the last one and the end of any block"},
      {"cluster_barrier()", "cluster.sync()"},
      {"t.lanes()", "the lanes that the warp has"},
      {"commit(t), wait<0>(t) and a barrier belong", "a commit, a wait and __syncthreads() belong"},
      {"commit(t) and wait<0>(t) after the copies", "commit the copies and wait for them"},
      {"write every element of the tile, zero past the edge: copy() does both",
       "write every element of it before it is read, zero past the edge"},
      {"write the output before reading it; with beta = 0 it holds nothing",
       "cudaMalloc leaves memory without values: fill it by cudaMemset, cudaMemcpy or a kernel"},
      {"pass memory to the kernel as tensors, whose accesses are checked; ", ""},
      {"vectorize only where can_vectorize() says yes; keep", "keep pointers and"},
      {"(K / T instead of tiles())", "(k / 16 instead of (k + 15) / 16)"},
      // advice of explain
      {"as one vector of 16 bytes (vectorize<1, 4>)",
       "as one of 16 bytes (float4, at an address that is a multiple of 16)"},
      {"or load the tile that way into shared memory",
       "or load a tile that way into __shared__ memory"},
      {"let each block stage a tile in shared memory",
       "let each block load a tile into __shared__ memory"},
      {"pad the tile's rows or swizzle its layout",
       "pad the array's rows (tile[32][32 + 1]) or swizzle its index"},
      {"take smaller tiles, or split K among several blocks,",
       "launch more blocks: fewer elements for each thread, or several blocks for one sum,"},
      {"small products leave", "small problems leave"},
      {"choose tiles for which", "choose blocks of a size for which"},
      {"take a smaller tile", "take smaller blocks or less of it"},
      {"extents that are multiples of the tile", "extents that are multiples of the block"},
      {"(asynchronous copies, double buffering)", "(__pipeline_memcpy_async, two buffers)"}};
  for (const auto& [ours, theirs] : kWords) {
    for (auto at = text.find(ours); at != text.npos; at = text.find(ours, at + theirs.size()))
      text.replace(at, ours.size(), theirs);
  }
  const auto stack = text.find(", or declare 'static constexpr std::size_t stack_bytes");
  return text.substr(0, stack);  // a kernel in CUDA has nothing to declare
}

}  // namespace tessera::check
