// Batches, groups, K in parts, f32 as three bf16 and packed matrices on a GPU: the bits of the same
// products alone there, and of the CPU engine.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>

#include "cuda/abilities.hpp"
#include "gpu_support.hpp"
#include "support/products.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera {
namespace {

using testing::aligned;
using testing::Guarded;
using testing::RandomData;

class GpuBatch : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::need_gpu();
    if (cuda::abilities(0).capability != 90)
      GTEST_SKIP() << "NOT TESTED: the device has no warpgroup units";
  }
};

template <class T>
void expect_same_bits(const Guarded<T>& got, const Guarded<T>& wanted, const std::string& what) {
  int wrong = 0;
  for (index_t i = 0; i < got.rows(); ++i)
    for (index_t j = 0; j < got.cols(); ++j)
      wrong += std::memcmp(&got(i, j), &wanted(i, j), sizeof(T)) != 0;
  EXPECT_EQ(wrong, 0) << what;
  EXPECT_TRUE(got.guards_intact()) << what;
}

/// Operands on the host and there; C is NaN.
template <class In, class Out>
struct OnBoth {
  Guarded<In> A, B;
  Guarded<Out> C;
  cuda::DeviceMatrix a, b, c;
  OnBoth(testing::Shape s, bool a_by_columns, bool b_by_columns, const cuda::Stream& stream)
      : A(aligned<In>(s.M, s.K, a_by_columns)),
        B(aligned<In>(s.K, s.N, b_by_columns)),
        C(aligned<Out>(s.M, s.N, false)) {
    A.fill(RandomData(1));
    B.fill(RandomData(2));
    a = {A.view(), stream}, b = {B.view(), stream}, c = {C.view(), stream};
  }
  Guarded<Out> result(const cuda::Stream& stream) const {
    Guarded<Out> out = C;
    cuda::download(c.view(), out.view(), stream);
    return out;
  }
};

TEST_F(GpuBatch, ProductsOfAGroupHaveTheirBits) {
  const auto stream = cuda::Stream::create(0);
  std::deque<OnBoth<bf16, bf16>> all;
  std::vector<Product> products;
  for (int i = 0; i < 70; ++i) {
    const testing::Shape s{i * 37 % 300, 1 + i * 53 % 260, i * 29 % 500};
    auto& each = all.emplace_back(s, i % 2 == 0, i % 3 == 0, stream);
    products.push_back({each.a.view(), each.b.view(), each.c.view()});
  }
  const Plan plan = cuda::matmul_batch(products, stream);
  EXPECT_EQ(plan.algorithm, "warpgroup") << plan.reason;
  for (auto& each : all) {
    const auto grouped = each.result(stream);
    const Plan alone = cuda::matmul(each.a.view(), each.b.view(), each.c.view(), stream, 1, 0,
                                    {.algorithm = "warpgroup"});
    expect_same_bits(grouped, each.result(stream), to_string(alone));
  }
}

TEST_F(GpuBatch, StridedProductsHaveTheirBits) {
  const auto stream = cuda::Stream::create(0);
  constexpr index_t count = 64, side = 128;
  OnBoth<f16, float> all({count * side, side, side}, false, false, stream);
  const auto block = [&](const Matrix& m, index_t i) {
    Matrix out = m;
    out.rows = side;
    out.data = static_cast<char*>(m.data) + i * side * m.row_stride * size_of(m.dtype);
    return out;
  };
  const Matrix a = all.a.view(), c = all.c.view();
  const Plan plan =
      cuda::matmul_strided(block(a, 0), all.b.view(), block(c, 0), count,
                           {.a = side * a.row_stride, .b = 0, .c = side * c.row_stride}, stream);
  EXPECT_EQ(plan.algorithm, "warpgroup") << plan.reason;
  const auto strided = all.result(stream);
  cuda::matmul(a, all.b.view(), c, stream, 1, 0, {.algorithm = "warpgroup"});
  expect_same_bits(strided, all.result(stream), plan.reason);
}

TEST_F(GpuBatch, PartsOfKHaveTheBitsOfTheEngine) {
  const auto stream = cuda::Stream::create(0);
  for (const int parts : {2, 7, 32}) {
    OnBoth<bf16, float> x({130, 100, 4096}, false, true, stream);
    const TileShape tile{.bm = 64, .bn = 64, .wm = 64, .wn = 64};
    const Options options{.algorithm = "warpgroup", .tile = tile, .parts = parts};
    const Plan plan = cuda::matmul(x.a.view(), x.b.view(), x.c.view(), stream, 1, 0, options);
    const auto got = x.result(stream);
    matmul(x.A.view(), x.B.view(), x.C.view(), 1, 0, options);
    expect_same_bits(got, x.C, to_string(plan));
  }
  for (const int parts : {2, 7, 32}) {
    OnBoth<bf16, float> x({17, 1000, 4096}, false, true, stream);
    const Options options{.algorithm = "thin", .parts = parts};
    const Plan plan = cuda::matmul(x.a.view(), x.b.view(), x.c.view(), stream, 1, 0, options);
    const auto got = x.result(stream);
    matmul(x.A.view(), x.B.view(), x.C.view(), 1, 0, options);
    expect_same_bits(got, x.C, to_string(plan));
  }
}

TEST_F(GpuBatch, ThreeBf16HasTheBitsOfTheEngineAlsoPacked) {
  const auto stream = cuda::Stream::create(0);
  for (const TileShape& tile : find_algorithm("three_bf16").tiles) {
    for (const auto& s : {testing::Shape{1, 1, 1}, {130, 200, 150}, {257, 65, 1000}}) {
      OnBoth<float, float> x(s, true, false, stream);
      const Options options{.algorithm = "three_bf16", .tile = tile};
      cuda::matmul(x.a.view(), x.b.view(), x.c.view(), stream, 1, 0, options);
      const auto got = x.result(stream);
      const cuda::PackedMatrix packed(x.b.view(), stream, cuda::PackedAs::three_bf16);
      cuda::matmul(x.a.view(), packed, x.c.view(), stream, 1, 0, options);
      expect_same_bits(x.result(stream), got, "packed");
      matmul(x.A.view(), x.B.view(), x.C.view(), 1, 0, options);
      expect_same_bits(got, x.C, to_string(tile));
    }
  }
}

/// A packed B is multiplied where B itself could not be read in place.
TEST_F(GpuBatch, PackedRowsAreTheMatrix) {
  const auto stream = cuda::Stream::create(0);
  OnBoth<std::int8_t, std::int32_t> x({100, 72, 200}, false, false, stream);
  const cuda::PackedMatrix packed(x.b.view(), stream);
  const Plan plan = cuda::matmul(x.a.view(), packed, x.c.view(), stream);
  EXPECT_EQ(plan.algorithm, "warpgroup");
  const auto got = x.result(stream);
  matmul(x.A.view(), x.B.view(), x.C.view());
  expect_same_bits(got, x.C, to_string(plan));
}

}  // namespace
}  // namespace tessera
