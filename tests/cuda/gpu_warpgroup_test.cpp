// The kernel of warpgroup units on a GPU: every tile, type and order of operands whose rows bulk
// copies can read, edges of all kinds, and C by bulk stores and by the epilogue. The bits are those
// of `tensor_core`, since the units of one device add alike, and of f32 those of the CPU engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <utility>

#include "cluster_product.hpp"
#include "cuda/abilities.hpp"
#include "gpu_support.hpp"
#include "support/products.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"
#include "unit_product_calls.hpp"

namespace tessera {
namespace {

using testing::aligned;
using testing::Guarded;
using testing::RandomData;

class GpuWarpgroup : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::need_gpu();
    if (cuda::abilities(0).capability != 90)
      GTEST_SKIP() << "NOT TESTED: the device has no warpgroup units";
  }
};

/// Which operand is contiguous along its columns.
struct Orders {
  bool a, b, c;
};

/// A product: its operands here and there, what is right, and its bits: those of `tensor_core` on
/// the same device; of f32, which bulk copies round to TF32 and `tensor_core` otherwise, of the CPU
/// engine.
template <class In, class Out>
class Expected {
 public:
  Expected(const char* algorithm, testing::Shape s, Orders orders, double alpha = 1,
           double beta = 0, const Epilogue& epilogue = {})
      : algorithm_(algorithm),
        A_(aligned<In>(s.M, s.K, orders.a)),
        B_(aligned<In>(s.K, s.N, orders.b)),
        C0_(aligned<Out>(s.M, s.N, orders.c)),
        bias_(static_cast<std::size_t>(std::max({index_t{1}, s.M, s.N}))) {
    A_.fill(RandomData(1));
    B_.fill(RandomData(2));
    if (beta != 0) C0_.fill(RandomData(3));
    for (std::size_t i = 0; i < bias_.size(); ++i) bias_[i] = 0.25f * static_cast<float>(i % 9) - 1;
    a_ = {A_.view(), stream_}, b_ = {B_.view(), stream_};
    bias_there_ = {matrix(bias_.data(), 1, std::ssize(bias_)), stream_};
    problem_ = make_problem(A_.view(), B_.view(), C0_.view(), alpha, beta, epilogue);
    verifier_.emplace(problem_, A_.view(), B_.view(), C0_.view(), bias_.data());
    if constexpr (sizeof(In) == 4) {
      bits_.emplace(C0_);
      run(make_plan(problem_, {.algorithm = algorithm}), A_.view(), B_.view(), bits_->view(),
          bias_.data());
    } else {
      bits_.emplace(product("tensor_core", {}).second);
    }
  }

  void expect_of(const TileShape& tile) const {
    auto [plan, C] = product(algorithm_, tile);
    const auto result =
        verifier_->check(C.view(), find_algorithm(algorithm_).arithmetic(problem_.in));
    ASSERT_TRUE(result.within_bound)
        << plan << ": error / bound = " << result.max_error_ratio << " at (" << result.row << ","
        << result.col << "): expected " << result.expected << ", got " << result.got;
    ASSERT_TRUE(C.guards_intact()) << plan;
    for (index_t i = 0; i < C.rows(); ++i) {
      for (index_t j = 0; j < C.cols(); ++j)
        ASSERT_EQ(std::memcmp(&C(i, j), &(*bits_)(i, j), sizeof(Out)), 0)
            << plan << " at (" << i << "," << j << "): " << static_cast<float>(C(i, j))
            << ", expected " << static_cast<float>((*bits_)(i, j));
    }
  }

 private:
  /// The plan's text, and C.
  std::pair<std::string, Guarded<Out>> product(const char* algorithm, const TileShape& tile) const {
    Guarded<Out> C = C0_;
    const cuda::DeviceMatrix c(C.view(), stream_);
    const Plan plan =
        make_plan(problem_, {.algorithm = algorithm, .tile = tile, .device = "cuda:0"});
    cuda::run(plan, a_.view(), b_.view(), c.view(), stream_, bias_there_.view().data);
    cuda::download(c.view(), C.view(), stream_);
    return {to_string(plan), std::move(C)};
  }

  const char* algorithm_;
  Guarded<In> A_, B_;
  Guarded<Out> C0_;
  std::vector<float> bias_;
  cuda::Stream stream_ = cuda::Stream::create(0);
  cuda::DeviceMatrix a_, b_, bias_there_;
  Problem problem_;
  std::optional<Verifier> verifier_;
  std::optional<Guarded<Out>> bits_;
};

