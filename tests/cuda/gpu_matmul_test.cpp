// Every kernel of the ladder on a GPU: every shape, stride, type, alpha, beta and epilogue; the
// bits of the CPU, and the error bound. And what cuda::run refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "gpu_support.hpp"
#include "support/products.hpp"
#include "support/refusal.hpp"
#include "tessera/core/text.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera {
namespace {

using testing::Guarded;
using ::testing::HasSubstr;
using testing::RandomData;
using testing::refusal;

struct Case {
  std::string algorithm;
  TileShape tile;
};

/// Those that a plan for a GPU can be made of; none in a build without CUDA.
std::vector<Case> all_cases() {
  std::vector<Case> out;
  if (!cuda::is_built()) return out;
  for (const auto& algorithm : algorithms()) {
    if (algorithm.name == "packed" || algorithm.name == "split_k") continue;
    for (const auto& tile : algorithm.tiles) out.push_back({std::string(algorithm.name), tile});
  }
  return out;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.algorithm + "_" + to_string(info.param.tile);
  for (char& c : name) c = c == '/' ? '_' : c;
  return name;
}

/// C of the CPU engine, one row after the other. Tiles change no bit: each product is computed
/// once, in the smallest tile. `C` is C before the product.
template <class In, class Out>
const std::vector<Out>& on_engine(std::string algorithm, const Problem& problem, Guarded<In>& A,
                                  Guarded<In>& B, Guarded<Out> C, const void* bias) {
  const auto reason = make_plan(problem, {.algorithm = algorithm}).reason;
  if (reason.find("tensor_core takes its place") != std::string::npos) algorithm = "tensor_core";
  static std::map<std::string, std::vector<Out>> known;
  std::vector<Out>& out = known[cat(algorithm, " ", to_string(problem))];
  if (!out.empty()) return out;
  const auto tiles = find_algorithm(algorithm).tiles;
  const TileShape smallest = *std::min_element(
      tiles.begin(), tiles.end(),
      [](const TileShape& a, const TileShape& b) { return a.bm * a.bn < b.bm * b.bn; });
  const bool has_all = std::is_same_v<In, float>;  // of other types only the first is built
  run(make_plan(problem, {.algorithm = algorithm, .tile = has_all ? smallest : TileShape{}}),
      A.view(), B.view(), C.view(), bias);
  for (index_t i = 0; i < C.rows(); ++i)
    for (index_t j = 0; j < C.cols(); ++j) out.push_back(C(i, j));
  return out;
}

/// Runs one product on the GPU and demands what the CPU's ladder must keep: within the bound, same
/// bits where promised, those of the CPU engine from matrix units, guards untouched.
template <class In, class Out>
void expect_right(const Case& which, testing::Shape s, double alpha, double beta, int orders,
                  const Epilogue& epilogue = {}) {
  const bool whole = std::is_integral_v<In>;
  Guarded<In> A(s.M, s.K, static_cast<typename Guarded<In>::Order>(orders & 3), s.padding),
      B(s.K, s.N, static_cast<typename Guarded<In>::Order>(orders >> 2 & 3), s.padding);
  Guarded<Out> C(s.M, s.N, static_cast<typename Guarded<Out>::Order>(orders >> 4 & 3), s.padding);
  A.fill(RandomData(1, whole));
  B.fill(RandomData(2, whole));
  if (beta != 0) C.fill(RandomData(3, whole));
  Guarded<Out> C0 = C;
  const auto stream = cuda::Stream::create(0);
  const cuda::DeviceMatrix a(A.view(), stream), b(B.view(), stream), c(C.view(), stream);
  // Of as many elements as C has rows or columns, whichever are more.
  const index_t longer = std::max<index_t>({1, s.M, s.N});
  std::vector<float> bias(static_cast<std::size_t>(longer));
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = 0.25f * static_cast<float>(i % 9) - 1;
  const cuda::DeviceMatrix bias_there(matrix(bias.data(), 1, longer), stream);
  const Problem problem = make_problem(A.view(), B.view(), C.view(), alpha, beta, epilogue);
  const Plan plan =
      make_plan(problem, {.algorithm = which.algorithm, .tile = which.tile, .device = "cuda:0"});
  cuda::run(plan, a.view(), b.view(), c.view(), stream, bias_there.view().data);
  cuda::download(c.view(), C.view(), stream);
  const Algorithm& algorithm = find_algorithm(which.algorithm);
  const auto result = Verifier(problem, A.view(), B.view(), C0.view(), bias.data())
                          .check(C.view(), algorithm.arithmetic(problem.in));
  EXPECT_TRUE(result.within_bound)
      << to_string(plan) << ": error / bound = " << result.max_error_ratio << " at (" << result.row
      << "," << result.col << "): expected " << result.expected << ", got " << result.got;
  if (algorithm.same_bits || algorithm.promises_bits(problem.in)) {
    EXPECT_TRUE(result.same_bits) << to_string(plan);
  } else if (cuda::device(0).major == 9) {  // whose matrix units the CPU engine has
    const auto& bits = on_engine<In, Out>(which.algorithm, problem, A, B, C0, bias.data());
    for (index_t i = 0; i < s.M * s.N; ++i) {
      const Out got = C(i / s.N, i % s.N), expected = bits[static_cast<std::size_t>(i)];
      ASSERT_EQ(std::memcmp(&got, &expected, sizeof got), 0)
          << to_string(plan) << " at (" << i / s.N << "," << i % s.N << "): the CPU engine has "
          << static_cast<double>(expected) << ", the GPU " << static_cast<double>(got);
    }
  }
  EXPECT_TRUE(C.guards_intact()) << to_string(plan);
}

class GpuLadder : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override { testing::need_gpu(); }
};
INSTANTIATE_TEST_SUITE_P(Cuda, GpuLadder, ::testing::ValuesIn(all_cases()), case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuLadder);

