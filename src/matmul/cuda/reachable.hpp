// Refuses matrices that a kernel on a stream's device could not read. Private to src/matmul.
#pragma once

#include <string_view>

#include "tessera/cuda/runtime.hpp"
#include "tessera/matmul/problem.hpp"

namespace tessera::detail {

/// Throws Error(argument) for host memory, memory of another device, and addresses that are no
/// multiple of their element's size. Matrices that a product does not read may be anywhere.
void require_reachable_operands(const Problem& p, const ConstMatrix& A, const ConstMatrix& B,
                                const Matrix& C, const cuda::Stream& stream, const void* bias);

/// The same for one of them, which is read.
void require_reachable(std::string_view name, const void* data, DType dtype,
                       const cuda::Stream& stream);

}  // namespace tessera::detail
