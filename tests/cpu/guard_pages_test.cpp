// Nothing outside A, B, C and the bias is touched, not even read: each ends at a page that
// ends the program, for every remainder of a micro-tile. Inputs are mapped read-only.
#include "support/guard_pages.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "blocking.hpp"
#include "cpu/multiply.hpp"
#include "support/thinned.hpp"

namespace tessera {
namespace {

using testing::Against;
using testing::BetweenPages;
using testing::RandomData;
using testing::Shape;
using testing::Thinned;

template <class T>
class GuardPages : public ::testing::Test {};
TYPED_TEST_SUITE(GuardPages, testing::RealTypes, testing::TypeNames);

/// Operands of whole numbers, their exact product, and guarded places for all of them; any corner
/// of the product can be multiplied.
template <class T>
class Corners {
 public:
  explicit Corners(Shape most)
      : most_(most),
        a_(numbers(most.M * most.K, 1)),
        b_(numbers(most.K * most.N, 2)),
        row_bias_(numbers(most.M, 3)),
        column_bias_(numbers(most.N, 4)),
        sums_(static_cast<std::size_t>(most.M * most.N)),
        A_(most.M * most.K),
        B_(most.K * most.N),
        C_(most.M * most.N),
        row_place_(most.M),
        column_place_(most.N) {
    for (index_t i = 0; i < most.M; ++i) {
      for (index_t k = 0; k < most.K; ++k) {
        for (index_t j = 0; j < most.N; ++j) sum(i, j) += a(i, k) * b(k, j);
      }
    }
  }

  /// A and B with their rows or their columns side by side, C with its rows.
  enum class Inner { row, column };
  struct Variant {
    Against against;
    Inner a, b, c;
    Bias bias;
    T beta;
    int threads;
  };

  void check(index_t M, index_t N, const Variant& v) {
    const index_t K = most_.K;
    Matrix A = place(A_, M, K, v.a, v.against), B = place(B_, K, N, v.b, v.against),
           C = place(C_, M, N, v.c, v.against);
    fill(A, [&](index_t i, index_t k) { return a(i, k); });
    fill(B, [&](index_t k, index_t j) { return b(k, j); });
    fill(C, [](index_t i, index_t j) { return static_cast<T>(i - j); });
    T* row_bias = row_place_.place(M, v.against);
    T* column_bias = column_place_.place(N, v.against);
    for (index_t i = 0; i < M; ++i) row_bias[i] = row_bias_[static_cast<std::size_t>(i)];
    for (index_t j = 0; j < N; ++j) column_bias[j] = column_bias_[static_cast<std::size_t>(j)];
    each_input([](const auto& place) { place.seal(); });
    testing::multiply<T>({.beta = v.beta,
                          .bias = {v.bias, v.bias == Bias::per_row ? row_bias : column_bias},
                          .threads = v.threads},
                         A, B, C);
    index_t wrong = 0;
    for (index_t i = 0; i < M; ++i) {
      for (index_t j = 0; j < N; ++j) {
        const T bias = v.bias == Bias::per_row      ? row_bias[i]
                       : v.bias == Bias::per_column ? column_bias[j]
                                                    : T{0};
        wrong += at(C, i, j) != sum(i, j) + v.beta * static_cast<T>(i - j) + bias;
      }
    }
    each_input([](const auto& place) { place.unseal(); });
    EXPECT_EQ(wrong, 0) << M << "x" << N << "x" << K << " a=" << to_string(A)
                        << " b=" << to_string(B) << " c=" << to_string(C);
  }

