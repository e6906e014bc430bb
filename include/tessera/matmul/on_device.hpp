// Runs plans for a device with memory of its own, on matrices in host memory: they are copied to
// the device, and C comes back. tessera::run() does this for one product; a caller with several
// keeps an OnDevice, which copies A and B once.
#pragma once

#include <memory>
#include <string>

#include "tessera/matmul/plan.hpp"

namespace tessera {

class OnDevice {
 public:
  /// "opencl:0". Throws Error(unavailable) if it is not there.
  explicit OnDevice(const std::string& device);
  ~OnDevice();
  OnDevice(OnDevice&&) noexcept;

  /// C = alpha * A * B + beta * C by a plan for this device, of matrices that it was made for.
  /// Returns the seconds of the kernel alone. A and B must keep their elements during the lifetime
  /// of this object. If it throws, C is unchanged.
  double run(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C,
             const void* bias = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera
