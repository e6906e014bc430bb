// The CUDA engine on a GPU: each function of the kernel language does the same as on the CPU, and
// calls keep the order of their stream.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <numeric>

#include "engine_kernels.hpp"
#include "gpu_support.hpp"
#include "support/refusal.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera::cuda {
namespace {

using tessera::testing::DeviceInts;
using tessera::testing::refusal;
using ::testing::HasSubstr;
namespace kernels = tessera::testing;

class GpuEngine : public ::testing::Test {
 protected:
  void SetUp() override { kernels::need_gpu(); }
};

std::vector<int> counting(int count) {
  std::vector<int> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 1);
  return out;
}

TEST_F(GpuEngine, GridsOfMoreRowsThanTheHardwareCountsRunEveryBlockOnce) {
  const Stream stream = Stream::create(0);
  for (const int rows : {1, 65535, 65536, 70001, 131071}) {
    const DeviceInts out(std::vector<int>(static_cast<std::size_t>(3 * rows)), stream);
    kernels::number_blocks(stream, {3, rows}, out.data());
    const auto values = out.values();
    for (int i = 0; i < 3 * rows; ++i)
      ASSERT_EQ(values[static_cast<std::size_t>(i)], 2 * (i / 3) + i % 3) << rows << " rows";
  }
}

TEST_F(GpuEngine, GridsThatTheHardwareCannotCountAreRefused) {
  const Stream stream = Stream::create(0);
  const DeviceInts out({0}, stream);
  EXPECT_THAT(refusal(
                  [&] {
                    kernels::number_blocks(stream, {1, 65536, 2}, out.data());
                  },
                  Category::argument),
              HasSubstr("the grid is too large"));
  EXPECT_THAT(
      refusal([&] { kernels::number_blocks(stream, {-1}, out.data()); }, Category::argument),
      HasSubstr("a negative grid"));
  kernels::number_blocks(stream, {0, 5}, out.data());
  EXPECT_EQ(out.values(), std::vector<int>{0});
}

TEST_F(GpuEngine, SharedMemoryBeyond48KiB) {
  const Stream stream = Stream::create(0);
  const auto numbers = counting(kernels::ReverseLarge::count);
  const DeviceInts in(numbers, stream), out(std::vector<int>(numbers.size()), stream);
  kernels::reverse_large(stream, in.data(), out.data());
  EXPECT_EQ(out.values(), std::vector<int>(numbers.rbegin(), numbers.rend()));
}

TEST_F(GpuEngine, SharedMemoryThatTheDeviceDoesNotHaveIsRefused) {
  const Stream stream = Stream::create(0);
  const DeviceInts out({0}, stream);
  if (device(0).shared_bytes >= static_cast<index_t>(sizeof(kernels::LargestShared::Shared))) {
    kernels::largest_shared(stream, out.data());
    EXPECT_EQ(out.values(), std::vector<int>{7});
  } else {
    EXPECT_THAT(refusal([&] { kernels::largest_shared(stream, out.data()); }, Category::argument),
                HasSubstr("more shared memory than device 0 has"));
  }
}

TEST_F(GpuEngine, WarpVerbsDoWhatTheyDoOnTheCpu) {
  using kernels::WarpVerbs;
  std::vector<int> expected(48 * WarpVerbs::verbs);
  launch({{1}, WarpVerbs::block}, WarpVerbs{}, expected.data());
  const Stream stream = Stream::create(0);
  const DeviceInts out(std::vector<int>(expected.size()), stream);
  kernels::warp_verbs(stream, out.data());
  EXPECT_EQ(out.values(), expected);
}

TEST_F(GpuEngine, AtomicsDoWhatTheyDoOnTheCpu) {
  std::vector<int> expected(5);
  launch({{300}, kernels::Atomics::block}, kernels::Atomics{}, expected.data());
  const Stream stream = Stream::create(0);
  const DeviceInts out(std::vector<int>(5), stream);
  kernels::atomics(stream, 300, out.data());
  EXPECT_EQ(out.values(), expected);
  EXPECT_EQ(expected[4], 1);
}

