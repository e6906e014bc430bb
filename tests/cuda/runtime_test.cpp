// The CUDA engine as it is on any machine: what it says where there is no device, how a grid is
// given to the hardware. tests/cuda/gpu_*_test.cpp need a device.
#include "tessera/cuda/runtime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "support/child.hpp"
#include "support/refusal.hpp"
#include "tessera/cuda/launch_kernel.hpp"

namespace tessera::cuda {
namespace {

using tessera::testing::in_child;
using tessera::testing::refusal;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CudaRuntime, SaysWhyThereIsNoDeviceExactlyWhereThereIsNone) {
  const std::string why = why_unavailable();
  EXPECT_EQ(devices().empty(), !why.empty()) << why;
  EXPECT_THAT(why, Not(HasSubstr("\n")));
  if (!is_built()) {
    EXPECT_EQ(why, "this program is built without CUDA");
  }
}

TEST(CudaRuntime, WithoutADeviceEveryCallIsRefusedInOneSentence) {
  if (!devices().empty()) GTEST_SKIP() << "this machine has a GPU";
  int number = 0;
  const std::function<void()> calls[] = {
      [] { device(0); },
      [] { current_device(); },
      [] { free_memory(0); },
      [] { Stream::create(0); },
      [] { Stream::borrow(nullptr); },
      [] { Event event(0); },
      [] { DeviceBuffer buffer(64, 0); },
      [] { PinnedBuffer buffer(64, 0); },
      [&] { where_is(&number); },
  };
  for (const auto& call : calls) {
    const std::string said = refusal(call, Category::unavailable);
    EXPECT_THAT(said, HasSubstr(why_unavailable()));
    EXPECT_THAT(said, Not(HasSubstr("\n")));
  }
}

TEST(CudaRuntime, NothingIsKeptAfterARefusal) {
  if (!devices().empty()) GTEST_SKIP() << "this machine has a GPU";
  const std::string before = why_unavailable();
  for (int i = 0; i < 3; ++i) refusal([] { DeviceBuffer buffer(64, 0); }, Category::unavailable);
  EXPECT_EQ(why_unavailable(), before);
}

TEST(CudaRuntime, WithoutADriverAForkedChildSaysTheSame) {
  if (!driver_version().empty()) GTEST_SKIP() << "this machine has a driver";
  const std::string here = why_unavailable();
  EXPECT_EQ(in_child(60, [&] { return why_unavailable() == here ? "" : why_unavailable(); }), "");
}

TEST(CudaRuntime, EmptyBuffersNeedNoDevice) {
  const DeviceBuffer device_bytes;
  const PinnedBuffer pinned_bytes;
  EXPECT_EQ(device_bytes.data(), nullptr);
  EXPECT_EQ(pinned_bytes.bytes(), 0u);
}

TEST(CudaLaunch, RowsBeyondTheHardwareAreFoldedAndNoneIsLost) {
  using detail::kMostRows;
  using detail::launch_extents;
  for (const int rows : {0, 1, kMostRows - 1, kMostRows})
    EXPECT_EQ(launch_extents({7, rows, 1}), (Dim3{7, rows, 1}));
  EXPECT_EQ(launch_extents({7, kMostRows + 1, 2}), (Dim3{7, kMostRows + 1, 2}));
  for (const int rows : {kMostRows + 1, kMostRows + 2, 2 * kMostRows, 2 * kMostRows + 1, 1 << 20,
                         kMostRows * 1000 + 17, 2147483647}) {
    const Dim3 extents = launch_extents({3, rows, 1});
    EXPECT_EQ(extents.x, 3);
    EXPECT_LE(extents.y, kMostRows);
    EXPECT_LE(extents.z, kMostRows);
    EXPECT_GE(index_t{extents.y} * extents.z, rows);
    EXPECT_LT(index_t{extents.y} * extents.z, index_t{rows} + extents.z);
  }
}

}  // namespace
}  // namespace tessera::cuda
