// Runs plans on the device that they were made for, with matrices in host memory: on the CPU as
// they are, on a GPU with copies there and back that are not timed.
#pragma once

#include <memory>
#include <string>

#include "tessera/matmul/plan.hpp"

namespace tessera::cli {

class Executor {
 public:
  /// For "cpu" or "cuda:N". Throws Error(unavailable) where there is no such device.
  explicit Executor(const std::string& device);
  ~Executor();

  /// C = alpha * A * B + beta * C. The seconds of the product alone: wall time on the CPU, between
  /// two events on a GPU. A and B must keep their elements as long as this lives: what has been
  /// copied to a GPU once is not copied again.
  double run(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C);

 private:
  struct Cuda;
  std::unique_ptr<Cuda> cuda_;
};

}  // namespace tessera::cli
