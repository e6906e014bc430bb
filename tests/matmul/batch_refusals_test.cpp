// The errors of a checked batch; C stays as it was. Overlaps of many matrices
// are compared with a count of who writes each element.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "support/refusal.hpp"
#include "tessera/matmul/batch.hpp"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::refusal;

struct BatchBuffers {
  std::vector<float> a = std::vector<float>(400, 1), b = a, c = std::vector<float>(400, 7);
  ConstMatrix A = matrix(a.data(), 3, 5), B = matrix(b.data(), 5, 4);
  Matrix C = matrix(c.data(), 3, 4);

  std::string strided(index_t count, BatchSteps steps, Category category, Options options = {}) {
    const auto text =
        refusal([&] { matmul_strided(A, B, C, count, steps, 1, 0, options); }, category);
    EXPECT_EQ(c, std::vector<float>(400, 7));
    return text;
  }
  std::string batch(const std::vector<Product>& products, Category category, Options options = {}) {
    const auto text = refusal([&] { matmul_batch(products, 1, 0, options); }, category);
    EXPECT_EQ(c, std::vector<float>(400, 7));
    return text;
  }
};

TEST(StridedRefusals, NameWhatIsWrong) {
  BatchBuffers x;
  const BatchSteps apart{15, 20, 12};
  EXPECT_THAT(x.strided(-1, apart, Category::argument),
              HasSubstr("matmul_strided: the count is negative: expected 0 or more, got -1"));
  EXPECT_THAT(x.strided(0, apart, Category::argument, {.algorithm = "tiled"}),
              AllOf(HasSubstr("tiled does not multiply a batch"), HasSubstr("auto or packed")));
  EXPECT_THAT(x.strided(3, apart, Category::argument, {.threads = -1}), HasSubstr("threads"));
  constexpr index_t far = std::numeric_limits<index_t>::max() / 8;
  EXPECT_THAT(x.strided(5, {far, 20, 12}, Category::shape),
              HasSubstr("matmul_strided: A reaches beyond 64-bit addresses"));
  EXPECT_THAT(x.strided(5, {15, -far, 12}, Category::shape), HasSubstr("B reaches beyond"));
  EXPECT_THAT(x.strided(2, {15, 20, std::numeric_limits<index_t>::min()}, Category::shape),
              AllOf(HasSubstr("C reaches beyond"), HasSubstr("2 of f32 (3,4):(4,1) at steps of")));
  x.B = matrix(x.b.data(), 6, 4);
  EXPECT_THAT(x.strided(3, apart, Category::shape), HasSubstr("A has 5 columns but B has 6 rows"));
  x.B = matrix<const float>(nullptr, 5, 4);
  EXPECT_THAT(x.strided(3, apart, Category::argument), HasSubstr("B of shape (5,4) has no data"));
  EXPECT_NO_THROW(matmul_strided(x.A, x.B, x.C, 0, apart));
  std::vector<std::int32_t> i(400);
  x.A = matrix(i.data(), 3, 5), x.B = matrix(i.data(), 5, 4), x.C = matrix(i.data() + 200, 3, 4);
  EXPECT_THAT(x.strided(3, apart, Category::type),
              AllOf(HasSubstr("no i32 product in a batch"), HasSubstr("matmul for each")));
}

TEST(StridedRefusals, OverlapsAreNamed) {
  BatchBuffers x;
  EXPECT_THAT(x.strided(3, {15, 20, 11}, Category::argument),
              HasSubstr("matmul_strided: C of product 1 overlaps C of product 0: got C f32 "));
  EXPECT_THAT(x.strided(2, {15, 20, 0}, Category::argument),
              HasSubstr("C of product 1 overlaps C of product 0"));
  EXPECT_THAT(x.strided(10000, {0, 0, 0}, Category::argument),
              HasSubstr("C of product 1 overlaps C of product 0"));
  x.A = matrix(x.c.data() + 14, 3, 5);
  EXPECT_THAT(x.strided(2, {15, 20, 12}, Category::argument),
              HasSubstr("C of product 1 overlaps A of product 0"));
  x.A = matrix(x.a.data(), 3, 5), x.B = matrix(x.c.data() + 48, 5, 4);
  EXPECT_THAT(x.strided(5, {15, 0, 12}, Category::argument),
              HasSubstr("C of product 4 overlaps B of product"));
  EXPECT_NO_THROW(matmul_strided(x.A, x.B, x.C, 4, {15, 0, 12}));
}

TEST(StridedRefusals, ManyProductsMustBeApart) {
  // 1x2 results with 5 elements between: steps of 1 fit five times, then they meet.
  const index_t count = 5000;
  std::vector<float> a(count, 1), b(2, 1), c(2 * count + 10, 7);
  const auto A = matrix(a.data(), 1, 1);
  const auto B = matrix(b.data(), 1, 2);
  const Matrix C(c.data(), DType::f32, 1, 2, 10, 5);
  EXPECT_NO_THROW(matmul_strided(A, B, C, 5, {1, 0, 1}));
  EXPECT_THAT(refusal(
                  [&] {
                    matmul_strided(A, B, C, 6, {1, 0, 1});
                  },
                  Category::argument),
              HasSubstr("C of product 5 overlaps C of product 0"));
  // Elements 0 and 3, 2 and 5, ...: apart, though one reaches over others.
  const Matrix interlocked(c.data(), DType::f32, 1, 2, 10, 3);
  EXPECT_NO_THROW(matmul_strided(A, B, interlocked, count, {1, 0, 2}));
  // Elements 0 and 4500, 1 and 4501, ...: product 4500 is the first that meets another.
  const Matrix far(c.data(), DType::f32, 1, 2, 10, 4500);
  EXPECT_NO_THROW(matmul_strided(A, B, far, 4500, {1, 0, 1}));
  EXPECT_THAT(refusal(
                  [&] {
                    matmul_strided(A, B, far, 4501, {1, 0, 1});
                  },
                  Category::argument),
              AllOf(HasSubstr("C may overlap another C"), HasSubstr("steps of 1")));
}

