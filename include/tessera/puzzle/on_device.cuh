// The learner's kernels on a GPU: run.hpp includes this where nvcc compiles it. The matrices are
// copied to the device, the kernel runs once, and its outputs are copied back and compared like any
// result.
#pragma once

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/launch.cuh"
#include "tessera/cuda/runtime.hpp"
#include "tessera/cuda/tensor_map.hpp"
#include "tessera/puzzle/bulk_view.hpp"
#include "tessera/tensor/tensor.hpp"

namespace tessera::puzzle::detail {

/// A copy of a compact host tensor on a stream's device.
template <class T, Layout L>
class OnGpu {
 public:
  OnGpu(const cuda::Stream& stream, const Tensor<T*, L>& host)
      : stream_(stream), host_(host), memory_(bytes(), stream.device()) {
    cuda::copy(memory_.data(), host.data(), bytes(), stream);
  }
  Tensor<T*, L> view() const { return {static_cast<T*>(memory_.data()), host_.values(), Whole{}}; }
  /// Copies outputs back to the host tensor; inputs are not copied.
  void bring_back() const {
    if constexpr (!std::is_const_v<T>) cuda::copy(host_.data(), memory_.data(), bytes(), stream_);
    stream_.synchronize();
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(host_.size()) * sizeof(T); }
  const cuda::Stream& stream_;
  Tensor<T*, L> host_;
  cuda::DeviceBuffer memory_;
};

/// The same as a BulkMatrix, which kernels only read.
template <class Tile, class View>
class InBulkOnGpu {
 public:
  InBulkOnGpu(const cuda::Stream& stream, const BulkView<Tile, View>& bulk)
      : bulk_(bulk), copy_(stream, bulk.view) {}
  BulkMatrix<Tile> view() const { return bulk_.mapped(cuda::tensor_map, copy_.view()); }
  void bring_back() const {}

 private:
  BulkView<Tile, View> bulk_;
  decltype(OnGpu(std::declval<const cuda::Stream&>(), std::declval<const View&>())) copy_;
};

template <class View>
auto copied(const cuda::Stream& stream, const View& view) {
  return OnGpu(stream, view);
}
template <class Tile, class View>
auto copied(const cuda::Stream& stream, const BulkView<Tile, View>& bulk) {
  return InBulkOnGpu<Tile, View>(stream, bulk);
}

template <class Kernel, class... Copies>
void launch_on_copies(const cuda::Stream& stream, Dim3 grid, const Kernel& kernel,
                      const Copies&... copies) {
  cuda::launch(stream, grid, kernel, copies.view()...);
  stream.synchronize();
  (copies.bring_back(), ...);
}

/// Runs the kernel on device 0, on tensors of the host's. Throws Error.
template <class Kernel, class... Views>
void launch_on_gpu(Dim3 grid, const Kernel& kernel, const Views&... views) {
  if constexpr (tessera::detail::needs_sm_90a<Kernel>()) {
    const cuda::Device device = cuda::devices().at(0);
    if (device.major != 9 || device.minor != 0)
      throw Error(Category::unavailable, cat("kernel ", tessera::detail::kernel_name<Kernel>()),
                  "a GPU of compute capability 9.0 (Hopper)",
                  cat(device.name, ", ", device.major, ".", device.minor));
  }
  const cuda::Stream stream = cuda::Stream::create(0);
  launch_on_copies(stream, grid, kernel, copied(stream, views)...);
}

}  // namespace tessera::puzzle::detail
