// The product as XLA calls it; the module hands the addresses to jax.ffi.register_ffi_target.
#pragma once

#include "xla_abi.hpp"

namespace tessera::python {

/// Operands: A (..., M, K), B (..., K, N) and, if there are three, a bias (..., N); the result is
/// (..., M, N). Attributes: alpha, algorithm, activation, threads, transpose_a, transpose_b. The
/// attribute transpose_x says that the last two dimensions of operand x are exchanged in memory.
/// Never throws.
xla::Error* xla_matmul_cpu(xla::Call* call) noexcept;
/// The same in the order of the stream that XLA gives, with all arrays in device memory.
xla::Error* xla_matmul_cuda(xla::Call* call) noexcept;

}  // namespace tessera::python