 private:
  static std::vector<T> numbers(index_t count, std::uint64_t seed) {
    RandomData data(seed, true);
    std::vector<T> out(static_cast<std::size_t>(count));
    for (T& x : out) x = static_cast<T>(data(0, 0));
    return out;
  }
  static Matrix place(const BetweenPages<T>& pages, index_t rows, index_t cols, Inner inner,
                      Against against) {
    T* data = pages.place(rows * cols, against);
    return inner == Inner::row ? Matrix(data, dtype_of<T>(), rows, cols, cols, 1)
                               : Matrix(data, dtype_of<T>(), rows, cols, 1, rows);
  }
  static T& at(const Matrix& m, index_t i, index_t j) {
    return static_cast<T*>(m.data)[i * m.row_stride + j * m.col_stride];
  }
  template <class Value>
  static void fill(const Matrix& m, Value value) {
    for (index_t i = 0; i < m.rows; ++i) {
      for (index_t j = 0; j < m.cols; ++j) at(m, i, j) = value(i, j);
    }
  }
  template <class Body>
  void each_input(Body body) {
    body(A_), body(B_), body(row_place_), body(column_place_);
  }
  T a(index_t i, index_t k) const { return a_[static_cast<std::size_t>(i * most_.K + k)]; }
  T b(index_t k, index_t j) const { return b_[static_cast<std::size_t>(k * most_.N + j)]; }
  T& sum(index_t i, index_t j) { return sums_[static_cast<std::size_t>(i * most_.N + j)]; }

  Shape most_;
  std::vector<T> a_, b_, row_bias_, column_bias_, sums_;
  BetweenPages<T> A_, B_, C_, row_place_, column_place_;
};

/// Every transposition of A and B, both pages, and in turn: C by rows or columns, beta, bias.
template <class T, class Body>
void each_variant(Body body) {
  using Inner = typename Corners<T>::Inner;
  int turn = 0;
  for (const Against against : {Against::page_behind, Against::page_in_front}) {
    for (const Inner a : {Inner::row, Inner::column}) {
      for (const Inner b : {Inner::row, Inner::column}) {
        for (const Inner c : {Inner::row, Inner::column}) {
          ++turn;
          body({against, a, b, c, static_cast<Bias>(turn % 3), static_cast<T>(turn / 2 % 2),
                1 + turn % 2});
        }
      }
    }
  }
}

TYPED_TEST(GuardPages, HoldForEveryRemainderOfASmallProduct) {
  using T = TypeParam;
  Thinned thinned(7);
  for (const index_t K : {1, 5, 50}) {
    Corners<T> corners({17, 50, K});
    each_variant<T>([&](const typename Corners<T>::Variant& variant) {
      for (index_t M = 1; M <= 17; ++M) {
        for (index_t N = 1; N <= 50 && !this->HasFailure(); ++N) {
          if (thinned.takes(K, M, N)) corners.check(M, N, variant);
        }
      }
    });
  }
}

TYPED_TEST(GuardPages, HoldForEveryRemainderOfAPackedProduct) {
  using T = TypeParam;
  Thinned thinned(5);
  Corners<T> corners({32, 147, 49});
  each_variant<T>([&](const typename Corners<T>::Variant& variant) {
    for (index_t M = 25; M <= 32; ++M) {
      for (index_t N = 99; N <= 147 && !this->HasFailure(); ++N) {
        if (thinned.takes(M, N)) corners.check(M, N, variant);
      }
    }
  });
}

template <class T>
void expect_guards_hold_for_skinny_products() {
  Thinned thinned(5);
  for (const Shape s : {Shape{19, 105, 1031},
                        {1, 997, 700},
                        {997, 1, 700},
                        {2, 3, 4001},
                        {7, 2600, 131},
                        {16, 1300, 257},
                        {23, 1300, 257},
                        {67, 58, 2100},
                        {2, 71, 2048},  // lines that are pages apart
                        {71, 1, 2048},
                        {16, 8, 512},  // rows that are copied
                        {8, 40, 256},
                        {1, 433, 71},
                        {2, 205, 71},
                        {40, 450, 523},
                        {450, 7, 131}}) {
    Corners<T> corners(s);
    each_variant<T>([&](const typename Corners<T>::Variant& variant) {
      if (thinned.takes(variant.against, variant.a, variant.b, variant.c, variant.bias,
                        variant.threads))
        corners.check(s.M, s.N, variant);
    });
  }
}

TYPED_TEST(GuardPages, HoldForSeveralKcBlocksAndForSkinnyProducts) {
  expect_guards_hold_for_skinny_products<TypeParam>();
}

TYPED_TEST(GuardPages, HoldForSkinnyProductsOfWhatIsInNoCache) {
  const cpu::Caches before = cpu::assume_caches({16 << 10, 64 << 10, 64 << 10});
  expect_guards_hold_for_skinny_products<TypeParam>();
  cpu::assume_caches(before);
}

}  // namespace
}  // namespace tessera
