// Products on any device: see executor.hpp.
#include "executor.hpp"

#include <charconv>

#include "process/clock.hpp"
#include "tessera/cuda/runtime.hpp"
#include "tessera/device/devices.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera::product {

/// A GPU with the operands that it holds.
struct Executor::Cuda {
  explicit Cuda(int device) : stream(cuda::Stream::create(device)), begin(device), end(device) {}

  /// A copy of data in host memory, made at the first request.
  struct Copy {
    ConstMatrix host;
    cuda::DeviceMatrix on_device;

    ConstMatrix of(const ConstMatrix& wanted, const cuda::Stream& stream) {
      const bool same = host.data == wanted.data && to_string(host) == to_string(wanted);
      if (!same || host.data == nullptr) {
        on_device = {};  // free the old copy first, so that there are never two
        on_device = cuda::DeviceMatrix(wanted, stream);
        host = wanted;
      }
      return on_device.view();
    }
  };

  double run(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C) {
    if (C.rows == 0 || C.cols == 0) return 0;
    const ConstMatrix a = a_copy.of(A, stream), b = b_copy.of(B, stream);
    const cuda::DeviceMatrix c(C, stream);
    begin.record(stream);
    cuda::run(plan, a, b, c.view(), stream);
    end.record(stream);
    end.synchronize();
    cuda::download(c.view(), C, stream);
    return cuda::Event::seconds_between(begin, end);
  }

  cuda::Stream stream;
  cuda::Event begin, end;
  Copy a_copy, b_copy;
};

Executor::Executor() = default;
Executor::~Executor() = default;

double Executor::run(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B,
                     const Matrix& C) {
  if (has_gpu_code(Device::parse(plan.device).kind()))
    return others_.try_emplace(plan.device, plan.device).first->second.run(plan, A, B, C);
  if (plan.device != "cpu") {
    auto& there = cuda_[plan.device];
    if (there == nullptr) {
      int number = 0;
      std::from_chars(plan.device.data() + sizeof "cuda:" - 1,
                      plan.device.data() + plan.device.size(), number);
      there = std::make_unique<Cuda>(cuda::device(number).number);
    }
    return there->run(plan, A, B, C);
  }
  const auto start = process::Clock::now();
  tessera::run(plan, A, B, C);
  return process::seconds_since(start);
}

}  // namespace tessera::product
