// Runs plans on the device that they were made for, with matrices in host memory: directly on the
// CPU; on a GPU with copies in both directions that are not timed.
#pragma once

#include <memory>
#include <string>

#include "tessera/matmul/plan.hpp"

namespace tessera::cli {

class Executor {
 public:
  /// For "cpu" or "cuda:N". Throws Error(unavailable) if there is no such device.
  explicit Executor(const std::string& device);
  ~Executor();

  /// C = alpha * A * B + beta * C. Returns the seconds of the product alone: wall time on the CPU,
  /// the time between two events on a GPU. A and B must keep their elements during the lifetime of
  /// the executor: it copies an operand to the GPU only once.
  double run(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C);

 private:
  struct Cuda;
  std::unique_ptr<Cuda> cuda_;
};

}  // namespace tessera::cli
