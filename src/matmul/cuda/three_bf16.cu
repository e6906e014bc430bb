// `three_bf16` for CUDA. Its operands' planes are in memory of the stream's order; those of a B
// that was packed are there already.
#include <optional>

#include "cuda/abilities.hpp"
#include "cuda/scratch.hpp"
#include "ladder.hpp"
#include "launcher.cuh"
#include "matmul/ladder.hpp"
#include "matmul/three_bf16_operands.hpp"
#include "tessera/cuda/tensor_map.hpp"

namespace tessera::detail {

void run_three_bf16_on_cuda(const CudaCall& call) {
  const Problem& p = call.problem;
  const cuda::Abilities device = cuda::abilities(call.stream.device());
  const index_t of_a = (plane_bytes(p, p.M) + 255) / 256 * 256;
  const bool has_b = call.packed_b != nullptr;
  const index_t all = of_a + (has_b ? 0 : plane_bytes(p, p.N));
  std::optional<cuda::Scratch> scratch;
  if (all > 0) scratch.emplace(static_cast<std::size_t>(all), call.stream);
  char* const memory = scratch ? static_cast<char*>(scratch->data()) : nullptr;
  run_three_bf16_by({p, call.A, call.B, call.C, call.bias}, call.tile,
                    {memory, has_b ? const_cast<void*>(call.packed_b) : memory + of_a, has_b},
                    device.multiprocessors, cuda::tensor_map, launcher(call.stream));
}

void pack_on_cuda(const ConstMatrix& B, cuda::PackedAs as, void* to, const cuda::Stream& stream) {
  if (as == cuda::PackedAs::three_bf16)
    return make_planes(static_cast<const float*>(B.data), B.cols, B.rows,
                       {B.col_stride, B.row_stride}, to, launcher(stream));
  const auto rows = [&]<class T>(TypeTag<T>) {
    const index_t depth = packed_depth<T>(B.rows);
    launcher(stream)(PackOperand<1>::grid(B.cols, depth), PackOperand<1>{},
                     tensor<kAnyMatrix>(static_cast<const T*>(B.data), B.cols, B.rows, B.col_stride,
                                        B.row_stride),
                     tensor<row_major(dynamic)>(static_cast<T*>(to), B.cols * depth), depth);
  };
  // A copy: only the size of an element matters.
  switch (size_of(B.dtype)) {
    case 1: return rows(TypeTag<std::uint8_t>{});
    case 2: return rows(TypeTag<std::uint16_t>{});
    case 4: return rows(TypeTag<std::uint32_t>{});
    default: return rows(TypeTag<std::uint64_t>{});
  }
}

}  // namespace tessera::detail
