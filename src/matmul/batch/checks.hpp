// What the calls for many products check before any runs, on the CPU and on a GPU. Private to
// src/matmul.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tessera/matmul/batch.hpp"

namespace tessera::detail {

/// The problem of each product. Throws Error as matmul_batch() does; `call` begins the messages.
std::vector<Problem> check_products(std::string_view call, std::span<const Product> products,
                                    double alpha, double beta);

/// The problem of the first product, and the steps to the others, 0 for what has no elements.
struct StridedBatch {
  Problem problem;
  BatchSteps steps;
};
/// The same for matmul_strided().
StridedBatch check_strided(std::string_view call, const Product& first, index_t count,
                           const BatchSteps& steps, double alpha, double beta,
                           const Epilogue& epilogue, const void* bias);

/// The matrices of product i.
Product product_at(const Product& first, index_t i, const BatchSteps& steps);

}  // namespace tessera::detail
