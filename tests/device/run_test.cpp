// run() on the CPU engine and under the checker, with the kernels of runs.cpp.
#include <cmath>

#include "kernels.hpp"
#include "runs.hpp"
#include "support/refusal.hpp"
#include "tessera/core/random.hpp"

namespace tessera {
namespace {

using testing::FloatMatrix;
using testing::refusal;

struct Throws {
  static constexpr const char* name = "throws";
  static constexpr Dim3 block{1};
  void operator()(auto, auto y) const {
    if (y.size() > 0) throw 1;
  }
};

const Device kHostDevices[] = {Device::cpu(), Device::checked()};

/// These, and the OpenCL devices of the machine that read what was built.
std::vector<Device> every_device() {
  std::vector<Device> out(std::begin(kHostDevices), std::end(kHostDevices));
  for (const auto& each : devices())
    if (each.device.kind() == DeviceKind::opencl) out.push_back(each.device);
  return out;
}

void expect_products(void (*product)(const Device&, const FloatMatrix&, const FloatMatrix&,
                                     FloatMatrix&)) {
  for (const Device& device : every_device()) {
    for (const auto& [m, n, k] :
         {std::array<index_t, 3>{17, 31, 9}, {1, 1, 1}, {40, 3, 33}, {0, 5, 2}, {5, 2, 0}}) {
      FloatMatrix a(m, k), b(k, n), c(m, n);
      const auto in_a = a.overwrite(), in_b = b.overwrite();
      for (index_t i = 0; i < m * k; ++i)
        in_a.data()[i] = static_cast<float>(random_bits(1, i) % 17);
      for (index_t i = 0; i < k * n; ++i)
        in_b.data()[i] = static_cast<float>(random_bits(2, i) % 17);
      product(device, a, b, c);
      const auto result = c.read();
      for (index_t i = 0; i < m; ++i) {
        for (index_t j = 0; j < n; ++j) {
          float sum = 0;
          for (index_t x = 0; x < k; ++x) sum = std::fma(a(i, x), b(x, j), sum);
          ASSERT_EQ(result(i, j), sum) << to_string(device);
        }
      }
    }
  }
}

TEST(Run, KernelsOfTheLadderChooseTheirGrid) {
  expect_products(testing::run_naive);
  expect_products(testing::run_tiled);
}

TEST(Run, AProductThatDoesNotFitIsRefused) {
  FloatMatrix a(2, 3), b(4, 5), c(2, 5);
  EXPECT_EQ(
      refusal([&] { testing::run_tiled(Device::cpu(), a, b, c); }, Category::shape),
      "kernel tiled: the shapes of A, B and C do not match: expected A (M,K), B (K,N) and C (M,N), "
      "got A (2,3), B (4,5) and C (2,5)");
}

TEST(Run, AnyBlockWhereTheKernelDeclaresNone) {
  for (const Device& device : kHostDevices) {
    Vector<float> y(100);
    testing::run_fill(device, Dim3{4}, Dim3{25}, 3, y);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(y(i), 3);
  }
}

TEST(Run, AGpuNeedsAFixedBlock) {
  for (const Device& device : every_device()) {
    if (device.kind() != DeviceKind::opencl) continue;
    Vector<float> y(100);
    EXPECT_EQ(
        refusal([&] { testing::run_fill(device, Dim3{4}, Dim3{25}, 3, y); }, Category::argument),
        "kernel fill: a GPU needs a fixed block size; give the kernel a static constexpr "
        "Dim3 block");
  }
}

TEST(Run, AGridThatADriverCannotCountIsRefused) {
  for (const Device& device : every_device()) {
    if (device.kind() != DeviceKind::opencl) continue;
    const Vector<float> x(100);
    Vector<float> y(100);
    constexpr int big = 1 << 30;
    for (const Dim3 grid : {Dim3{big, big, big}, {1 << 16, 1 << 15, 1}, {-1, 1, 1}, {1, -1, -1}}) {
      EXPECT_EQ(
          refusal([&] { testing::run_add_to(device, Dim3{32}, x, y, grid); }, Category::argument),
          cat("kernel add_to: the grid does not fit: expected positive extents, at most "
              "2147483647 blocks, got ",
              to_string(grid)));
    }
  }
}

TEST(Run, ReadsAndWritesOnEveryDevice) {
  for (const Device& device : every_device()) {
    Vector<float> x(100), y(100);
    const auto in = x.overwrite();
    for (int i = 0; i < 100; ++i) in(i) = static_cast<float>(i);
    testing::run_add_to(device, Dim3{32}, x, y);
    testing::run_add_to(device, Dim3{32}, x, y);
    const auto out = y.read();
    for (int i = 0; i < 100; ++i) ASSERT_EQ(out(i), static_cast<float>(2 * i)) << to_string(device);
  }
}

TEST(Run, TheDeclaredBlockIsKept) {
  for (const Device& device : every_device()) {
    const Vector<float> x(100);
    Vector<float> y(100);
    const std::string text =
        refusal([&] { testing::run_add_to(device, Dim3{25}, x, y); }, Category::argument);
    EXPECT_EQ(
        text,
        "kernel add_to: the block differs from the declared one: expected (32,1,1), got (25,1,1)");
  }
}

TEST(Run, TheCheckerSaysWhatIsWrong) {
  Vector<float> y(4);
  testing::run_racy(Device::cpu(), y);
  const std::string text =
      refusal([&] { testing::run_racy(Device::checked(), y); }, Category::failed);
  EXPECT_NE(text.find("kernel racy on checked: NOT clean: 1 error"), std::string::npos) << text;
  EXPECT_NE(text.find("kernels.hpp:"), std::string::npos) << text;
}

TEST(Run, TheCheckerKnowsThatOverwrittenElementsHoldNothing) {
  const Vector<float> x(32);
  Vector<float> y(32);
  testing::run_add_to(Device::checked(), Dim3{32}, x, y);
  const std::string text =
      refusal([&] { testing::run_add_to_nothing(Device::checked(), x, y); }, Category::failed);
  EXPECT_NE(text.find("reads B(0), which nobody has written"), std::string::npos) << text;
}

TEST(Run, AKernelThatFailsIsNamed) {
  Vector<float> y(4);
  EXPECT_NE(
      refusal([&] { run(Device::cpu(), Dim3{1}, Throws::block, Throws{}, y); }, Category::kernel)
          .find("throws"),
      std::string::npos);
}

TEST(Run, ADeviceThatIsNotThereIsRefused) {
  Vector<float> y(4);
  refusal([&] { testing::run_racy(Device::cuda(777), y); }, Category::unavailable);
}

}  // namespace
}  // namespace tessera
