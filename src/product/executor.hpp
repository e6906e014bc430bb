// Runs plans on the device that they were made for, with matrices in host memory: directly on the
// CPU; on a GPU with copies in both directions that are not timed.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "tessera/matmul/on_device.hpp"

namespace tessera::product {

class Executor {
 public:
  Executor();
  ~Executor();

  /// C = alpha * A * B + beta * C. Returns the seconds of the product alone: wall time on the CPU,
  /// the time between two events on other devices. A and B must keep their elements during the
  /// lifetime of the executor: it copies an operand to a device only once.
  double run(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C);

 private:
  struct Cuda;
  std::map<std::string, std::unique_ptr<Cuda>> cuda_;  // by the device's name
  std::map<std::string, OnDevice> others_;
};

}  // namespace tessera::product