TEST(BatchRefusals, NameTheProduct) {
  BatchBuffers x;
  const Product good{x.A, x.B, x.C}, next{x.A, x.B, matrix(x.c.data() + 12, 3, 4)};
  EXPECT_THAT(x.batch({good, {matrix(x.a.data(), 3, 6), x.B, next.C}}, Category::shape),
              HasSubstr("matmul_batch: product 1: multiply: A has 6 columns but B has 5 rows"));
  EXPECT_THAT(x.batch({good, {x.A, x.B, matrix<float>(nullptr, 3, 4)}}, Category::argument),
              HasSubstr("product 1: multiply: C of shape (3,4) has no data"));
  const Product large{
      ConstMatrix(x.a.data(), DType::f32, index_t{1} << 20, 0, 1, 1),
      ConstMatrix(x.b.data(), DType::f32, 0, index_t{1} << 19, 1, 1),
      Matrix(x.c.data() + 50, DType::f32, index_t{1} << 20, index_t{1} << 19, index_t{1} << 19, 1)};
  EXPECT_THAT(x.batch({large}, Category::shape), HasSubstr("product 0: plan: C has too many"));
  EXPECT_THAT(x.batch({good, large}, Category::shape),
              AllOf(HasSubstr("matmul_batch: product 1: plan: C has too many elements"),
                    HasSubstr("got 1048576 x 524288")));
  std::vector<double> d(400, 1);
  EXPECT_THAT(
      x.batch({good,
               next,
               {matrix(d.data(), 3, 5), matrix(d.data(), 5, 4), matrix(d.data() + 99, 3, 4)}},
              Category::type),
      AllOf(HasSubstr("product 2 has other element types than product 0"),
            HasSubstr("expected f32, got f64")));
  EXPECT_THAT(x.batch({good, next}, Category::argument, {.algorithm = "naive"}),
              HasSubstr("naive does not multiply a batch"));
  EXPECT_THAT(x.batch({}, Category::argument, {.algorithm = "tield"}), HasSubstr("did you mean"));
  EXPECT_THAT(x.batch({good, next, {x.A, x.B, matrix(x.c.data() + 23, 3, 4)}}, Category::argument),
              HasSubstr("matmul_batch: C of product 2 overlaps C of product 1"));
  EXPECT_THAT(
      x.batch({{next.C, matrix(x.b.data(), 4, 4), matrix(x.c.data() + 30, 3, 4)}, good, next},
              Category::argument),
      HasSubstr("C of product 2 overlaps A of product 0"));
  EXPECT_THAT(x.batch({good, {x.A, matrix(x.c.data() + 8, 5, 4), matrix(x.c.data() + 40, 3, 4)}},
                      Category::argument),
              HasSubstr("C of product 0 overlaps B of product 1"));
}

TEST(BatchRefusals, AreRightForWindowsOfOneMatrix) {
  std::mt19937 random(7);
  int refused = 0, taken = 0;
  for (int round = 0; round < 4000; ++round) {
    const index_t rows = 24, cols = 30, K = 2;
    std::vector<float> memory(rows * cols), other(200, 1);
    std::vector<int> writers(memory.size()), readers(memory.size());
    const auto window = [&](index_t m, index_t n, std::vector<int>& users) {
      const auto top = static_cast<index_t>(random()) % (rows - m + 1),
                 left = static_cast<index_t>(random()) % (cols - n + 1);
      for (index_t i = 0; i < m; ++i) {
        for (index_t j = 0; j < n; ++j) ++users[(top + i) * cols + left + j];
      }
      return matrix(memory.data() + top * cols + left, m, n, cols);
    };
    std::vector<Product> products;
    bool overlap = false;
    for (index_t i = 0; i < 2 + round % 6; ++i) {
      const auto M = static_cast<index_t>(1 + random() % 6),
                 N = static_cast<index_t>(1 + random() % 6);
      const ConstMatrix A = round % 2 == 0 ? ConstMatrix(matrix(other.data(), M, K))
                                           : ConstMatrix(window(M, K, readers));
      products.push_back({A, matrix(other.data(), K, N), window(M, N, writers)});
    }
    for (std::size_t i = 0; i < memory.size(); ++i)
      overlap |= writers[i] > 1 || (writers[i] == 1 && readers[i] > 0);
    try {
      matmul_batch(products);
      EXPECT_FALSE(overlap) << round;
      ++taken;
    } catch (const Error& error) {
      EXPECT_TRUE(overlap) << round << ": " << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(taken, 500);
}

}  // namespace
}  // namespace tessera