TEST_P(GpuLadder, IsRightForEveryShape) {
  for (const auto& shape : testing::nasty_shapes(std::min(GetParam().tile.bm, 128)))
    expect_right<float, float>(GetParam(), shape, 1, 0, 0);
  expect_right<float, float>(GetParam(), {2, 3, 100003}, 1, 0, 0);
  expect_right<float, float>(GetParam(), {517, 389, 263}, 1, 0, 0);
}

/// Rows that begin at multiples of vectors, as most do: whole tiles, edges, and a K beyond tiles.
TEST_P(GpuLadder, MovesInVectors) {
  for (const auto& shape : {testing::Shape{264, 136, 40, 0}, testing::Shape{136, 264, 72, 8},
                            testing::Shape{128, 256, 64, 0}, testing::Shape{8, 8, 8, 0}})
    expect_right<float, float>(GetParam(), shape, 1, 0, 0);
}

TEST_P(GpuLadder, IsRightForEveryStride) {
  for (int orders = 0; orders < 64; ++orders) {
    if ((orders & 3) == 3 || (orders >> 2 & 3) == 3 || (orders >> 4 & 3) == 3) continue;
    expect_right<float, float>(GetParam(), {37, 41, 19}, 1, 0, orders);
  }
}

TEST_P(GpuLadder, AppliesAlphaAndBetaOnce) {
  for (const double alpha : {0.0, 1.0, -1.0, 0.7}) {
    for (const double beta : {0.0, 1.0, -1.3})
      expect_right<float, float>(GetParam(), {33, 17, 21}, alpha, beta, 16);
  }
}

TEST_P(GpuLadder, AppliesEveryEpilogue) {
  for (const Bias bias : {Bias::none, Bias::per_row, Bias::per_column}) {
    for (const Activation activation :
         {Activation::none, Activation::relu, Activation::gelu, Activation::silu})
      expect_right<float, float>(GetParam(), {33, 17, 21}, 0.7, -0.3, 16, {activation, bias});
    expect_right<float, float>(GetParam(), {33, 17, 21}, 1, 0, 0,
                               {Activation::none, bias, -0.5, 0.25});
  }
}

