// Device: where kernels run, as a value. "cpu" is the CPU engine, "checked" the same under the
// checker, "cuda:0", "opencl:0" and "hip:0" (AMD) are accelerators by number. A Device is only a
// name; using it, or describe(), shows whether it exists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/core/config.hpp"

namespace tessera {

enum class DeviceKind : std::uint8_t { cpu, checked, cuda, opencl, hip };
/// Devices whose code Clang makes.
constexpr bool has_gpu_code(DeviceKind kind) {
  return kind == DeviceKind::opencl || kind == DeviceKind::hip;
}

class Device {
 public:
  /// The CPU.
  constexpr Device() = default;
  static constexpr Device cpu() { return {}; }
  static constexpr Device checked() { return {DeviceKind::checked, 0}; }
  static constexpr Device cuda(int number = 0) { return {DeviceKind::cuda, number}; }
  static constexpr Device opencl(int number = 0) { return {DeviceKind::opencl, number}; }
  static constexpr Device hip(int number = 0) { return {DeviceKind::hip, number}; }
  /// "cpu", "checked", "cuda", "cuda:1", "OpenCL:0", "hip:0": in any case. Throws Error(argument).
  static Device parse(std::string_view text);

  /// The device of set_default(), else that of the variable TESSERA_DEVICE, else the CPU. Throws
  /// Error(argument) where the variable is no device, Error(unavailable) where the device is not
  /// there.
  static Device get_default();
  /// For the whole process. Throws Error(unavailable) where it is not there.
  static void set_default(const Device& device);

  constexpr DeviceKind kind() const { return kind_; }
  /// 0 for cpu and checked.
  constexpr int number() const { return number_; }
  constexpr bool operator==(const Device&) const = default;

  /// Waits for everything that was started on it. Throws Error(kernel), with the kernel's name,
  /// where some of it failed, Error(unavailable) where the device is not there.
  void wait() const;

 private:
  constexpr Device(DeviceKind kind, int number) : kind_(kind), number_(number) {}
  DeviceKind kind_ = DeviceKind::cpu;
  int number_ = 0;
};

/// "cuda:0"
std::string to_string(const Device& device);

/// What a device has.
struct DeviceInfo {
  Device device;
  std::string name;            ///< "NVIDIA H200"
  index_t memory_bytes = 0;    ///< all of it
  int most_block_threads = 0;  ///< largest block
  index_t shared_bytes = 0;    ///< most shared storage of a block
  bool has_f64 = true;
};

/// All devices of this machine that this program can use: cpu and checked first. Never throws for
/// one that is not there.
std::vector<DeviceInfo> devices();
/// Throws Error(unavailable), with the reason, where it is not there.
DeviceInfo describe(const Device& device);

}  // namespace tessera
