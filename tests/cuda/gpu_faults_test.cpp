// Faults on a GPU: each has its message, the first one counts, and an error from
// before a call is not attributed to it.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "engine_kernels.hpp"
#include "errors.hpp"
#include "gpu_support.hpp"
#include "support/child.hpp"
#include "support/refusal.hpp"

namespace tessera::cuda {
namespace {

using tessera::testing::DeviceInts;
using tessera::testing::in_child;
using tessera::testing::refusal;
using ::testing::AllOf;
using ::testing::HasSubstr;
namespace kernels = tessera::testing;

// ---- what CUDA's codes mean, on any machine
// -------------------------------------------------------

/// All of which driver_types.h says that the process must be started again.
TEST(CudaErrors, AFaultThatEndsTheUseOfCudaIsToldOnceAndNamedFromThenOn) {
  for (const cudaError_t status :
       {cudaErrorContained, cudaErrorIllegalAddress, cudaErrorLaunchTimeout, cudaErrorAssert,
        cudaErrorHardwareStackError, cudaErrorIllegalInstruction, cudaErrorMisalignedAddress,
        cudaErrorInvalidAddressSpace, cudaErrorInvalidPc, cudaErrorLaunchFailure,
        cudaErrorTensorMemoryLeak, cudaErrorMpsClientTerminated, cudaErrorExternalDevice}) {
    EXPECT_EQ(
        in_child(60,
                 [status] {
                   EXPECT_THAT(refusal([&] { detail::check(status, "this"); }, Category::kernel),
                               HasSubstr(cudaGetErrorName(status)));
                   for (const cudaError_t later : {status, cudaErrorAssert})
                     EXPECT_THAT(
                         refusal([&] { detail::check(later, "that"); }, Category::unavailable),
                         HasSubstr("the first fault was: this"));
                   EXPECT_THAT(refusal([] { detail::expect_usable(); }, Category::unavailable),
                               HasSubstr("start a new process"));
                   return "";
                 }),
        "")
        << cudaGetErrorName(status);
  }
}

TEST(CudaErrors, OtherErrorsAreOfTheirCallAlone) {
  EXPECT_THAT(refusal([] { detail::check(cudaErrorMemoryAllocation, "this"); }, Category::resource),
              HasSubstr("no memory"));
  for (const cudaError_t status : {cudaErrorNoKernelImageForDevice, cudaErrorUnsupportedPtxVersion})
    EXPECT_THAT(refusal([&] { detail::check(status, "this"); }, Category::unavailable),
                HasSubstr("compute capability 8.0 or later"));
  EXPECT_THAT(refusal([] { detail::check(cudaErrorInvalidValue, "this"); }, Category::argument),
              HasSubstr("this failed: cudaErrorInvalidValue"));
  EXPECT_NO_THROW(detail::expect_usable());
}

// ---- on a GPU
// -------------------------------------------------------------------------------------

class GpuFaults : public ::testing::Test {
 protected:
  void SetUp() override { kernels::need_gpu(); }
};

TEST_F(GpuFaults, AnEarlierErrorOfTheCallerIsNeitherBlamedOnUsNorLost) {
  const Stream stream = Stream::create(0);
  const DeviceInts out({0}, stream);
  void* nothing = nullptr;
  ASSERT_EQ(cudaMalloc(&nothing, std::size_t{1} << 60), cudaErrorMemoryAllocation);
  kernels::count_slowly(stream, out.data(), 3);
  EXPECT_EQ(out.values(), std::vector<int>{3});
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
}

TEST_F(GpuFaults, WithoutMemoryTheCallIsRefusedAndTheNextOneWorks) {
  EXPECT_THAT(refusal([] { DeviceBuffer buffer(std::size_t{1} << 50, 0); }, Category::resource),
              AllOf(HasSubstr("there is no memory for"), HasSubstr("free")));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // ours is not left for the caller to find
  const DeviceBuffer small(1 << 20, 0);
  EXPECT_NE(small.data(), nullptr);
}

TEST_F(GpuFaults, ADeviceThatIsNotThereIsRefusedWithThoseThatAre) {
  const int count = static_cast<int>(devices().size());
  EXPECT_THAT(refusal([&] { device(count); }, Category::unavailable), HasSubstr("cuda:0"));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(GpuFaults, TheCurrentDeviceOfTheCallerStays) {
  const int last = static_cast<int>(devices().size()) - 1;
  ASSERT_EQ(cudaSetDevice(last), cudaSuccess);
  const Stream stream = Stream::create(0);
  const DeviceInts out({0}, stream);
  kernels::count_slowly(stream, out.data(), 1);
  stream.synchronize();
  EXPECT_EQ(current_device(), last);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(GpuFaults, AForkOfAProcessThatUsedCudaIsRefused) {
  const DeviceBuffer used(64, 0);
  EXPECT_EQ(in_child(60,
                     [] {
                       EXPECT_TRUE(devices().empty());
                       EXPECT_THAT(refusal([] { DeviceBuffer more(64, 0); }, Category::unavailable),
                                   HasSubstr("before it forked"));
                       return "";
                     }),
            "");
}

/// Run by the test below, in its own process.
TEST_F(GpuFaults, DISABLED_Sticky) {
  const Stream stream = Stream::create(0);
  kernels::faulty(stream, nullptr);
  EXPECT_THAT(
      refusal([&] { stream.synchronize(); }, Category::kernel),
      AllOf(HasSubstr("waiting for a stream"), HasSubstr("a kernel that ran until then failed"),
            HasSubstr("cudaErrorIllegalAddress")));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(refusal([] { DeviceBuffer buffer(64, 0); }, Category::unavailable),
                AllOf(HasSubstr("CUDA no longer works in this process"),
                      HasSubstr("the first fault was: waiting for a stream")));
  }
  EXPECT_TRUE(devices().empty());
  EXPECT_THAT(why_unavailable(), HasSubstr("the first fault was"));
}

TEST_F(GpuFaults, AfterAFaultOfAKernelTheFirstOneIsNamed) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      cat("env -u GTEST_OUTPUT -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX '", self,
          "' --gtest_filter=GpuFaults.DISABLED_Sticky "
          "--gtest_also_run_disabled_tests");
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace tessera::cuda
