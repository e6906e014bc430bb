// The order of summation, found from results: the tree of additions of each element of C is the
// sequential chain, for every position, alignment, transposition and number of threads.
//
// The idea is FPRev's (Xie, Gao, Wang, "FPRev: Revealing the Order of Floating-Point Summation",
// arXiv 2411.00442): in a sum of ones, a huge number at place i and its negative at j swallow every
// one that joins them before they meet. What is left counts the leaves outside the smallest
// subtree that holds both i and j; these counts, for all pairs, are the tree.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cpu/multiply.hpp"

namespace tessera {
namespace {

using testing::Guarded;
using testing::kThreads;
using testing::multiply;
using testing::Order;

/// The tree over `leaves` as text, "((0 1) 2)". together(i, j): leaves of the smallest subtree that
/// holds i and j.
std::string tree_of(const std::vector<int>& leaves, const std::function<int(int, int)>& together) {
  // The subtrees that hold the first leaf lie within each other; between two of them is one branch.
  std::map<int, std::vector<int>> branches;
  for (std::size_t at = 1; at < leaves.size(); ++at)
    branches[together(leaves[0], leaves[at])].push_back(leaves[at]);
  std::string out = std::to_string(leaves[0]);
  for (const auto& [size, branch] : branches)
    out = "(" + out + " " + tree_of(branch, together) + ")";
  return out;
}

std::vector<int> first_numbers(int count) {
  std::vector<int> out;
  for (int i = 0; i < count; ++i) out.push_back(i);
  return out;
}

std::string chain_of(int K) {
  std::string out = "0";
  for (int k = 1; k < K; ++k) out = "(" + out + " " + std::to_string(k) + ")";
  return out;
}

/// So large that adding K ones changes nothing.
template <class T>
constexpr T kHuge = sizeof(T) == 4 ? T(0x1p100) : T(0x1p1000);

/// The tree that `sum` adds K numbers by.
template <class Sum>
std::string probe(int K, Sum sum) {
  return tree_of(first_numbers(K), [&](int i, int j) {
    std::vector<float> x(static_cast<std::size_t>(K), 1.0f);
    x[static_cast<std::size_t>(i)] = kHuge<float>;
    x[static_cast<std::size_t>(j)] = -kHuge<float>;
    return K - static_cast<int>(sum(x));
  });
}

TEST(SummationProbe, TellsOrdersApart) {
  EXPECT_EQ(probe(5,
                  [](const std::vector<float>& x) {
                    float sum = 0;
                    for (const float v : x) sum += v;
                    return sum;
                  }),
            chain_of(5));
  EXPECT_EQ(probe(4,
                  [](const std::vector<float>& x) {
                    float sum = 0;
                    for (std::size_t i = x.size(); i-- > 0;) sum += x[i];
                    return sum;
                  }),
            "(0 (1 (2 3)))");
  EXPECT_EQ(probe(4, [](const std::vector<float>& x) { return (x[0] + x[1]) + (x[2] + x[3]); }),
            "((0 1) (2 3))");
  EXPECT_EQ(probe(6,
                  [](const std::vector<float>& x) {
                    return ((x[0] + x[2]) + x[4]) + ((x[1] + x[3]) + x[5]);
                  }),
            "(((0 2) 4) ((1 3) 5))");
}

template <class T>
class SummationOrder : public ::testing::Test {};
TYPED_TEST_SUITE(SummationOrder, testing::RealTypes, testing::TypeNames);

/// How the operands lie and who multiplies them.
template <class T>
struct Variant {
  Order<T> a = Order<T>::row_major, b = Order<T>::row_major, c = Order<T>::row_major;
  index_t padding = 3;  ///< moves every row to another alignment
  int threads = 1;
  T beta = 0;
};

/// Demands the chain as the tree of every element of a (M,N) product of depth K.
template <class T>
void expect_chain(index_t M, index_t N, int K, const Variant<T>& v) {
  Guarded<T> A(M, K, v.a, v.padding), B(K, N, v.b, v.padding), C(M, N, v.c, v.padding);
  A.fill([](index_t, index_t) { return 1; });
  B.fill([](index_t, index_t) { return 1; });
  const auto at = [K](int i, int j) { return static_cast<std::size_t>(i * K + j); };
  // together[element of C][i * K + j], i < j
  std::vector<std::vector<short>> together(static_cast<std::size_t>(M * N),
                                           std::vector<short>(at(K, 0)));
  for (int i = 0; i < K; ++i) {
    for (int j = i + 1; j < K; ++j) {
      for (index_t m = 0; m < M; ++m) A(m, i) = kHuge<T>, A(m, j) = -kHuge<T>;
      if (v.beta != T{0}) C.fill([](index_t, index_t) { return 0; });
      multiply<T>({.beta = v.beta, .threads = v.threads}, A.view(), B.view(), C.view());
      for (index_t m = 0; m < M; ++m) {
        for (index_t n = 0; n < N; ++n)
          together[static_cast<std::size_t>(m * N + n)][at(i, j)] =
              static_cast<short>(K - static_cast<int>(C(m, n)));
        A(m, i) = A(m, j) = 1;
      }
    }
  }
  const std::string chain = chain_of(K);
  for (index_t m = 0; m < M; ++m) {
    for (index_t n = 0; n < N; ++n) {
      const auto& counts = together[static_cast<std::size_t>(m * N + n)];
      ASSERT_EQ(tree_of(first_numbers(K), [&](int i, int j) { return counts[at(i, j)]; }), chain)
          << "(" << m << "," << n << ") of " << M << "x" << N << "x" << K << ", threads "
          << v.threads;
    }
  }
}

TYPED_TEST(SummationOrder, IsTheChainForEveryElementTranspositionAndThreadCount) {
  using T = TypeParam;
  int turn = 0;
  for (const auto a : {Order<T>::row_major, Order<T>::col_major}) {
    for (const auto b : {Order<T>::row_major, Order<T>::col_major}) {
      for (const auto c : {Order<T>::row_major, Order<T>::col_major, Order<T>::spread}) {
        const Variant<T> v{.a = a,
                           .b = b,
                           .c = c,
                           .threads = kThreads[static_cast<std::size_t>(turn % 4)],
                           .beta = static_cast<T>(turn / 4 % 2)};
        ++turn;
        expect_chain<T>(9, 20, 9, v);   // small
        expect_chain<T>(19, 53, 9, v);  // packed
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(SummationOrder, DoesNotDependOnAlignment) {
  using T = TypeParam;
  for (index_t padding = 0; padding < 16; ++padding) {
    expect_chain<T>(5, 51, 7, {.padding = padding});
    if (this->HasFatalFailure()) return;
  }
}

/// Deep products, one pair for each row of A: the subtrees that hold leaf 0 have 2, 3, ... leaves,
/// so each is the one before and the next leaf.
TYPED_TEST(SummationOrder, IsTheChainAcrossKcBlocks) {
  using T = TypeParam;
  constexpr index_t K = 1100, N = 55;
  for (const int threads : kThreads) {
    for (const bool transposed_b : {false, true}) {
      Guarded<T> A(K - 1, K), B(K, N, transposed_b ? Order<T>::col_major : Order<T>::row_major),
          C(K - 1, N);
      B.fill([](index_t, index_t) { return 1; });
      A.fill([](index_t row, index_t k) {
        return static_cast<double>(k == 0 ? kHuge<T> : k == row + 1 ? -kHuge<T> : T{1});
      });
      multiply<T>({.threads = threads}, A.view(), B.view(), C.view());
      for (index_t row = 0; row + 1 < K; ++row) {
        for (index_t j = 0; j < N; ++j)
          ASSERT_EQ(C(row, j), static_cast<T>(K - 2 - row))
              << "leaf " << row + 1 << " column " << j;
      }
    }
  }
}

/// Random operands: whoever works, on whatever alignment, the bits are those of one thread.
TYPED_TEST(SummationOrder, FirstAndLaterCallsAgree) {
  using T = TypeParam;
  Guarded<T> A(67, 300), B(300, 131), first(67, 131), later(67, 131);
  A.fill(testing::RandomData(1));
  B.fill(testing::RandomData(2));
  multiply<T>({.threads = 1}, A.view(), B.view(), first.view());
  for (int round = 0; round < 30; ++round) {
    multiply<T>({.threads = 1 + round % 5}, A.view(), B.view(), later.view());
    ASSERT_EQ(testing::difference(later, first), "") << "call " << round;
  }
}

}  // namespace
}  // namespace tessera
