// The checked batches: each product has the bits of a single call, for every type, stride and
// count, and no other element is touched. What is refused is in batch_refusals_test.cpp.
#include "tessera/matmul/batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cpu/multiply.hpp"
#include "matmul/overlap_error.hpp"
#include "support/packed_types.hpp"
#include "tessera/matmul/packed_matrix.hpp"

namespace tessera {
namespace {

using testing::difference;
using testing::Guarded;
using testing::kOrders;
using testing::kThreads;
using testing::RandomData;
using testing::Shape;

template <class T>
class CheckedBatch : public ::testing::Test {};
TYPED_TEST_SUITE(CheckedBatch, testing::PackedTypes, testing::IntoNames);

/// `rows` rows of m from row i on.
template <class T>
Matrix rows_of(Guarded<T>& m, index_t i, index_t rows) {
  const Matrix all = m.view();
  return {static_cast<T*>(all.data) + i * all.row_stride,
          all.dtype,
          rows,
          all.cols,
          all.row_stride,
          all.col_stride};
}

/// Whose operand is the same for all products.
enum class Shared { none, a, b };

TYPED_TEST(CheckedBatch, StridedProductsAreThoseOfEachAlone) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  std::size_t turn = 0;
  for (const Shape s : {Shape{1, 1, 1}, {4, 5, 6}, {17, 19, 23}, {5, 3, 0}, {0, 3, 5}}) {
    for (const index_t count : {0, 1, 2, 21}) {
      for (const Shared shared : {Shared::none, Shared::a, Shared::b}) {
        for (const auto& [alpha, beta] : {std::pair{1, 0}, {3, -2}}) {
          // One below the other, with rows between them; the strides of all in every order.
          const index_t down_a = s.M + 1, down_b = s.K + 2, down_c = s.M + 3;
          Guarded<In> A(count * down_a, s.K, kOrders<In>[turn % 5]),
              B(count * down_b, s.N, kOrders<In>[(turn / 5 + 1) % 5]);
          Guarded<Out> C(count * down_c, s.N, kOrders<Out>[(turn / 3 + 2) % 5]);  // NaN, or 77
          A.fill(RandomData(1, std::is_integral_v<In>));
          B.fill(RandomData(2, std::is_integral_v<In>));
          if (beta != 0) C.fill(RandomData(3, true));
          Guarded<Out> expected = C;
          const index_t next_a = shared == Shared::a ? 0 : down_a,
                        next_b = shared == Shared::b ? 0 : down_b;
          for (index_t i = 0; i < count; ++i)
            matmul(rows_of(A, i * next_a, s.M), rows_of(B, i * next_b, s.K),
                   rows_of(expected, i * down_c, s.M), alpha, beta);
          const BatchSteps steps{next_a * A.view().row_stride, next_b * B.view().row_stride,
                                 down_c * C.view().row_stride};
          const Options options{.threads = kThreads[turn++ % kThreads.size()]};
          matmul_strided(rows_of(A, 0, s.M), rows_of(B, 0, s.K), rows_of(C, 0, s.M), count, steps,
                         alpha, beta, options);
          EXPECT_EQ(difference(C, expected), "") << s.M << "x" << s.N << "x" << s.K << " " << count;
          EXPECT_TRUE(C.guards_intact());
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(CheckedBatch, ProductsOfAnyShapesAreThoseOfEachAlone) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  for (const std::size_t count : {0, 1, 3, 40}) {
    std::vector<std::unique_ptr<Guarded<In>>> As, Bs;
    std::vector<Guarded<Out>> Cs, expected;
    std::vector<Product> products;
    for (std::size_t i = 0; i < count; ++i) {
      const auto n = static_cast<index_t>(i);
      const Shape s{n * 7 % 23, 1 + n * 11 % 31, n * 5 % 19};
      As.push_back(std::make_unique<Guarded<In>>(s.M, s.K, kOrders<In>[i % 5]));
      Bs.push_back(std::make_unique<Guarded<In>>(s.K, s.N, kOrders<In>[i / 2 % 5]));
      As.back()->fill(RandomData(i, std::is_integral_v<In>));
      Bs.back()->fill(RandomData(i + 1, std::is_integral_v<In>));
      Cs.emplace_back(s.M, s.N, kOrders<Out>[i / 3 % 5]);
      Cs.back().fill(RandomData(i + 2, true));
    }
    expected = Cs;
    for (std::size_t i = 0; i < count; ++i) {
      products.push_back({As[i]->view(), Bs[i]->view(), Cs[i].view()});
      matmul(As[i]->view(), Bs[i]->view(), expected[i].view(), 3, -2);
    }
    for (const int threads : {1, 3}) {
      std::vector<Guarded<Out>> again = Cs;
      for (std::size_t i = 0; i < count; ++i) products[i].C = again[i].view();
      matmul_batch(products, 3, -2, {.threads = threads});
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(difference(again[i], expected[i]), "") << i;
        EXPECT_TRUE(again[i].guards_intact()) << i;
      }
    }
  }
}

TEST(CheckedBatch, HeadsThatLieSideBySideAreMultipliedWhereTheyAre) {
  const index_t words = 33, heads = 6, width = 8;
  const index_t all = heads * width;
  Guarded<float> Q(words, all), K(words, all), S(heads * words, words),
      expected(heads * words, words), O(words, all), wanted(words, all);
  Q.fill(RandomData(1));
  K.fill(RandomData(2));
  const auto head = [&](Guarded<float>& m, index_t h) {
    const Matrix v = m.view();
    return Matrix(static_cast<float*>(v.data) + h * width, DType::f32, words, width, v.row_stride);
  };
  std::vector<Product> scores, sums;
  for (index_t h = 0; h < heads; ++h) {
    scores.push_back({head(Q, h), transposed(head(K, h)), rows_of(S, h * words, words)});
    sums.push_back({rows_of(S, h * words, words), head(K, h), head(O, h)});
    matmul(head(Q, h), transposed(head(K, h)), rows_of(expected, h * words, words));
    matmul(rows_of(expected, h * words, words), head(K, h), head(wanted, h));
  }
  matmul_batch(scores);
  EXPECT_EQ(difference(S, expected), "");
  matmul_batch(sums);
  EXPECT_EQ(difference(O, wanted), "");
  Guarded<float> again(words, all);
  matmul_strided(sums[0].A, sums[0].B, head(again, 0), heads,
                 {words * S.view().row_stride, width, width});
  EXPECT_EQ(difference(again, wanted), "");
}

TEST(CheckedBatch, ProductsInterleavedElementByElementAreTakenApart) {
  const index_t M = 4, N = 5, K = 3, count = 50;
  const auto interleaved = [&](std::vector<float>& v, index_t rows, index_t cols, index_t i) {
    return Matrix(v.data() + i, DType::f32, rows, cols, cols * count, count);
  };
  std::vector<float> a(M * K * count), b(K * N * count), c(M * N * count), expected = c, again = c;
  RandomData data(1);
  for (auto* v : {&a, &b}) {
    for (float& x : *v) x = static_cast<float>(data(0, 0));
  }
  std::vector<Product> products;
  for (index_t i = 0; i < count; ++i) {
    products.push_back({interleaved(a, M, K, i), interleaved(b, K, N, i), interleaved(c, M, N, i)});
    matmul(products.back().A, products.back().B, interleaved(expected, M, N, i));
  }
  matmul_batch(products);
  EXPECT_EQ(c, expected);
  matmul_strided(products[0].A, products[0].B, interleaved(again, M, N, 0), count, {1, 1, 1});
  EXPECT_EQ(again, expected);
}

TEST(CheckedBatch, WindowsOfOneMatrixAreUpdatedInPlace) {
  // The trailing update of an LU factorisation, of many matrices: C -= A * B, all three in one.
  const index_t n = 12, k = 4, count = 9;
  std::vector<double> matrices(n * n * count), expected;
  RandomData data(1);
  for (double& x : matrices) x = data(0, 0);
  expected = matrices;
  const auto update = [&](std::vector<double>& v, index_t i) {
    double* at = v.data() + i * n * n;
    return Product{matrix(at + k * n, n - k, k, n), matrix(at + k, k, n - k, n),
                   matrix(at + k * n + k, n - k, n - k, n)};
  };
  std::vector<double> listed = matrices;
  std::vector<Product> products;
  for (index_t i = 0; i < count; ++i) {
    const auto [A, B, C] = update(expected, i);
    matmul(A, B, C, -1, 1);
    products.push_back(update(listed, i));
  }
  matmul_batch(products, -1, 1);
  EXPECT_EQ(listed, expected);
  const auto [A, B, C] = update(matrices, 0);
  matmul_strided(A, B, C, count, {n * n, n * n, n * n}, -1, 1);
  EXPECT_EQ(matrices, expected);
}

TEST(CheckedBatch, AStridedBatchHasTheEpilogueOfEachProduct) {
  constexpr index_t M = 3, N = 4, K = 5, count = 3;
  std::vector<float> a(M * K * count), b(K * N * count), bias = {-9, 0, 1, 50};
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = float(i % 7) - 3;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = float(i % 5) - 2;
  std::vector<float> got(M * N * count), expected(M * N * count);
  const auto at = [](auto& v, index_t i, index_t rows, index_t cols) {
    return matrix(v.data() + i * rows * cols, rows, cols);
  };
  const Epilogue epilogue{.activation = Activation::relu, .bias = Bias::per_column};
  for (index_t i = 0; i < count; ++i) {
    const auto A = at(a, i, M, K), B = at(b, i, K, N), C = at(expected, i, M, N);
    run(make_plan(make_problem(A, B, C, 2, 0, epilogue)), A, B, C, bias.data());
  }
  matmul_strided(at(a, 0, M, K), at(b, 0, K, N), at(got, 0, M, N), count, {M * K, K * N, M * N}, 2,
                 0, {}, epilogue, bias.data());
  EXPECT_EQ(got, expected);
  EXPECT_THROW(matmul_strided(at(a, 0, M, K), at(b, 0, K, N), at(got, 0, M, N), count,
                              {M * K, K * N, M * N}, 2, 0, {}, epilogue),
               Error);
  EXPECT_THROW(matmul_strided(at(got, 0, M, M), at(got, 0, M, N), at(got, 0, M, N), 1, {}),
               OverlapError);
}

TEST(CheckedBatchDeathTest, VerboseCallsSayOneLineEach) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the variable is read once in a process
  std::vector<float> a(60, 1), b(60, 1), c(60);
  const auto say = [&] {
    setenv("TESSERA_VERBOSE", "1", 1);
    const auto A = matrix(a.data(), 3, 5);
    const auto B = matrix(b.data(), 5, 4);
    const auto C = matrix(c.data(), 3, 4);
    matmul_strided(A, B, C, 3, {15, 0, 12});
    matmul_batch(std::vector<Product>{{A, B, C}, {A, B, matrix(c.data() + 12, 3, 4)}}, 2);
    matmul(A, PackedMatrix(B), C);
    matmul(A, B, C, 1, 0, {.algorithm = "packed"});
    std::_Exit(0);
  };
  const std::string shape = "m=3 n=4 k=5 in=f32 [^\n]* algorithm=packed [^\n]* isa=[a-z0-9]+";
  const std::string time = " time_us=[0-9.]+\n";
  EXPECT_EXIT(
      say(), ::testing::ExitedWithCode(0),
      ::testing::MatchesRegex("tessera: matmul_strided count=3 " + shape + time +
                              "tessera: matmul_batch count=2 " + shape + time + "tessera: matmul " +
                              shape + time + "tessera: matmul " + shape +
                              " route=tiny taking_part=1 route_reason=\"[a-z ]+\"" + time));
}

}  // namespace
}  // namespace tessera
