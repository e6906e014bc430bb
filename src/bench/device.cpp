// The contestants of a device: see device.hpp.
#include "device.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "tessera/core/text.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::bench {

namespace {

/// A longer product is not tried a second time before it is measured.
constexpr double kLongCall = 0.5;

/// A contestant that multiplies on a device.
class DeviceMultiplier : public Contestant {
 public:
  using MakeCall = BenchDevice::Call (BenchDevice::*)(const std::string& name);

  DeviceMultiplier(const std::string& name, Kind kind, std::string_view units, MakeCall make,
                   BenchDevice& device, SharedOperands& shared)
      : Contestant(name, kind, std::string(units)), make_(make), device_(device), shared_(shared) {}

  double prepare(const BenchCase& now) override {
    device_.load(now, shared_);
    call_ = (device_.*make_)(name());
    device_.spoil_results();
    call_seconds_ = timed(device_.sets()).seconds;
    device_.copy_results_to(shared_);
    // The first calls also load code.
    if (call_seconds_ < kLongCall) call_seconds_ = timed(1).seconds;
    return call_seconds_;
  }
  Sample sample(double seconds) override {
    const Sample out =
        sample_of([this](index_t calls) { return timed(calls); }, call_seconds_, seconds);
    call_seconds_ = out.seconds;
    return out;
  }
  void release() override {
    call_ = nullptr;
    device_.unload();
  }

 private:
  Sample timed(index_t calls) {
    const std::clock_t cpu = std::clock();
    const auto count = static_cast<double>(calls);
    const double seconds = device_.run(call_, calls) / count;
    const double cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    return {0, calls, seconds, cpu_seconds / count, device_.state()};
  }

  MakeCall make_;
  BenchDevice& device_;
  SharedOperands& shared_;
  BenchDevice::Call call_;
  double call_seconds_ = 0;
};

/// The seconds that the case's product would take at the peak, at the clock of the previous sample.
class DevicePeak : public Contestant {
 public:
  DevicePeak(std::string_view units, BenchDevice& device)
      : Contestant(cat("peak of ", units), Kind::peak, std::string(units)), device_(device) {}

  double prepare(const BenchCase& now) override {
    now_ = now;
    return sample(0).seconds;
  }
  Sample sample(double) override {
    return {0, 1, now_.flops() / device_.peak_flops(units(), now_.types), 0};
  }
  void release() override {}

 private:
  BenchDevice& device_;
  BenchCase now_;
};

}  // namespace

void leave_hanging(const BenchDevice& device, int exit_code) {
  if (!device.hangs()) return;
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

std::unique_ptr<Contestant> device_algorithm(const std::string& name, const shell::Types& types,
                                             BenchDevice& device, SharedOperands& shared) {
  const bool on_cores = name == "auto" ? types.in == DType::f32 || types.in == DType::i32
                                       : find_algorithm(name).f32_arithmetic == Arithmetic::chain;
  return std::make_unique<DeviceMultiplier>(name, Contestant::Kind::algorithm,
                                            on_cores ? kCores : kMatrixUnits,
                                            &BenchDevice::algorithm, device, shared);
}

std::unique_ptr<Contestant> device_peer(const std::string& name, const shell::Types& types,
                                        BenchDevice& device, SharedOperands& shared) {
  const bool on_cores = types.in == DType::f32 && !rounds_to_tf32(name);
  return std::make_unique<DeviceMultiplier>(name, Contestant::Kind::peer,
                                            on_cores ? kCores : kMatrixUnits, &BenchDevice::peer,
                                            device, shared);
}

std::unique_ptr<Contestant> device_peak(std::string_view units, BenchDevice& device) {
  return std::make_unique<DevicePeak>(units, device);
}

}  // namespace tessera::bench
