// A CUDA device, with one stream.
#include <map>

#include "backend.hpp"
#include "tessera/cuda/runtime.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera::detail {

namespace {

class CudaBackend : public Backend {
 public:
  explicit CudaBackend(int number)
      : device_(cuda::device(number)), stream_(cuda::Stream::create(number)) {}

  DeviceInfo info() override {
    return {Device::cuda(device_.number), device_.name, device_.memory_bytes, kMaxBlockThreads,
            device_.shared_bytes,         true};
  }
  void* allocate(index_t bytes) override {
    cuda::DeviceBuffer buffer(static_cast<std::size_t>(bytes), device_.number);
    void* const data = buffer.data();
    const std::lock_guard lock(mutex_);
    buffers_.emplace(data, std::move(buffer));
    return data;
  }
  void free(void* memory) noexcept override {
    const std::lock_guard lock(mutex_);
    buffers_.erase(memory);
  }
  void upload(void* to, index_t at, const void* from, index_t bytes) override {
    cuda::copy(static_cast<std::byte*>(to) + at, from, static_cast<std::size_t>(bytes), stream_);
  }
  void download(void* to, void* from, index_t at, index_t bytes) override {
    cuda::copy(to, static_cast<const std::byte*>(from) + at, static_cast<std::size_t>(bytes),
               stream_);
    stream_.synchronize();
  }
  void fill_with_zero(void* to, index_t at, index_t bytes) override {
    cuda::fill(static_cast<std::byte*>(to) + at, 0, static_cast<std::size_t>(bytes), stream_);
  }
  void wait() override { stream_.synchronize(); }
  const void* queue() override { return &stream_; }

 private:
  cuda::Device device_;
  cuda::Stream stream_;
  std::mutex mutex_;
  std::map<void*, cuda::DeviceBuffer> buffers_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(int number) {
  return std::make_unique<CudaBackend>(number);
}

}  // namespace tessera::detail
