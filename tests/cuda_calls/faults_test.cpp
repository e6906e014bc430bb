// What the CUDA engine reports when CUDA fails, with a runtime that fails on request: the
// same on every machine. tests/cuda/gpu_faults_test.cpp provokes some of it on a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "errors.hpp"
#include "fake_cuda.hpp"
#include "support/child.hpp"
#include "support/refusal.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/launch_kernel.hpp"
#include "tessera/cuda/runtime.hpp"

namespace tessera::cuda {
namespace {

using tessera::testing::fake_cuda;
using tessera::testing::FakeCuda;
using tessera::testing::in_child;
using tessera::testing::refusal;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Before main(): nothing of CUDA is called when a program is loaded.
const std::size_t kCallsWhenLoaded = fake_cuda().calls.size();

class CudaCalls : public ::testing::Test {
 protected:
  void SetUp() override { fake_cuda() = {.generation = fake_cuda().generation + 1}; }
};

/// A launch on the stream, as cuda::launch() makes it.
void launch(const Stream& stream, std::size_t shared_bytes = 0) {
  detail::launch(stream, {nullptr, "some_kernel", {32}, shared_bytes}, {1}, nullptr);
}

TEST_F(CudaCalls, NothingIsCalledAtLoadTime) { EXPECT_EQ(kCallsWhenLoaded, 0u); }

TEST_F(CudaCalls, WhyThereIsNoDevice) {
  fake_cuda().driver = 0;
  fake_cuda().counting = cudaErrorInsufficientDriver;
  EXPECT_EQ(why_unavailable(), "there is no NVIDIA driver (libcuda.so.1)");
  fake_cuda().fails["device"] = cudaErrorInsufficientDriver;
  EXPECT_EQ(refusal([] { Stream::create(0); }, Category::unavailable),
            cat("CUDA is not available: ", why_unavailable()));
  fake_cuda().driver = 12040;
  EXPECT_THAT(why_unavailable(), AllOf(HasSubstr("CUDA 12.4"), HasSubstr("needs 13.0")));
  fake_cuda() = {.devices = 0, .counting = cudaErrorNoDevice};
  EXPECT_THAT(why_unavailable(), HasSubstr("has no device"));
  setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  EXPECT_THAT(why_unavailable(), HasSubstr("CUDA_VISIBLE_DEVICES is '-1', which hides"));
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_TRUE(devices().empty());
  EXPECT_THAT(refusal([] { device(0); }, Category::unavailable), HasSubstr("has no device"));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaCalls, AKernelThatIsNotCompiledForTheDeviceIsNamedAndTheNextOneRuns) {
  const Stream stream = Stream::create(0);
  for (int i = 0; i < 2; ++i) {
    fake_cuda().fails["launch"] = cudaErrorNoKernelImageForDevice;
    EXPECT_THAT(refusal([&] { launch(stream); }, Category::unavailable),
                AllOf(HasSubstr("kernel 'some_kernel'"), HasSubstr("not compiled for this device"),
                      HasSubstr("capability 8.0 or later")));
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    launch(stream);
  }
}

TEST_F(CudaCalls, WithoutMemoryTheCallIsRefusedAndTheNextOneWorks) {
  fake_cuda().fails["malloc"] = cudaErrorMemoryAllocation;
  EXPECT_THAT(refusal([] { DeviceBuffer buffer(1 << 20, 0); }, Category::resource),
              AllOf(HasSubstr("no memory for 1.00 MiB"), HasSubstr("1.00 MiB free")));
  fake_cuda().fails["malloc of host"] = cudaErrorMemoryAllocation;
  EXPECT_THAT(refusal([] { PinnedBuffer buffer(1 << 20, 0); }, Category::resource),
              HasSubstr("1.00 MiB of pinned memory: no memory"));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  const DeviceBuffer small(64, 0);
  EXPECT_NE(small.data(), nullptr);
}

/// These two are run by the test below them, each in its own process.
TEST_F(CudaCalls, DISABLED_Fault) {
  const Stream stream = Stream::create(0);
  fake_cuda().fault = cudaErrorIllegalAddress;
  EXPECT_THAT(refusal([&] { stream.synchronize(); }, Category::kernel),
              HasSubstr("waiting for a stream: a kernel that ran until then failed: "
                        "cudaErrorIllegalAddress"));
  const std::size_t calls = fake_cuda().calls.size();
  const std::function<void()> later[] = {[&] { launch(stream); },
                                         [] { DeviceBuffer buffer(64, 0); }, [] { free_memory(0); },
                                         [] { OnDevice on(1); }, [&] { Event(0).record(stream); }};
  for (const auto& call : later)
    EXPECT_THAT(refusal(call, Category::unavailable),
                HasSubstr("the first fault was: waiting for a stream"));
  EXPECT_TRUE(devices().empty());
  EXPECT_EQ(fake_cuda().calls.size(), calls);  // CUDA is not asked any more
}
TEST_F(CudaCalls, DISABLED_FaultOfTheCaller) {
  fake_cuda().last = fake_cuda().fault = cudaErrorIllegalAddress;
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(refusal([] { Stream::create(0); }, Category::unavailable),
                HasSubstr("the first fault was: before a call of this library: "
                          "cudaErrorIllegalAddress"));
}
TEST_F(CudaCalls, AFaultIsToldOnceAndEndsTheUseOfCudaAndACallersOwnIsNotOurs) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  for (const char* test : {"Fault", "FaultOfTheCaller"}) {
    const std::string command =
        cat("env -u GTEST_OUTPUT -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX '", self,
            "' --gtest_also_run_disabled_tests --gtest_filter=CudaCalls.DISABLED_", test);
    EXPECT_EQ(std::system(command.c_str()), 0) << test;
  }
}

TEST_F(CudaCalls, AnEarlierErrorOfTheCallerStaysWhereOurCallsSucceed) {
  fake_cuda().last = cudaErrorInvalidValue;
  const Stream stream = Stream::create(0);
  launch(stream);
  const DeviceBuffer buffer(64, 0);
  EXPECT_EQ(devices().size(), 2u);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaCalls, AnEarlierErrorOfTheCallerIsNamedWhereOurCallFails) {
  const Stream stream = Stream::create(0);
  fake_cuda().last = cudaErrorInvalidValue;
  fake_cuda().fails["wait"] = cudaErrorMemoryAllocation;
  EXPECT_THAT(refusal([&] { stream.synchronize(); }, Category::resource),
              AllOf(HasSubstr("waiting for a stream"), HasSubstr("cudaErrorMemoryAllocation"),
                    HasSubstr("pending before this call: cudaErrorInvalidValue")));
  EXPECT_NE(cudaGetLastError(), cudaSuccess);  // the caller still finds that something was wrong
  fake_cuda().fails["wait"] = cudaErrorMemoryAllocation;
  EXPECT_THAT(refusal([&] { stream.synchronize(); }, Category::resource),
              Not(HasSubstr("before this call")));  // it was asked for meanwhile
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaCalls, AForkedChildIsRefusedWithoutACall) {
  const DeviceBuffer used(64, 0);
  const std::size_t calls = fake_cuda().calls.size();
  EXPECT_EQ(in_child(60,
                     [&] {
                       EXPECT_THAT(refusal([] { Stream::create(0); }, Category::unavailable),
                                   HasSubstr("before it forked"));
                       EXPECT_TRUE(devices().empty());
                       { const DeviceBuffer gone = std::move(const_cast<DeviceBuffer&>(used)); }
                       EXPECT_EQ(fake_cuda().calls.size(), calls);
                       return "";
                     }),
            "");
}

TEST_F(CudaCalls, OnlyTheDeviceAskedForGetsAContextAndTheCurrentOneStays) {
  {
    const Stream stream = Stream::create(1);
    const DeviceBuffer on_device(64, 1);
    const PinnedBuffer pinned(64, 1);
    Event event(1);
    event.record(stream);
    launch(stream);
    fill(on_device.data(), 0, 64, stream);
    EXPECT_EQ(current_device(), 0);
  }
  EXPECT_EQ(fake_cuda().calls_of("free of host"), 1);
  EXPECT_THAT(fake_cuda().contexts, ElementsAre(1));
  EXPECT_THAT(fake_cuda().pushed, IsEmpty());
  EXPECT_EQ(fake_cuda().calls_of("set device"), 0);
}

TEST_F(CudaCalls, AResetOfTheDeviceTakesNothingThatIsNotAskedForAgain) {
  for (int turn = 1; turn <= 2; ++turn) {
    const Stream stream = Stream::create(1);
    launch(stream, 64 * 1024);
    launch(stream, 48 * 1024);  // what every kernel may
    EXPECT_EQ(fake_cuda().calls_of("allow shared memory"), turn);
    EXPECT_EQ(fake_cuda().calls_of("set device"), 0);
    fake_cuda().reset();
  }
}

TEST_F(CudaCalls, TheStreamOfACallerKeepsItsDevice) {
  int any = 0;
  const Stream stream = Stream::borrow(reinterpret_cast<CUstream_st*>(&any));
  launch(stream);
  EXPECT_EQ(stream.device(), 1);
  EXPECT_THAT(fake_cuda().contexts, ElementsAre(1));
  EXPECT_EQ(fake_cuda().calls_of("end of stream"), 0);
}

TEST_F(CudaCalls, MoreSharedMemoryThanTheDeviceHasIsRefused) {
  const Stream stream = Stream::create(0);
  EXPECT_THAT(refusal([&] { launch(stream, 200 * 1024); }, Category::argument),
              AllOf(HasSubstr("more shared memory than device 0 has"), HasSubstr("100000 bytes")));
  EXPECT_EQ(fake_cuda().calls_of("launch"), 0);
}

}  // namespace
}  // namespace tessera::cuda
