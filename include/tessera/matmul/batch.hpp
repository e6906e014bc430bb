// Many products in one call, checked as a single one is and all of them before the first runs: of
// one shape at equal distances, or of any shapes. Threads share them; each has the bits that it has
// alone. Element types: f64, f32, f16, bf16 into themselves, f16 and bf16 into f32, i8 and u8 into
// i32. With TESSERA_VERBOSE=1 each call prints one line, with the first product and the count.
#pragma once

#include <span>

#include "tessera/cpu/batch.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera {

/// The strides between the matrices of a batch: a, b, c in elements, of any sign. 0 for a or b: one
/// matrix for all products.
using cpu::BatchSteps;

/// C_i = alpha * A_i * B_i + beta * C_i for 0 <= i < count: A (M,K), B (K,N) and C (M,N) are those
/// of i = 0, any strides. With a count of 0 the matrices are not looked at. The epilogue, with its
/// one bias of M or N elements of the accumulator's type, is that of every product.
///
/// Throws as make_problem() and make_plan() do; Error(argument) for a negative count and for
/// another algorithm than auto or packed; Error(type) for i32; Error(shape) for a batch that
/// reaches beyond 64-bit addresses; Error(argument) where a C overlaps the bias, another C, or an A
/// or B, decided as by make_problem(): matrices of different products may be in each other's gaps.
/// The message names both if they belong to the first 4096 products, else the matrix C and its
/// step.
void matmul_strided(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, index_t count,
                    const BatchSteps& steps, double alpha = 1, double beta = 0,
                    const Options& options = {}, const Epilogue& epilogue = {},
                    const void* bias = nullptr);

/// One product of a batch. A is (M,K), B is (K,N), C is (M,N), any strides.
struct Product {
  ConstMatrix A, B;
  Matrix C;
};

/// C = alpha * A * B + beta * C for each product, of any shapes and one pair of element types.
///
/// Throws as make_problem() and make_plan() do, naming the product by its place; Error(argument)
/// for another algorithm than auto or packed; Error(type) for i32, or where the types differ from
/// those of the first. No C may overlap another, nor any A or B of the batch: pairs are compared
/// as make_problem() does. This takes count * log(count) steps where the matrices are disjoint or
/// windows of one matrix; others are compared pair by pair.
void matmul_batch(std::span<const Product> products, double alpha = 1, double beta = 0,
                  const Options& options = {});

}  // namespace tessera
