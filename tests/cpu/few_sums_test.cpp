// Few elements of C over a long K: every orientation gives the chain in order of k bit for bit, and
// takes the path whose time is that of one chain.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "cpu/tables.hpp"
#include "small/products.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cpu {
namespace {

template <class T>
class FewSums : public ::testing::Test {};
using FewSumsTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FewSums, FewSumsTypes);

template <class T>
struct Operands {
  std::vector<T> a, b, c;
  Gemm<T> call;

  /// order: bit 0, A contiguous along M; bit 1, B contiguous along K.
  Operands(index_t M, index_t N, index_t K, int order)
      : a(static_cast<std::size_t>(M * K)),
        b(static_cast<std::size_t>(K * N)),
        c(static_cast<std::size_t>(M * N), std::numeric_limits<T>::quiet_NaN()) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<T>(i * i + 1));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<T>(3 * i + 2));
    call.M = M, call.N = N, call.K = K, call.threads = 1;
    call.A = a.data(), call.a_row = order & 1 ? 1 : K, call.a_col = order & 1 ? M : 1;
    call.B = b.data(), call.b_row = order & 2 ? 1 : N, call.b_col = order & 2 ? K : 1;
    call.C = c.data(), call.c_row = N, call.c_col = 1;
  }

  T chain(index_t i, index_t j) const {
    T sum = 0;
    for (index_t k = 0; k < call.K; ++k)
      sum = std::fma(call.A[i * call.a_row + k * call.a_col],
                     call.B[k * call.b_row + j * call.b_col], sum);
    return sum;
  }
};

TYPED_TEST(FewSums, AreTheChainInOrderOfK) {
  for (index_t M = 1; M <= kFewSums; ++M)
    for (index_t N = 1; M * N <= kFewSums + 4; ++N)
      for (const index_t K : {1, 16, 17, 48, 49, 301})
        for (int order = 0; order < 4; ++order) {
          Operands<TypeParam> x(M, N, K, order);
          gemm(x.call);
          for (index_t i = 0; i < M; ++i)
            for (index_t j = 0; j < N; ++j)
              ASSERT_EQ(x.c[static_cast<std::size_t>(i * N + j)], x.chain(i, j))
                  << M << "x" << N << "x" << K << " order " << order;
        }
}

TYPED_TEST(FewSums, HaveAnEpilogueAndAnyC) {
  for (const auto& [M, N] : {std::pair<index_t, index_t>{1, 1}, {3, 3}, {9, 1}, {1, 16}, {4, 4}})
    for (int order = 0; order < 4; ++order) {
      Operands<TypeParam> x(M, N, 100, order);
      std::vector<TypeParam> wide(static_cast<std::size_t>(M * (3 * N + 1)), 2);
      x.call.C = wide.data(), x.call.c_row = 3 * N + 1, x.call.c_col = 3;
      x.call.alpha = TypeParam(0.5), x.call.beta = -1;
      gemm(x.call);
      for (index_t i = 0; i < M; ++i)
        for (index_t j = 0; j < 3 * N; ++j) {
          const TypeParam expected =
              j % 3 == 0 ? std::fma(TypeParam(-1), TypeParam(2), TypeParam(0.5) * x.chain(i, j / 3))
                         : TypeParam(2);
          ASSERT_EQ(wide[static_cast<std::size_t>(i * (3 * N + 1) + j)], expected);
        }
    }
}

TYPED_TEST(FewSums, OfEveryInstructionSetAreTheSame) {
  for (const auto* table : testing::runnable_tables<TypeParam>()) {
    if (table->chains == nullptr) continue;
    for (int M = 1; M <= 8; ++M)
      for (int N = 1; N <= 8 && M * N <= kMostChains; ++N) {
        Operands<TypeParam> x(M, N, 77, M % 4);
        table->chains({x.call.K, x.call.A, x.call.a_row, x.call.a_col, x.call.B, x.call.b_row,
                       x.call.b_col, x.c.data(), N},
                      M, N);
        for (index_t i = 0; i < M; ++i)
          for (index_t j = 0; j < N; ++j)
            ASSERT_EQ(x.c[static_cast<std::size_t>(i * N + j)], x.chain(i, j)) << table->isa;
      }
  }
}

TYPED_TEST(FewSums, OfOneTileAreChainsInEveryOrientation) {
  for (const auto* table : testing::runnable_tables<TypeParam>()) {
    if (table->chains == nullptr) continue;
    for (const auto& [M, N] : {std::pair<index_t, index_t>{1, 1}, {8, 1}, {1, 8}, {3, 3}})
      for (int order = 0; order < 4; ++order)
        EXPECT_TRUE(is_for_chains(Operands<TypeParam>(M, N, 1000, order).call, *table))
            << table->isa << " " << M << "x" << N << ", order " << order;
  }
}

}  // namespace
}  // namespace tessera::cpu
