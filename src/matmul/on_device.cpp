// See matmul/on_device.hpp.
#include "tessera/matmul/on_device.hpp"

#include <cstring>
#include <vector>

#include "device/backend.hpp"
#include "footprint.hpp"
#include "gpu_code/ladder.hpp"

namespace tessera {

namespace {

/// The bytes from the first to the last element of a matrix in host memory.
struct HostSpan {
  char* first = nullptr;
  index_t bytes = 0, before = 0;  // before: from the first byte to element (0, 0)

  explicit HostSpan(const ConstMatrix& m) {
    if (m.rows == 0 || m.cols == 0) return;
    const detail::Footprint footprint(m);
    first = reinterpret_cast<char*>(static_cast<std::intptr_t>(footprint.low));
    bytes = static_cast<index_t>(footprint.high() - footprint.low);
    before = static_cast<const char*>(m.data) - first;
  }
};

/// Memory on a device, or none.
class Buffer {
 public:
  Buffer(detail::Backend& backend, index_t bytes)
      : backend_(&backend), memory_(bytes == 0 ? nullptr : backend.allocate(bytes)) {}
  ~Buffer() {
    if (memory_ != nullptr) backend_->free(memory_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* memory() const { return memory_; }

 private:
  detail::Backend* backend_;
  void* memory_;
};

/// A copy of a matrix that is only read.
struct Copy {
  ConstMatrix host;
  std::unique_ptr<Buffer> buffer;

  detail::DeviceAddress of(const ConstMatrix& wanted, detail::Backend& backend) {
    const HostSpan span(wanted);
    const bool is_same =
        buffer != nullptr && host.data == wanted.data && to_string(host) == to_string(wanted);
    if (!is_same) {
      buffer = nullptr;  // frees the old buffer before the new one is allocated
      auto made = std::make_unique<Buffer>(backend, span.bytes);
      if (span.bytes > 0) backend.upload(made->memory(), 0, span.first, span.bytes);
      buffer = std::move(made);
      host = wanted;
    }
    return {buffer->memory(), span.before};
  }
};

/// Brings the elements of C back, and none of the bytes between them.
void download(detail::Backend& backend, const Buffer& from, const Matrix& C) {
  const HostSpan span{ConstMatrix(C)};
  const index_t size = size_of(C.dtype);
  if (span.bytes == C.rows * C.cols * size)
    return backend.download(span.first, from.memory(), 0, span.bytes);
  std::vector<char> all(static_cast<std::size_t>(span.bytes));
  backend.download(all.data(), from.memory(), 0, span.bytes);
  for (index_t i = 0; i < C.rows; ++i) {
    for (index_t j = 0; j < C.cols; ++j) {
      const index_t at = span.before + (i * C.row_stride + j * C.col_stride) * size;
      std::memcpy(span.first + at, all.data() + at, static_cast<std::size_t>(size));
    }
  }
}

}  // namespace

struct OnDevice::State {
  Device device;
  detail::Backend& backend;
  Copy a = {}, b = {};
};

OnDevice::OnDevice(const std::string& device) {
  const Device named = Device::parse(device);
  state_ = std::make_unique<State>(State{named, detail::backend_of(named)});
}
OnDevice::~OnDevice() = default;
OnDevice::OnDevice(OnDevice&&) noexcept = default;

double OnDevice::run(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C,
                     const void* bias) {
  if (C.rows == 0 || C.cols == 0) return 0;
  const Problem& p = plan.problem;
  detail::Backend& backend = state_->backend;
  const bool reads = p.alpha != 0;
  const detail::DeviceAddress a = reads ? state_->a.of(A, backend) : detail::DeviceAddress{},
                              b = reads ? state_->b.of(B, backend) : detail::DeviceAddress{};
  const HostSpan span{ConstMatrix(C)};
  const Buffer c(backend, span.bytes);
  if (p.beta != 0) backend.upload(c.memory(), 0, span.first, span.bytes);
  const index_t biases = p.epilogue.bias == Bias::none      ? 0
                         : p.epilogue.bias == Bias::per_row ? p.M
                                                            : p.N;
  const index_t bias_bytes = biases * (size_of(p.out) < 4 ? 4 : size_of(p.out));
  const Buffer on_bias(backend, bias_bytes);
  if (bias_bytes > 0) backend.upload(on_bias.memory(), 0, bias, bias_bytes);
  detail::find_gpu_entry(plan.algorithm)
      ->run({state_->device, p, plan.tile, a, b, {c.memory(), span.before}, {on_bias.memory(), 0}});
  double seconds = 0;
  backend.waiting(state_->device, [&] { seconds = backend.seconds_of_last(); });
  download(backend, c, C);
  return seconds;
}

}  // namespace tessera
