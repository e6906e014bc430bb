// What a GPU does at the moment: its clock, power and temperature, from NVIDIA's management
// library, which comes with the driver and is loaded when it is asked for. Nothing is changed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tessera::bench {

class Nvml {
 public:
  /// Nothing where the library is not there or does not know the device. `pci_bus_id` as in
  /// cuda::Device.
  static std::unique_ptr<Nvml> open(const std::string& pci_bus_id,
                                    const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Each 0 where the device does not tell.
  double sm_clock_hz() const;
  double power_watts() const;
  double power_limit_watts() const;
  int temperature_celsius() const;
  /// What holds the clock back: the bits of nvmlClocksEventReasons.
  std::uint64_t throttle_reasons() const;

 private:
  Nvml(void* library, void* device) : library_(library), device_(device) {}
  /// A value of a function whose last argument is its result.
  template <class Value, class... Which>
  Value ask(const char* function, Which... which) const;

  void* library_;
  void* device_;
};

}  // namespace tessera::bench
