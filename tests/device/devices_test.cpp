#include <cstdlib>

#include "fake_device.hpp"
#include "support/refusal.hpp"

namespace tessera {
namespace {

using testing::refusal;

TEST(Devices, TextReadsBackAndOtherTextIsRefused) {
  for (const Device device : {Device::cpu(), Device::checked(), Device::cuda(), Device::cuda(7),
                              Device::opencl(0), Device::opencl(12), Device::hip(3)})
    EXPECT_EQ(Device::parse(to_string(device)), device);
  EXPECT_EQ(Device::parse("cuda"), Device::cuda(0));
  EXPECT_EQ(Device::parse("CPU"), Device::cpu());
  EXPECT_EQ(Device::parse("OpenCL:3"), Device::opencl(3));
  for (const char* text : {"", "cpu:0", "checked:1", "cuda:", "cuda:x", "cuda:1x", "cuda:-1",
                           "cuda: 1", "cuda:99999999999", "opencl:+1", ":0", "gpu", "cuda:0:1"}) {
    EXPECT_EQ(refusal([&] { Device::parse(text); }, Category::argument),
              cat("unknown device '", text, "': expected cpu, checked, cuda:N, opencl:N or hip:N"));
  }
}

TEST(Devices, CpuAndCheckedAreEverywhere) {
  const auto all = devices();
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(all[0].device, Device::cpu());
  EXPECT_EQ(all[1].device, Device::checked());
  for (const auto& each : all) {
    EXPECT_FALSE(each.name.empty());
    EXPECT_GT(each.memory_bytes, 1 << 20);
    EXPECT_GE(each.most_block_threads, 256);
    EXPECT_GE(each.shared_bytes, 16 * 1024);
    EXPECT_EQ(describe(each.device).name, each.name);
  }
}

class DefaultDevice : public ::testing::Test {
 protected:
  ~DefaultDevice() override { unsetenv("TESSERA_DEVICE"); }
};

TEST_F(DefaultDevice, IsTheEnvironmentsElseTheCpu) {
  EXPECT_EQ(Device::get_default(), Device::cpu());
  setenv("TESSERA_DEVICE", "", 1);
  EXPECT_EQ(Device::get_default(), Device::cpu());
  setenv("TESSERA_DEVICE", "checked", 1);
  EXPECT_EQ(Device::get_default(), Device::checked());
  setenv("TESSERA_DEVICE", "gpu", 1);
  EXPECT_EQ(
      refusal([] { Device::get_default(); }, Category::argument),
      "TESSERA_DEVICE=gpu: unknown device 'gpu': expected cpu, checked, cuda:N, opencl:N or hip:N");
  setenv("TESSERA_DEVICE", "cuda:777", 1);
  EXPECT_EQ(refusal([] { Device::get_default(); }, Category::unavailable)
                .rfind("TESSERA_DEVICE=cuda:777: ", 0),
            0u);
}

TEST_F(DefaultDevice, WhatIsSetWins) {
  refusal([] { Device::set_default(Device::cuda(777)); }, Category::unavailable);
  EXPECT_EQ(Device::get_default(), Device::cpu());
  Device::set_default(Device::checked());
  setenv("TESSERA_DEVICE", "gpu", 1);
  EXPECT_EQ(Device::get_default(), Device::checked());
  Device::set_default(Device::cpu());
  EXPECT_EQ(Device::get_default(), Device::cpu());
}

}  // namespace
}  // namespace tessera
