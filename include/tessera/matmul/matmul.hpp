// The product of two matrices: matmul(A, B, C) and its parts, problem -> plan -> run.
// With TESSERA_VERBOSE=1 in the environment each call prints one line on stderr: shape, plan,
// reason, time.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tessera/matmul/plan.hpp"
#include "tessera/matmul/problem.hpp"
#include "tessera/tensor/host_tensor.hpp"

namespace tessera {

/// Runs a plan. A, B, C must have the shapes, types and strides of `plan.problem`; `bias` has M or
/// N elements of the accumulator's type if the epilogue has one. beta = 0: C is not read.
/// alpha = 0: A and B are not read. Throws Error; if it throws after the checks (a kernel failed)
/// the content of C is unspecified.
void run(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C,
         const void* bias = nullptr);

/// C = alpha * A * B + beta * C. A is (M,K), B is (K,N), C is (M,N), any strides; C must not
/// overlap A or B. Types: f64, f32, f16, bf16, i32 with C of the same type; f16/bf16 also into f32,
/// f32 into f16/bf16; i8/u8, or one of each, into i32, exact modulo 2^32, or into f32: the same
/// sums, rounded once before alpha scales them.
/// Returns the plan that ran, without `rejected` and `workspace_bytes`, which only make_plan
/// determines.
/// Deciding takes longer than the smallest products: where one is repeated, make_plan once and
/// `run`, or use cpu::GemmPlan, which checks nothing.
Plan matmul(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, double alpha = 1,
            double beta = 0, const Options& options = {});

/// Element types of A and B that may be multiplied: equal ones, or bytes of either signedness.
template <class InA, class InB>
inline constexpr bool kFitEachOther = std::is_same_v<InA, InB> ||
                                      (is_byte(dtype_of<InA>()) && is_byte(dtype_of<InB>()));

/// A * B, (M,K) times (K,N), in its own memory: of the same type, i32 for bytes.
template <class InA, class InB>
auto matmul(const HostTensor<InA>& A, const HostTensor<InB>& B,
            const Options& options = {}) requires(kFitEachOther<InA, InB>) {
  using Out = std::conditional_t<sizeof(InA) == 1, std::int32_t, InA>;
  auto C = HostTensor<Out>::uninitialized(A.rows(), B.cols());
  matmul(matrix(A.data(), A.rows(), A.cols()), matrix(B.data(), B.rows(), B.cols()),
         matrix(C.data(), C.rows(), C.cols()), 1, 0, options);
  return C;
}

}  // namespace tessera
