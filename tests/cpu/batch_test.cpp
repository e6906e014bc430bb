// Batched products have the same bits as single ones: strided and general batches, few and
// many, small and large, any number of threads.
#include "tessera/cpu/batch.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "cpu/multiply.hpp"
#include "support/thinned.hpp"

namespace tessera {
namespace {

using testing::call_on;
using testing::difference;
using testing::Guarded;
using testing::kThreads;
using testing::multiply;
using testing::RandomData;
using testing::Shape;
using testing::Thinned;

template <class T>
class Batch : public ::testing::Test {};
TYPED_TEST_SUITE(Batch, testing::RealTypes, testing::TypeNames);

/// Whose operands are the same for all.
enum class Shared { none, a, b };

TYPED_TEST(Batch, StridedProductsAreThoseOfEachAlone) {
  using T = TypeParam;
  Thinned thinned(7);
  for (const Shape s : {Shape{1, 1, 1}, {4, 4, 4}, {17, 19, 23}, {60, 70, 50}, {5, 3, 0}}) {
    for (const index_t count : {0, 1, 3, 43}) {
      for (const Shared shared : {Shared::none, Shared::a, Shared::b}) {
        for (const int threads : {0, 1, 2, 5}) {
          if (!thinned.takes(s.M, count, shared, threads)) continue;
          // One below the other, with rows between them.
          Guarded<T> A(count * (s.M + 1), s.K), B(count * (s.K + 2), s.N),
              C(count * (s.M + 3), s.N);
          A.fill(RandomData(1));
          B.fill(RandomData(2));
          C.fill(RandomData(3));
          Guarded<T> expected = C;
          const Matrix a = A.view(), b = B.view(), c = C.view(), wanted = expected.view();
          const cpu::BatchSteps steps{shared == Shared::a ? 0 : (s.M + 1) * a.row_stride,
                                      shared == Shared::b ? 0 : (s.K + 2) * b.row_stride,
                                      (s.M + 3) * c.row_stride};
          const auto part = [](const Matrix& m, index_t step, index_t i, index_t rows,
                               index_t cols) {
            return Matrix(static_cast<T*>(m.data) + i * step, m.dtype, rows, cols, m.row_stride, 1);
          };
          const cpu::Gemm<T> call{.alpha = T(0.7), .beta = T(-1), .threads = threads};
          for (index_t i = 0; i < count; ++i) {
            testing::reference<T>(call, part(a, steps.a, i, s.M, s.K),
                                  part(b, steps.b, i, s.K, s.N),
                                  part(wanted, steps.c, i, s.M, s.N));
          }
          cpu::gemm_strided(call_on(call, part(a, 0, 0, s.M, s.K), part(b, 0, 0, s.K, s.N),
                                    part(c, 0, 0, s.M, s.N)),
                            count, steps);
          ASSERT_EQ(difference(C, expected), "")
              << s.M << "x" << s.N << "x" << s.K << " times " << count << " threads " << threads;
          ASSERT_TRUE(C.guards_intact());
        }
      }
    }
  }
}

TYPED_TEST(Batch, ProductsOfAnyShapesAreThoseOfEachAlone) {
  using T = TypeParam;
  struct Each {
    Guarded<T> A, B, C, expected;
    explicit Each(Shape s) : A(s.M, s.K), B(s.K, s.N), C(s.M, s.N), expected(C) {
      A.fill(RandomData(1));
      B.fill(RandomData(2));
    }
  };
  for (const int count : {0, 1, 3, 43}) {
    for (const int threads : kThreads) {
      std::vector<std::unique_ptr<Each>> all;
      std::vector<cpu::Gemm<T>> calls;
      for (index_t i = 0; i < count; ++i) {
        const Shape s{i * 7 % 60, (i * 31 + 5) % 110, i * 13 % 90};
        all.push_back(std::make_unique<Each>(s));
        Each& one = *all.back();
        const cpu::Gemm<T> call{.alpha = static_cast<T>(i % 3), .threads = threads};
        testing::reference(call, one.A.view(), one.B.view(), one.expected.view());
        calls.push_back(call_on(call, one.A.view(), one.B.view(), one.C.view()));
      }
      cpu::gemm_batch(calls.data(), count);
      for (const auto& one : all) {
        ASSERT_EQ(difference(one->C, one->expected), "") << count << " products";
        ASSERT_TRUE(one->C.guards_intact());
      }
    }
  }
}

TEST(BatchOfIntegers, IsTheProductOfAll) {
  Guarded<std::int8_t> A(10 * 5, 9), B(9, 6);
  Guarded<std::int32_t> C(10 * 5, 6), expected(10 * 5, 6);
  A.fill(RandomData(1, true));
  B.fill(RandomData(2, true));
  multiply<std::int8_t, std::int32_t>({}, A.view(), B.view(), expected.view());
  const Matrix a = A.view(), c = C.view();
  cpu::gemm_strided(
      call_on<std::int8_t, std::int32_t>({}, {a.data, a.dtype, 5, 9, a.row_stride, 1}, B.view(),
                                         {c.data, c.dtype, 5, 6, c.row_stride, 1}),
      10, {5 * a.row_stride, 0, 5 * c.row_stride});
  EXPECT_EQ(difference(C, expected), "");
}

TEST(BatchOfProducts, WholeOnesAreSharedOutWhereTheyAreManyOrSmall) {
  const index_t small = 1000, large = 10 * cpu::kLargeProductNs;
  EXPECT_TRUE(cpu::is_shared_out(2, 2 * small, 8)) << "two small ones";
  EXPECT_FALSE(cpu::is_shared_out(2, 2 * large, 8)) << "all threads for each of two large ones";
  EXPECT_TRUE(cpu::is_shared_out(16, 16 * large, 8));
  EXPECT_FALSE(cpu::is_shared_out(16, 16 * small, 1));
  EXPECT_FALSE(cpu::is_shared_out(1, small, 8));
}

TEST(BatchOfProducts, EachRunsOnceInOrderOfItsWorker) {
  for (const index_t count : {0, 1, 2, 3, 5, 64, 1000}) {
    for (const std::int64_t ns : {std::int64_t{0}, count * 10, count * 1'000'000}) {
      for (const int threads : kThreads) {
        std::vector<int> runs(static_cast<std::size_t>(count));
        cpu::run_products(count, ns, threads, [&](int own) {
          EXPECT_TRUE(own == 1 || count < 2 * threads || threads <= 0);
          return [&runs, last = index_t{-1}](index_t i) mutable {
            EXPECT_GT(i, last);
            last = i;
            ++runs[static_cast<std::size_t>(i)];
          };
        });
        EXPECT_EQ(runs, std::vector<int>(static_cast<std::size_t>(count), 1))
            << count << " " << ns << " " << threads;
      }
    }
  }
}

}  // namespace
}  // namespace tessera
