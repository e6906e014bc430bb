// What a product asks of CUDA: every call costs the host a part of a microsecond, and a small
// product is to be started as fast as an empty kernel. The runtime of these tests only counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "fake_cuda.hpp"
#include "support/refusal.hpp"
#include "tessera/core/text.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera::cuda {
namespace {

using tessera::testing::fake_cuda;
using tessera::testing::FakeCuda;
using tessera::testing::refusal;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr index_t kSide = 64;

class CudaProduct : public ::testing::Test {
 protected:
  void SetUp() override { fake_cuda() = {.generation = fake_cuda().generation + 1}; }

  /// Starts a product of 64 x 64 x 64 whose C is `c`; what it asked of CUDA is in
  /// fake_cuda().calls.
  void start(const Matrix& c) {
    const Plan plan = make_plan(make_problem(a_.view(), b_.view(), c), {.device = "cuda:0"});
    fake_cuda().calls.clear();
    run(plan, a_.view(), b_.view(), c, stream_);
  }

  Stream stream_ = Stream::create(0);
  DeviceMatrix a_{DType::f32, kSide, kSide, 0}, b_{DType::f32, kSide, kSide, 0};
  std::vector<float> theirs_ = std::vector<float>(kSide * kSide);  ///< memory of the caller's own
};

TEST_F(CudaProduct, OfOurOwnMatricesIsALaunchAndTwoQuestionsForTheCurrentDevice) {
  const DeviceMatrix c(DType::f32, kSide, kSide, 0);
  for (int i = 0; i < 3; ++i) {
    start(c.view());
    EXPECT_THAT(fake_cuda().calls, ElementsAre("device", "device", "launch"));
  }
}

TEST_F(CudaProduct, OfAPartOfOurMatrixAsksNoMore) {
  const DeviceMatrix c(DType::f32, kSide + 1, kSide, 0);
  Matrix last_rows = c.view();
  last_rows.data = static_cast<float*>(last_rows.data) + kSide;
  last_rows.rows = kSide;
  start(last_rows);
  EXPECT_EQ(fake_cuda().calls_of("pointer"), 0);
}

TEST_F(CudaProduct, OfMemoryOfTheCallersOwnAsksWhereThatLies) {
  fake_cuda().memory = {.type = cudaMemoryTypeDevice, .device = 0};
  start(matrix(theirs_.data(), kSide, kSide));
  EXPECT_THAT(fake_cuda().calls, ElementsAre("device", "pointer", "device", "launch"));
}

TEST_F(CudaProduct, IsRefusedWhereMemoryCannotBeReached) {
  const Matrix c = matrix(theirs_.data(), kSide, kSide);
  EXPECT_THAT(refusal([&] { start(c); }, Category::argument), HasSubstr("C is in host memory"));
  fake_cuda().memory = {.type = cudaMemoryTypeDevice, .device = 1};
  EXPECT_THAT(refusal([&] { start(c); }, Category::argument),
              AllOf(HasSubstr("C is on another device"), HasSubstr("device 1")));
  const DeviceMatrix elsewhere(DType::f32, kSide, kSide, 1);
  EXPECT_THAT(refusal([&] { start(elsewhere.view()); }, Category::argument),
              AllOf(HasSubstr("C is on another device"), HasSubstr("device 1")));
  Matrix odd = a_.view();
  odd.data = static_cast<char*>(odd.data) + 1;
  odd.rows = kSide - 1;
  const Matrix less = matrix(theirs_.data(), kSide - 1, kSide);
  EXPECT_THAT(refusal([&] { matmul(odd, b_.view(), less, stream_); }, Category::argument),
              HasSubstr("the address of A is not aligned"));
  EXPECT_EQ(fake_cuda().calls_of("launch"), 0);
}

// The capability of a device and the driver's functions are asked for once: devices that no other
// test uses, the driver without maps first.
TEST_F(CudaProduct, OfHopperTakesMapsAndAnOldDriverIsRefusedWithASentence) {
  const auto product = [](int device, int major, bool has_maps) {
    FakeCuda& fake = fake_cuda();
    fake.devices = 4, fake.major = major, fake.has_maps = has_maps, fake.current = device;
    const Stream stream = Stream::create(device);
    const DeviceMatrix a(DType::f32, kSide, kSide, device), b(DType::f32, kSide, kSide, device),
        c(DType::f32, kSide, kSide, device);
    const Plan plan =
        make_plan(make_problem(a.view(), b.view(), c.view()), {.device = cat("cuda:", device)});
    fake.calls.clear();
    run(plan, a.view(), b.view(), c.view(), stream);
    return plan.algorithm;
  };
  EXPECT_THAT(refusal([&] { product(2, 9, false); }, Category::unavailable),
              AllOf(HasSubstr("this driver makes no maps"), HasSubstr("CUDA 12 or later")));
  EXPECT_EQ(fake_cuda().calls_of("launch"), 0);
  EXPECT_EQ(product(2, 9, true), "bulk_tiled");
  EXPECT_EQ(fake_cuda().calls_of("map"), 2);
  EXPECT_EQ(fake_cuda().calls_of("launch"), 1);
  EXPECT_EQ(product(3, 8, false), "pipelined");  // a device without warpgroups needs none
  EXPECT_EQ(fake_cuda().calls_of("map"), 0);
  EXPECT_EQ(fake_cuda().calls_of("launch"), 1);
}

TEST_F(CudaProduct, MemoryThatWasFreedIsOursNoMoreNorIsWhatLiesBehindIt) {
  std::optional<DeviceBuffer> buffer(std::in_place, 64, 1);
  char* const data = static_cast<char*>(buffer->data());
  for (const char* inside : {data, data + 63}) {
    EXPECT_EQ(where_is(inside).place, Place::device);
    EXPECT_EQ(where_is(inside).device, 1);
  }
  EXPECT_EQ(where_is(data - 1).place, Place::host);
  EXPECT_EQ(where_is(data + 64).place, Place::host);
  DeviceBuffer moved = std::move(*buffer);
  buffer.reset();
  EXPECT_EQ(where_is(data).place, Place::device);
  moved = DeviceBuffer();
  EXPECT_EQ(where_is(data).place, Place::host);
}

}  // namespace
}  // namespace tessera::cuda
