// The operands of tests of numerics, whose elements such a test overwrites.
#pragma once

#include <gtest/gtest.h>

#include <limits>

#include "cpu/multiply.hpp"

namespace tessera::testing {

template <class T>
class NumericsTest : public ::testing::Test {
 public:
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  static constexpr T kInfinity = std::numeric_limits<T>::infinity();
};

/// Unpacked, packed, packed in several KC blocks, few rows against a large matrix.
inline constexpr Shape kShapes[] = {{5, 6, 7}, {33, 50, 70}, {20, 101, 1100}, {7, 2600, 130}};

template <class T>
struct Operands {
  Guarded<T> A, B, C0, C;
  explicit Operands(Shape s) : A(s.M, s.K), B(s.K, s.N), C0(s.M, s.N), C(C0) {
    A.fill(RandomData(1));
    B.fill(RandomData(2));
    C0.fill(RandomData(3));
    C = C0;
  }
  Verification verify(const cpu::Gemm<T>& call) {
    C = C0;
    multiply(call, A.view(), B.view(), C.view());
    const Problem problem = problem_of(call, A.view(), B.view(), C.view());
    return Verifier(problem, A.view(), B.view(), C0.view(), call.bias.values, 1).check(C.view());
  }
  /// Within the bound of every element, and the bits of the chain, for some alpha and beta.
  void expect_right(const char* data) {
    for (const int threads : {1, 2}) {
      for (const auto& call : {cpu::Gemm<T>{}, cpu::Gemm<T>{.alpha = T(-0.7), .beta = T(1.3)}}) {
        auto threaded = call;
        threaded.threads = threads;
        const Verification v = verify(threaded);
        EXPECT_TRUE(v.within_bound) << data << ": error / bound " << v.max_error_ratio << " at ("
                                    << v.row << "," << v.col << ")";
        EXPECT_TRUE(v.same_bits) << data;
      }
    }
  }
  /// The same as the reference, where NaN is NaN.
  void expect_reference(const cpu::Gemm<T>& call, const char* data) {
    Guarded<T> expected = C0;
    C = C0;
    multiply(call, A.view(), B.view(), C.view());
    reference(call, A.view(), B.view(), expected.view());
    EXPECT_EQ(difference(C, expected), "") << data;
  }
};

}  // namespace tessera::testing
