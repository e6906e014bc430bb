// Products through cpu::gemm of matrices as the tests hold them, what the reference makes of the
// same call, and a comparison bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "support/products.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cpu/gemm.hpp"

namespace tessera::testing {

/// For TYPED_TEST_SUITE: f32 and f64, named so.
using RealTypes = ::testing::Types<float, double>;
struct TypeNames {
  template <class T>
  static std::string GetName(int) {
    const std::string a(name(dtype_of<cpu::ElementA<T>>())), b(name(dtype_of<cpu::ElementB<T>>()));
    return a == b ? a : a + b;
  }
};

template <class T>
using Order = typename Guarded<T>::Order;

/// Every order of strides of Guarded.
template <class T>
inline constexpr std::array kOrders = {Order<T>::row_major, Order<T>::col_major,
                                       Order<T>::reversed_rows, Order<T>::reversed,
                                       Order<T>::spread};

/// The thread counts that tests go through: alone, as many as cores, odd, more than cores.
inline constexpr std::array kThreads = {1, 2, 3, 5};

/// `call` with the extents, strides and elements of A (M,K), B (K,N) and C (M,N).
template <class In, class Out = In>
cpu::Gemm<In, Out> call_on(cpu::Gemm<In, Out> call, const ConstMatrix& A, const ConstMatrix& B,
                           const Matrix& C) {
  call.M = C.rows, call.N = C.cols, call.K = A.cols;
  call.A = static_cast<const cpu::ElementA<In>*>(A.data), call.a_row = A.row_stride,
  call.a_col = A.col_stride;
  call.B = static_cast<const cpu::ElementB<In>*>(B.data), call.b_row = B.row_stride,
  call.b_col = B.col_stride;
  call.C = static_cast<Out*>(C.data), call.c_row = C.row_stride, call.c_col = C.col_stride;
  return call;
}

/// C = the product that `call` asks for, of these matrices.
template <class In, class Out = In>
void multiply(const cpu::Gemm<In, Out>& call, const ConstMatrix& A, const ConstMatrix& B,
              const Matrix& C) {
  cpu::gemm(call_on(call, A, B, C));
}

template <class In, class Out = In>
Problem problem_of(const cpu::Gemm<In, Out>& call, const ConstMatrix& A, const ConstMatrix& B,
                   const Matrix& C) {
  return {C.rows,
          C.cols,
          A.cols,
          dtype_of<cpu::ElementA<In>>(),
          dtype_of<Out>(),
          {A.row_stride, A.col_stride},
          {B.row_stride, B.col_stride},
          {C.row_stride, C.col_stride},
          static_cast<double>(call.alpha),
          static_cast<double>(call.beta),
          {call.last.activation, call.bias.kind, static_cast<double>(call.last.low),
           static_cast<double>(call.last.high)},
          std::is_same_v<cpu::ElementA<In>, cpu::ElementB<In>>
              ? std::nullopt
              : std::optional(dtype_of<cpu::ElementB<In>>())};
}

/// The same by the reference: one chain of fused multiply-adds in order of k, then the epilogue.
template <class In, class Out = In>
void reference(const cpu::Gemm<In, Out>& call, const ConstMatrix& A, const ConstMatrix& B,
               const Matrix& C) {
  reference_matmul(problem_of(call, A, B, C), A, B, C, call.bias.values);
}

/// The same bits, or both NaN: a NaN's sign and payload are whatever the CPU makes them.
template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 ||
         (std::isnan(static_cast<double>(a)) && std::isnan(static_cast<double>(b)));
}

/// "" where got(i, j) is the same as expected(i, j) everywhere, else the first difference.
template <class T, class Expected>
std::string difference(const Guarded<T>& got, const Expected& expected) {
  index_t wrong = 0;
  std::string first;
  for (index_t i = 0; i < got.rows(); ++i) {
    for (index_t j = 0; j < got.cols(); ++j) {
      const T want = expected(i, j);
      if (same(got(i, j), want)) continue;
      if (wrong++ == 0) {
        first = cat("(", i, ",", j, ") is ", static_cast<double>(got(i, j)), ", not ",
                    static_cast<double>(want));
      }
    }
  }
  return wrong == 0 ? "" : cat(first, "; ", wrong, " of ", got.rows() * got.cols(), " wrong");
}

template <class In, class Out = In>
std::string describe(const cpu::Gemm<In, Out>& call) {
  return cat(name(dtype_of<cpu::ElementA<In>>()), " ", call.M, "x", call.N, "x", call.K,
             " a=", call.a_row, ":", call.a_col, " b=", call.b_row, ":", call.b_col,
             " c=", call.c_row, ":", call.c_col, " alpha=", static_cast<double>(call.alpha),
             " beta=", static_cast<double>(call.beta),
             call.bias.kind == Bias::per_row ? " row bias" : "",
             call.bias.kind == Bias::per_column ? " column bias" : "",
             " activation=", static_cast<int>(call.last.activation), " threads=", call.threads);
}

}  // namespace tessera::testing
