// Runs one plan for many products. Knows addresses and strides, nothing of Python.
#pragma once

#include "batch_axes.hpp"
#include "tessera/matmul/plan.hpp"

struct CUstream_st;

namespace tessera::python {

/// Runs `plan`, which was made for the first of the products, for all of them: on the CPU as
/// batches where it can, on a CUDA device in the order of `stream`. C is apart from A and B. The
/// bias, if the plan has one, is the same for all. Throws as run(), matmul_strided() and
/// cuda::run() do.
void run_products(const Plan& plan, const Products& products, const void* bias,
                  CUstream_st* stream = nullptr);

}  // namespace tessera::python
