// The learner's kernels on an OpenCL device or an AMD GPU: run.hpp includes this where
// TESSERA_PUZZLE_ON_DEVICE is defined. As on_device.cuh for CUDA: the matrices are copied to the
// device that TESSERA_DEVICE names, the kernel runs once, and its outputs come back.
#pragma once

#include "tessera/device/device.hpp"
#if TESSERA_GPU_CODE
#include "tessera/device/gpu_entry.hpp"
#endif

namespace tessera::detail {

/// A parameter: a view of compact elements with the layout L.
template <class T, Layout L>
struct Viewed;
template <class T, Layout L>
struct ElementParam<Viewed<T, L>> {
  using element = T;
};
template <class T, Layout L>
inline constexpr GpuParam kGpuParam<Viewed<T, L>>{
    Tensor<T*, L>::dynamic_count > 0 ? Tensor<T*, L>::dynamic_count : 1,
    static_cast<int>(sizeof(T))};

#if TESSERA_GPU_CODE
template <class T, Layout L>
struct GpuArgument<Viewed<T, L>> {
  using Address = T*;
  T* data;
  typename Tensor<T*, L>::Values values{};
  __device__ GpuArgument(Address base, const GpuWord* words) : data(base) {
    for (int i = 0; i < Tensor<T*, L>::dynamic_count; ++i)
      values.v[i] = static_cast<index_t>(words[1 + i]);
  }
  __device__ Tensor<T*, L> get() const { return {data, values, Whole{}}; }
};
#endif

}  // namespace tessera::detail

namespace tessera::puzzle::detail {

/// A copy of a compact host tensor on the device.
template <class T, Layout L>
class OnDevice {
 public:
  using Param = tessera::detail::Viewed<T, L>;
  OnDevice(const Device& device, const Tensor<T*, L>& host)
      : host_(host), bytes_(host.size() * static_cast<index_t>(sizeof(T))), copy_(bytes_) {
    if (bytes_ > 0) {
      std::memcpy(host_bytes(false), host.data(), static_cast<std::size_t>(bytes_));
      copy_.written(Device::cpu(), {0, bytes_});
    }
    argument_.address = copy_.prepare(device, {0, bytes_}, true);
    for (int i = 0; i < Tensor<T*, L>::dynamic_count; ++i)
      argument_.extents[i] = host.values().v[i];
  }
  const void* address() const { return &argument_; }
  void bring_back(const Device& device) {
    if constexpr (!std::is_const_v<T>) {
      copy_.written(device, {0, bytes_});
      if (bytes_ > 0) std::memcpy(host_.data(), host_bytes(true), static_cast<std::size_t>(bytes_));
    }
  }

 private:
  void* host_bytes(bool needed) { return copy_.prepare(Device::cpu(), {0, bytes_}, needed).base; }
  Tensor<T*, L> host_;
  index_t bytes_;
  tessera::detail::ManagedBytes copy_;
  tessera::detail::TensorArgument argument_;
};

template <class Kernel, class... Copies>
void launch_on_copies(const Device& device, Dim3 grid, const Kernel& kernel, Copies&&... copies) {
  using namespace tessera::detail;
  using Entry = GpuEntryOf<Kernel, typename std::remove_cvref_t<Copies>::Param...>;
#if TESSERA_GPU_CODE
  static_cast<void>(&Entry::tessera_gpu_entry);
#endif
  constexpr GpuParam params[] = {kGpuParam<typename std::remove_cvref_t<Copies>::Param>..., {0, 0}};
  const GpuKernel gpu{typeid(Entry*).name(),
                      static_cast<int>(sizeof(Kernel)),
                      shared_bytes_of<Kernel, typename std::remove_cvref_t<Copies>::Param...>(),
                      {params, sizeof...(Copies)},
                      __BASE_FILE__,
                      __FILE__};
  const void* const arguments[] = {copies.address()..., nullptr};
  start_kernel(start_compiled, {device, grid, Kernel::block, kernel_name<Kernel>(), &kernel,
                                arguments, nullptr, &gpu});
  device.wait();
  (copies.bring_back(device), ...);
}

/// Runs the kernel there, on tensors of the host's. Throws Error.
template <class Kernel, class... Views>
void launch_on_gpu(Dim3 grid, const Kernel& kernel, const Views&... views) {
  const Device device = Device::get_default();
  launch_on_copies(device, grid, kernel, OnDevice(device, views)...);
}

}  // namespace tessera::puzzle::detail
