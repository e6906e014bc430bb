// The kinds of devices as text: the one list for names, messages and suggestions.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "tessera/device/devices.hpp"

namespace tessera {

struct DeviceKindName {
  DeviceKind kind;
  std::string_view name;
  bool has_number;
};
inline constexpr std::array kDeviceKinds = {DeviceKindName{DeviceKind::cpu, "cpu", false},
                                            DeviceKindName{DeviceKind::checked, "checked", false},
                                            DeviceKindName{DeviceKind::cuda, "cuda", true},
                                            DeviceKindName{DeviceKind::opencl, "opencl", true},
                                            DeviceKindName{DeviceKind::hip, "hip", true}};

/// What run() accepts, and what a product accepts.
constexpr bool runs_kernels(DeviceKind) { return true; }
constexpr bool runs_products(DeviceKind kind) { return kind != DeviceKind::checked; }

/// Devices are named in any case: what the names of kinds are compared with.
std::string in_lower_case(std::string_view text);

/// The device of a product. Throws Error(argument), with the devices of this machine, where `text`
/// names none.
Device product_device(std::string_view text);

/// "cpu, cuda:N, opencl:N or hip:N": how devices of these kinds are named.
std::string device_names(bool (*is_wanted)(DeviceKind));

}  // namespace tessera
