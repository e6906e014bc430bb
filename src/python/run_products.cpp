// Many products by one plan: see run_products.hpp.
#include "run_products.hpp"

#include "tessera/matmul/batch.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera::python {

void run_products(const Plan& plan, const Products& products, const void* bias,
                  CUstream_st* handle) {
  const Problem& p = plan.problem;
  if (plan.device.starts_with("cuda")) {
    const auto stream = cuda::Stream::borrow(handle);
    return for_each_product(products, 0, [&](const auto& A, const auto& B, const auto& C) {
      cuda::run(plan, A, B, C, stream, bias);
    });
  }
  if (products.axes.empty() || plan.algorithm != "packed") {
    return for_each_product(products, 0, [&](const auto& A, const auto& B, const auto& C) {
      run(plan, A, B, C, bias);
    });
  }
  const BatchAxis inner = products.axes.back();
  const Options options{
      .algorithm = plan.algorithm, .threads = plan.threads, .arithmetic = plan.arithmetic};
  for_each_product(products, 1, [&](const auto& A, const auto& B, const auto& C) {
    matmul_strided(A, B, C, inner.count, {inner.a, inner.b, inner.c}, p.alpha, p.beta, options,
                   p.epilogue, bias);
  });
}

}  // namespace tessera::python
