// Names of devices, the default, and the properties of each.
#include "tessera/device/devices.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "backend.hpp"
#include "device_names.hpp"
#include "tessera/core/cpu.hpp"
#include "tessera/cuda/runtime.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera {

namespace {

struct Chosen {
  std::mutex mutex;
  std::optional<Device> device;
};
Chosen& chosen() {
  static Chosen out;
  return out;
}

[[noreturn]] void refuse_name(std::string_view text) {
  throw Error(Category::argument, cat("unknown device '", printable(text), "'"),
              device_names(runs_kernels));
}

DeviceInfo host_info(const Device& device) {
  DeviceInfo out;
  out.device = device;
  out.name = device.kind() == DeviceKind::cpu ? cat("the CPU engine, ", thread_engine_path())
                                              : std::string("the CPU engine under the checker");
  out.memory_bytes = index_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  out.most_block_threads = kMaxBlockThreads;
  out.shared_bytes = kMaxSharedBytes;
  return out;
}

}  // namespace

std::string device_names(bool (*is_wanted)(DeviceKind)) {
  std::vector<std::string> names;
  for (const auto& each : kDeviceKinds)
    if (is_wanted(each.kind)) names.push_back(cat(each.name, each.has_number ? ":N" : ""));
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += cat(i == 0 ? "" : i + 1 < names.size() ? ", " : " or ", names[i]);
  return out;
}

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  for (char& each : out)
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  return out;
}

Device product_device(std::string_view text) {
  std::optional<Device> named;
  try {
    named = Device::parse(text);
  } catch (const Error&) {  // the message below says more
  }
  if (named && runs_products(named->kind())) return *named;
  std::string here;
  for (const DeviceInfo& each : devices())
    if (runs_products(each.device.kind()))
      here += cat(here.empty() ? "" : ", ", to_string(each.device));
  throw Error(Category::argument, cat("unknown device '", printable(text), "'"),
              device_names(runs_products), {}, cat("this machine has ", here));
}

Device Device::parse(std::string_view text) {
  const auto colon = text.find(':');
  int number = 0;
  if (colon != std::string_view::npos) {
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data() + colon + 1, end, number);
    if (error != std::errc() || at != end || number < 0) refuse_name(text);
  }
  const std::string kind = in_lower_case(text.substr(0, colon));
  for (const auto& each : kDeviceKinds) {
    if (kind == each.name && (each.has_number || colon == std::string_view::npos))
      return {each.kind, number};
  }
  refuse_name(text);
}

Device Device::get_default() {
  {
    Chosen& set = chosen();
    const std::lock_guard lock(set.mutex);
    if (set.device) return *set.device;
  }
  const char* const text = std::getenv("TESSERA_DEVICE");
  if (text == nullptr || *text == '\0') return cpu();
  try {
    const Device device = parse(text);
    describe(device);
    return device;
  } catch (const Error& error) {
    throw Error(error.category(), cat("TESSERA_DEVICE=", printable(text), ": ", error.problem()),
                error.expected(), error.got(), error.advice());
  }
}

void Device::set_default(const Device& device) {
  describe(device);
  Chosen& set = chosen();
  const std::lock_guard lock(set.mutex);
  set.device = device;
}

void Device::wait() const {
  if (!detail::has_own_memory(*this)) return;
  auto& backend = detail::backend_of(*this);
  backend.waiting(*this, [&] { backend.wait(); });
}

std::string to_string(const Device& device) {
  const auto& kind = kDeviceKinds[static_cast<std::size_t>(device.kind())];
  return kind.has_number ? cat(kind.name, ":", device.number()) : std::string(kind.name);
}

DeviceInfo describe(const Device& device) {
  if (!detail::has_own_memory(device)) return host_info(device);
  return detail::backend_of(device).info();
}

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> out = {host_info(Device::cpu()), host_info(Device::checked())};
  for (const auto& each : cuda::devices()) out.push_back(describe(Device::cuda(each.number)));
  for (auto& each : detail::opencl_devices()) out.push_back(std::move(each));
  for (auto& each : detail::hip_devices()) out.push_back(std::move(each));
  return out;
}

}  // namespace tessera