TEST_P(GpuLadder, MultipliesEveryType) {
  const auto& algorithm = find_algorithm(GetParam().algorithm);
  if (GetParam().tile != algorithm.tiles[0]) return;  // the others are built in for f32 only
  const testing::Shape shape{67, 35, 41};
  if (algorithm.supports(DType::f64, DType::f64)) {
    const Case f64{GetParam().algorithm, algorithm.tiles_of(DType::f64)[0]};
    expect_right<double, double>(f64, shape, 0.7, -0.3, 4);
    for (const testing::Shape vectors :
         {testing::Shape{136, 136, 40, 0}, {128, 128, 64, 8}, {257, 129, 33, 1}})
      expect_right<double, double>(f64, vectors, 1, 0, 0);
  }
  if (algorithm.supports(DType::i32, DType::i32))
    expect_right<std::int32_t, std::int32_t>(GetParam(), shape, 3, -2, 1);
  if (!algorithm.supports(DType::f16, DType::f16)) return;
  expect_right<f16, f16>(GetParam(), shape, 0.5, 1, 0);
  expect_right<f16, float>(GetParam(), shape, 1, 0, 0);
  expect_right<bf16, bf16>(GetParam(), shape, 1, 2, 4);
  expect_right<bf16, float>(GetParam(), shape, 1, 0, 16);
  for (const testing::Shape vectors : {testing::Shape{136, 136, 40, 0}, {128, 128, 64, 8}}) {
    expect_right<f16, f16>(GetParam(), vectors, 1, 0, 0);
    expect_right<bf16, float>(GetParam(), vectors, 1, 0, 0);
  }
}

TEST_P(GpuLadder, RowsBeyondTheGridOfTheHardware) {
  const int rows = GetParam().tile.bm;
  if (rows > 3) return;  // the smallest tiles need the most blocks
  expect_right<float, float>(GetParam(), {rows * index_t{65536} + 1, 2, 3}, 1, 0, 0);
}

class GpuCall : public ::testing::Test {
 protected:
  void SetUp() override { testing::need_gpu(); }
};

TEST_F(GpuCall, HostMemoryAndUnalignedAddressesAreRefusedBeforeAnythingRuns) {
  const auto stream = cuda::Stream::create(0);
  Guarded<float> host(4, 4);
  const cuda::DeviceMatrix a(DType::f32, 4, 4, 0), b(DType::f32, 4, 4, 0), c(DType::f32, 5, 5, 0);
  Matrix out = c.view();
  out.rows = out.cols = 4;
  EXPECT_THAT(
      refusal([&] { cuda::matmul(host.view(), b.view(), out, stream); }, Category::argument),
      HasSubstr("A is in host memory"));
  EXPECT_THAT(
      refusal([&] { cuda::matmul(a.view(), b.view(), host.view(), stream); }, Category::argument),
      HasSubstr("C is in host memory"));
  out.data = static_cast<char*>(out.data) + 2;
  EXPECT_THAT(refusal([&] { cuda::matmul(a.view(), b.view(), out, stream); }, Category::argument),
              HasSubstr("C is not aligned"));
}

TEST_F(GpuCall, APlanForTheCpuIsRefused) {
  const auto stream = cuda::Stream::create(0);
  const cuda::DeviceMatrix a(DType::f32, 4, 4, 0), b(DType::f32, 4, 4, 0), c(DType::f32, 4, 4, 0);
  const Plan plan = make_plan(make_problem(a.view(), b.view(), c.view()));
  EXPECT_THAT(
      refusal([&] { cuda::run(plan, a.view(), b.view(), c.view(), stream); }, Category::argument),
      HasSubstr("a plan for a CUDA device"));
}

TEST_F(GpuCall, TwoStreamsMultiplyBesideEachOther) {
  const auto first = cuda::Stream::create(0), second = cuda::Stream::create(0);
  Guarded<float> A(300, 200), B(200, 100);
  A.fill(RandomData(1));
  B.fill(RandomData(2));
  const cuda::DeviceMatrix a(A.view(), first), b(B.view(), first);
  std::vector<cuda::DeviceMatrix> results;
  for (int i = 0; i < 8; ++i) {
    results.emplace_back(DType::f32, 300, 100, 0);
    cuda::matmul(a.view(), b.view(), results.back().view(), i % 2 == 0 ? first : second);
  }
  Guarded<float> C(300, 100, Guarded<float>::Order::row_major, 0);
  const Verifier verifier(make_problem(A.view(), B.view(), C.view()), A.view(), B.view(), C.view());
  for (int i = 0; i < 8; ++i) {
    cuda::download(results[static_cast<std::size_t>(i)].view(), C.view(),
                   i % 2 == 0 ? first : second);
    EXPECT_TRUE(verifier.check(C.view()).same_bits) << i;
  }
}

}  // namespace
}  // namespace tessera