/// The same product in every tile.
template <class In, class Out, class... Args>
void expect_right(const char* algorithm, Args... args) {
  const Expected<In, Out> expected(algorithm, args...);
  for (const TileShape& tile : find_algorithm(algorithm).tiles) expected.expect_of(tile);
}

const std::vector<testing::Shape>& shapes() {
  static const std::vector<testing::Shape> all = {
      {128, 256, 64}, {1, 1, 1},      {7, 5, 3},       {64, 64, 64},    {129, 257, 65},
      {255, 191, 63}, {128, 64, 512}, {300, 200, 520}, {517, 389, 263}, {1000, 1500, 40}};
  return all;
}

TEST_F(GpuWarpgroup, EveryInstructionMultiplies) {
  EXPECT_THAT(testing::wrong_units(cuda::Stream::create(0)), ::testing::Each(0));
}

TEST_F(GpuWarpgroup, IsRightInEveryTileForEveryOrderOfBf16) {
  for (const auto& shape : shapes()) {
    for (int orders = 0; orders < 8; ++orders)
      expect_right<bf16, bf16>("warpgroup", shape,
                               Orders{(orders & 1) != 0, (orders & 2) != 0, (orders & 4) != 0});
  }
}

TEST_F(GpuWarpgroup, IsRightForEveryType) {
  for (const auto& shape : shapes()) {
    expect_right<f16, f16>("warpgroup", shape, Orders{false, false, false});
    expect_right<f16, float>("warpgroup", shape, Orders{false, true, false});
    expect_right<bf16, float>("warpgroup", shape, Orders{true, false, false});
    expect_right<float, float>("warpgroup", shape, Orders{false, true, false});
  }
}

TEST_F(GpuWarpgroup, AppliesTheEpilogue) {
  const testing::Shape shape{133, 270, 72};
  const Orders rows{false, false, false}, columns{false, true, true};
  for (const double alpha : {0.0, 1.0, -0.7}) {
    for (const double beta : {0.0, 1.0, -1.3}) {
      expect_right<bf16, bf16>("warpgroup", shape, rows, alpha, beta);
      expect_right<f16, float>("warpgroup", shape, columns, alpha, beta);
    }
  }
  for (const Bias bias : {Bias::none, Bias::per_row, Bias::per_column}) {
    for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu})
      expect_right<bf16, bf16>("warpgroup", shape, rows, 1, 0, Epilogue{activation, bias});
  }
}

/// More tiles than a device has multiprocessors: rings and turns continue from tile to tile.
TEST_F(GpuWarpgroup, GoesFromTileToTile) {
  for (const index_t K : {64, 200, 512, 1000})
    expect_right<bf16, bf16>("warpgroup", testing::Shape{1500, 3100, K},
                             Orders{false, false, false});
  expect_right<bf16, float>("warpgroup", testing::Shape{3100, 1500, 136},
                            Orders{false, true, false}, 0.5, 1);
}

TEST_F(GpuWarpgroup, ClustersChangeNoBit) {
  const auto stream = cuda::Stream::create(0);
  for (const auto& s :
       {testing::Shape{128, 256, 64}, {1, 1, 1}, {300, 500, 264}, {1500, 3100, 1000}}) {
    for (const auto& each : testing::compare_clusters(stream, s.M, s.N, s.K))
      EXPECT_EQ(each.different, 0) << each.tile.bn << " columns in clusters of " << each.down
                                   << " x " << each.across << ", K " << s.K;
  }
}

/// Few rows and few columns, every order of operands, tiles that are no tile of thin's, all types.
TEST_F(GpuWarpgroup, ThinIsRightInEveryTile) {
  const testing::Shape thin[] = {{1, 64, 64},    {1, 1000, 4096}, {3, 300, 520}, {8, 129, 72},
                                 {16, 4096, 64}, {33, 500, 200},  {64, 517, 96}, {700, 5, 264},
                                 {257, 64, 63},  {130, 140, 150}, {1, 1, 1}};
  for (const auto& shape : thin) {
    for (int orders = 0; orders < 8; ++orders)
      expect_right<bf16, bf16>("thin", shape,
                               Orders{(orders & 1) != 0, (orders & 2) != 0, (orders & 4) != 0});
    expect_right<f16, float>("thin", shape, Orders{false, true, false}, -0.7, 1.3);
    expect_right<float, float>("thin", shape, Orders{false, true, false});
  }
  for (const Bias bias : {Bias::per_row, Bias::per_column})
    expect_right<bf16, float>("thin", testing::Shape{5, 270, 72}, Orders{false, true, false}, 1, 0,
                              Epilogue{Activation::gelu, bias});
}

}  // namespace
}  // namespace tessera