TEST_F(GpuEngine, AsynchronousCopiesDoWhatTheyDoOnTheCpu) {
  const auto numbers = counting(2560);
  for (const int rows : {40, 38, 1, 0}) {
    std::vector<int> expected(64);
    launch({{1}, kernels::AsyncStages::block}, kernels::AsyncStages{},
           tensor<kAnyMatrix>(numbers.data(), rows, 64, 64, 1), expected.data());
    const Stream stream = Stream::create(0);
    const DeviceInts in(numbers, stream), out(std::vector<int>(64), stream);
    kernels::async_stages(stream, in.data(), rows, out.data());
    EXPECT_EQ(out.values(), expected) << rows;
  }
}

TEST_F(GpuEngine, AStreamKeepsItsOrderAndDoesNotWaitForAnother) {
  const Stream busy = Stream::create(0), other = Stream::create(0);
  const DeviceInts slow({0}, busy), fast({0}, other);
  PinnedBuffer seen(sizeof(int), 0);
  for (int i = 0; i < 3; ++i) kernels::count_slowly(busy, slow.data(), 2000000);
  copy(seen.data(), slow.data(), sizeof(int), busy);
  kernels::count_slowly(other, fast.data(), 1);
  other.synchronize();
  EXPECT_EQ(cudaStreamQuery(busy.handle()), cudaErrorNotReady);  // nothing has waited for it
  busy.synchronize();
  EXPECT_EQ(*static_cast<int*>(seen.data()), 6000000);
  EXPECT_EQ(fast.values(), std::vector<int>{1});
}

TEST_F(GpuEngine, EventsMeasureTheWorkBetweenThem) {
  const Stream stream = Stream::create(0);
  const DeviceInts out({0}, stream);
  Event begin(0), middle(0), end(0);
  begin.record(stream);
  kernels::count_slowly(stream, out.data(), 10);
  middle.record(stream);
  kernels::count_slowly(stream, out.data(), 1000000);
  end.record(stream);
  end.synchronize();
  EXPECT_GT(Event::seconds_between(middle, end), Event::seconds_between(begin, middle));
}

TEST_F(GpuEngine, WorksOnTheStreamOfItsCaller) {
  cudaStream_t handle = nullptr;
  ASSERT_EQ(cudaStreamCreate(&handle), cudaSuccess);
  {
    const Stream stream = Stream::borrow(handle);
    EXPECT_EQ(stream.device(), 0);
    const DeviceInts out({5}, stream);
    kernels::count_slowly(stream, out.data(), 3);
    EXPECT_EQ(out.values(), std::vector<int>{8});
  }
  EXPECT_EQ(cudaStreamDestroy(handle), cudaSuccess);  // it was not ours to destroy
}

TEST_F(GpuEngine, ALaunchIsCapturedInAGraph) {
  const Stream stream = Stream::create(0);
  const DeviceInts out({0}, stream);
  const auto numbers = counting(kernels::ReverseLarge::count);
  const DeviceInts in(numbers, stream), reversed(numbers, stream);
  ASSERT_EQ(cudaStreamBeginCapture(stream.handle(), cudaStreamCaptureModeGlobal), cudaSuccess);
  kernels::count_slowly(stream, out.data(), 2);
  kernels::reverse_large(stream, in.data(), reversed.data());
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream.handle(), &graph), cudaSuccess);
  EXPECT_EQ(out.values(), std::vector<int>{0});  // captured, not run
  cudaGraphExec_t ready = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(cudaGraphLaunch(ready, stream.handle()), cudaSuccess);
  EXPECT_EQ(out.values(), std::vector<int>{10});
  EXPECT_EQ(reversed.values(), std::vector<int>(numbers.rbegin(), numbers.rend()));
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}

TEST_F(GpuEngine, MemoryIsToldApart) {
  const DeviceBuffer on_device(64, 0);
  const PinnedBuffer pinned(64, 0);
  int local = 0;
  EXPECT_EQ(where_is(on_device.data()).place, Place::device);
  EXPECT_EQ(where_is(pinned.data()).place, Place::pinned);
  EXPECT_EQ(where_is(&local).place, Place::host);
}

