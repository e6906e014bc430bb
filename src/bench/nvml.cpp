// See nvml.hpp. The function types are copied from nvml.h, so that no header is needed.
#include "nvml.hpp"

#include <dlfcn.h>

namespace tessera::bench {

namespace {

constexpr unsigned kSmClock = 1;    // NVML_CLOCK_SM
constexpr unsigned kGpuSensor = 0;  // NVML_TEMPERATURE_GPU
constexpr int kSuccess = 0;

template <class F>
F* function(void* library, const char* name) {
  return reinterpret_cast<F*>(dlsym(library, name));
}

}  // namespace

std::unique_ptr<Nvml> Nvml::open(const std::string& pci_bus_id, const std::string& library) {
  void* const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return nullptr;
  auto* init = function<int()>(loaded, "nvmlInit_v2");
  auto* find = function<int(const char*, void**)>(loaded, "nvmlDeviceGetHandleByPciBusId_v2");
  void* device = nullptr;
  if (init == nullptr || find == nullptr || init() != kSuccess) {
    dlclose(loaded);
    return nullptr;
  }
  // from here on its destructor shuts it down
  std::unique_ptr<Nvml> out(new Nvml(loaded, nullptr));
  if (find(pci_bus_id.c_str(), &device) != kSuccess) return nullptr;
  out->device_ = device;
  return out;
}

Nvml::~Nvml() {
  if (auto* shut_down = function<int()>(library_, "nvmlShutdown")) shut_down();
  dlclose(library_);
}

template <class Value, class... Which>
Value Nvml::ask(const char* name, Which... which) const {
  auto* ask = function<int(void*, Which..., Value*)>(library_, name);
  Value out = 0;
  return ask != nullptr && ask(device_, which..., &out) == kSuccess ? out : 0;
}

double Nvml::sm_clock_hz() const { return 1e6 * ask<unsigned>("nvmlDeviceGetClockInfo", kSmClock); }
double Nvml::power_watts() const { return 1e-3 * ask<unsigned>("nvmlDeviceGetPowerUsage"); }
double Nvml::power_limit_watts() const {
  return 1e-3 * ask<unsigned>("nvmlDeviceGetEnforcedPowerLimit");
}
int Nvml::temperature_celsius() const {
  return static_cast<int>(ask<unsigned>("nvmlDeviceGetTemperature", kGpuSensor));
}
std::uint64_t Nvml::throttle_reasons() const {
  return ask<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons");
}

}  // namespace tessera::bench
