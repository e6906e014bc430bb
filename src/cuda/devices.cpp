// Which devices there are, or why there are none: see runtime.hpp.
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "abilities.hpp"
#include "errors.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/runtime.hpp"

namespace tessera::cuda {

namespace {

std::string version_text(int version) {
  return version == 0 ? "" : cat(version / 1000, ".", version % 1000 / 10);
}

int attribute(cudaDeviceAttr which, int number) {
  int value = 0;
  detail::check(cudaDeviceGetAttribute(&value, which, number), cat("asking device ", number));
  return value;
}

Device read_device(int number) {
  cudaDeviceProp properties{};
  detail::check(cudaGetDeviceProperties(&properties, number), cat("asking device ", number));
  Device out;
  out.number = number;
  out.name = properties.name;
  out.major = properties.major;
  out.minor = properties.minor;
  out.sms = properties.multiProcessorCount;
  out.memory_bytes = static_cast<index_t>(properties.totalGlobalMem);
  out.l2_bytes = properties.l2CacheSize;
  out.shared_bytes = static_cast<index_t>(properties.sharedMemPerBlockOptin);
  out.clock_hz = 1e3 * attribute(cudaDevAttrClockRate, number);
  out.memory_clock_hz = 1e3 * attribute(cudaDevAttrMemoryClockRate, number);
  out.memory_bus_bits = properties.memoryBusWidth;
  char bus[32] = "";
  detail::check(cudaDeviceGetPCIBusId(bus, sizeof bus, number), cat("asking device ", number));
  out.pci_bus_id = bus;
  return out;
}

/// The number of devices, or why it cannot be said.
struct Count {
  int devices = 0;
  cudaError_t status = cudaSuccess;
};

Count count_devices() {
  Count out;
  out.status = cudaGetDeviceCount(&out.devices);
  if (out.status != cudaSuccess) {
    out.devices = 0;
    detail::forget_own_error();
  }
  return out;
}

}  // namespace

bool is_built() { return true; }

double Device::peak_f32_flops() const {
  const int lanes = major == 8 && minor == 0 ? 64 : 128;
  return 2.0 * lanes * sms * clock_hz;
}

std::vector<Device> devices() {
  std::vector<Device> out;
  try {
    detail::expect_usable();
    const int count = count_devices().devices;
    for (int i = 0; i < count; ++i) out.push_back(read_device(i));
  } catch (const Error&) {
    out.clear();
  }
  return out;
}

std::string why_unavailable() {
  try {
    detail::expect_usable();
  } catch (const Error& error) {
    return error.what();
  }
  const Count count = count_devices();
  if (count.devices > 0) return "";
  const std::string driver = driver_version();
  if (driver.empty()) return "there is no NVIDIA driver (libcuda.so.1)";
  if (count.status == cudaErrorInsufficientDriver)
    return cat("the driver is of CUDA ", driver, ", this program needs ", runtime_version(),
               ": update the driver");
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool none = count.status == cudaSuccess || count.status == cudaErrorNoDevice ||
                    count.status == cudaErrorInvalidDevice;
  if (visible != nullptr && none)
    return cat("no device: CUDA_VISIBLE_DEVICES is '", visible, "', which hides the others");
  if (count.status == cudaErrorNoDevice || count.status == cudaSuccess)
    return cat("the driver, of CUDA ", driver, ", has no device");
  return cat("CUDA ", driver, " does not start: ", cudaGetErrorString(count.status));
}

Abilities abilities(int number) noexcept {
  constexpr int kKnown = 64, kQueried = 1 << 30;
  static std::array<std::atomic<int>, kKnown> known;  // never another device than requested
  if (number < 0 || number >= kKnown) return {};
  auto& mine = known[static_cast<std::size_t>(number)];
  int found = mine.load(std::memory_order_relaxed);
  if (found == 0) {
    int major = 0, minor = 0, count = 0;
    const auto query = [&](cudaDeviceAttr which, int& value) {
      return cudaDeviceGetAttribute(&value, which, number) == cudaSuccess;
    };
    if (count_devices().devices <= number || !query(cudaDevAttrComputeCapabilityMajor, major) ||
        !query(cudaDevAttrComputeCapabilityMinor, minor) ||
        !query(cudaDevAttrMultiProcessorCount, count)) {
      detail::forget_own_error();
      return {};  // it may become available later
    }
    found = kQueried | count << 10 | ((10 * major + minor) & 1023);
    mine.store(found, std::memory_order_relaxed);
  }
  return {found & 1023, (found & ~kQueried) >> 10};
}

Device device(int number) {
  detail::expect_usable();
  const int count = count_devices().devices;
  if (count == 0)
    throw Error(Category::unavailable, cat("device 'cuda:", number, "' is not available"), {}, {},
                why_unavailable());
  if (number < 0 || number >= count)
    throw Error(Category::unavailable, cat("device 'cuda:", number, "' is not there"),
                count == 1 ? std::string("cuda:0") : cat("cuda:0 to cuda:", count - 1));
  return read_device(number);
}

int current_device() {
  detail::expect_usable();
  int number = 0;
  detail::check(cudaGetDevice(&number), "querying the current device");
  return number;
}

std::string driver_version() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version_text(version) : "";
}

std::string runtime_version() {
  int version = 0;
  return cudaRuntimeGetVersion(&version) == cudaSuccess ? version_text(version) : "";
}

index_t free_memory(int number) {
  detail::expect_usable();
  const OnDevice on(number);
  std::size_t free = 0, all = 0;
  detail::check(cudaMemGetInfo(&free, &all), cat("asking device ", number));
  return static_cast<index_t>(free);
}

}  // namespace tessera::cuda