/// Small whole numbers, which every type holds, multiplied here by hand: where a fragment's
/// elements lie is what may be wrong.
template <class In, class Out, int K>
void expect_matrix_unit_right() {
  std::vector<In> a(16 * K), b(K * 8);
  std::vector<Out> expected(16 * 8), c(16 * 8);
  const auto number = [](std::size_t i) { return static_cast<float>(i * 7 % 5); };
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<In>(number(i));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<In>(number(i + 3));
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      for (std::size_t k = 0; k < K; ++k)
        expected[i * 8 + j] += static_cast<Out>(number(i * K + k) * number(k * 8 + j + 3));
    }
  }
  const Stream stream = Stream::create(0);
  const DeviceBuffer A(a.size() * sizeof(In), 0), B(b.size() * sizeof(In), 0);
  const DeviceBuffer C(c.size() * sizeof(Out), 0);
  copy(A.data(), a.data(), a.size() * sizeof(In), stream);
  copy(B.data(), b.data(), b.size() * sizeof(In), stream);
  kernels::matrix_unit<In, Out, K>(stream, static_cast<const In*>(A.data()),
                                   static_cast<const In*>(B.data()), static_cast<Out*>(C.data()));
  copy(c.data(), C.data(), c.size() * sizeof(Out), stream);
  stream.synchronize();
  EXPECT_EQ(c, expected) << "K = " << K;
}

TEST_F(GpuEngine, EveryMatrixInstructionMultiplies) {
  expect_matrix_unit_right<float, float, 4>();
  expect_matrix_unit_right<float, float, 8>();
  expect_matrix_unit_right<f16, float, 8>();
  expect_matrix_unit_right<f16, float, 16>();
  expect_matrix_unit_right<bf16, float, 8>();
  expect_matrix_unit_right<bf16, float, 16>();
  expect_matrix_unit_right<std::int8_t, int, 32>();
  expect_matrix_unit_right<std::uint8_t, int, 32>();
  const Device here = device(0);
  if (10 * here.major + here.minor < 89) return;
  expect_matrix_unit_right<f8e4m3, float, 32>();
  expect_matrix_unit_right<f8e5m2, float, 32>();
}

/// Microseconds of one of many consecutive calls, by the device's clock.
template <class Call>
double call_us(const Stream& stream, const Call& call) {
  constexpr int kCalls = 500;
  Event begin(0), end(0);
  begin.record(stream);
  for (int i = 0; i < kCalls; ++i) call();
  end.record(stream);
  end.synchronize();
  return 1e6 * Event::seconds_between(begin, end) / kCalls;
}

/// Reports and does not judge: times are no tests.
TEST_F(GpuEngine, SaysWhatSmallProductsCostBesideAnEmptyKernel) {
  constexpr int kRounds = 9;
  const Stream stream = Stream::create(0);
  std::vector<float> numbers(64 * 64, 1.f);
  const Matrix host = matrix(numbers.data(), 64, 64);
  const DeviceMatrix A(host, stream), B(host, stream);
  const DeviceMatrix C(DType::f32, 64, 64, 0);
  for (const auto& algorithm : algorithms()) {
    if (algorithm.name == "packed" || algorithm.name == "split_k") continue;
    const Plan plan = make_plan(make_problem(A.view(), B.view(), C.view()),
                                {.algorithm = std::string(algorithm.name), .device = "cuda:0"});
    std::vector<double> empty, product;
    for (int i = 0; i < kRounds; ++i) {
      empty.push_back(call_us(stream, [&] { kernels::nothing(stream); }));
      product.push_back(call_us(stream, [&] { run(plan, A.view(), B.view(), C.view(), stream); }));
    }
    std::ranges::nth_element(empty, empty.begin() + kRounds / 2);
    std::ranges::nth_element(product, product.begin() + kRounds / 2);
    std::cout << algorithm.name << " 64^3: " << product[kRounds / 2] << " us, an empty kernel "
              << empty[kRounds / 2] << " us\n";
    download(C.view(), host, stream);
    ASSERT_THAT(numbers, ::testing::Each(64.f)) << algorithm.name;
  }
}

}  // namespace
}  // namespace tessera::cuda
