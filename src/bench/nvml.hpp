// A GPU's current clock, power and temperature, from NVIDIA's management library, which is part of
// the driver and loaded on request. Changes nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tessera::bench {

class Nvml {
 public:
  /// Nothing if the library is missing or does not know the device. `pci_bus_id` as in
  /// cuda::Device.
  static std::unique_ptr<Nvml> open(const std::string& pci_bus_id,
                                    const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Each is 0 if the device does not report it.
  double sm_clock_hz() const;
  double power_watts() const;
  double power_limit_watts() const;
  int temperature_celsius() const;
  /// What limits the clock: the bits of nvmlClocksEventReasons.
  std::uint64_t throttle_reasons() const;

 private:
  Nvml(void* library, void* device) : library_(library), device_(device) {}
  /// Calls a function whose last argument is its result.
  template <class Value, class... Which>
  Value ask(const char* function, Which... which) const;

  void* library_;
  void* device_;
};

}  // namespace tessera::bench
