// Device and pinned memory, and copies between them: see runtime.hpp.
#include <cstdint>
#include <map>
#include <mutex>

#include "errors.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/runtime.hpp"

namespace tessera::cuda {

namespace {

/// The live device memory of this library, so that the driver is not queried for each matrix of
/// each product.
class OwnMemory {
 public:
  void add(const void* data, std::size_t bytes, int device) {
    const std::lock_guard lock(mutex_);
    blocks_[address_of(data)] = {bytes, device};
  }
  void remove(const void* data) noexcept {
    const std::lock_guard lock(mutex_);
    blocks_.erase(address_of(data));
  }
  /// The device on which an address is, -1 for memory of others.
  int device_of(const void* data) {
    const std::lock_guard lock(mutex_);
    auto after = blocks_.upper_bound(address_of(data));
    if (after == blocks_.begin()) return -1;
    const auto& [begin, block] = *--after;
    return address_of(data) - begin < block.bytes ? block.device : -1;
  }

 private:
  struct Block {
    std::size_t bytes;
    int device;
  };
  static std::uintptr_t address_of(const void* data) {
    return reinterpret_cast<std::uintptr_t>(data);
  }
  std::mutex mutex_;
  std::map<std::uintptr_t, Block> blocks_;  // by their first byte
};

/// Never destroyed: buffers may outlive static objects.
OwnMemory& own_memory() {
  static OwnMemory& one = *new OwnMemory;
  return one;
}

}  // namespace

DeviceBuffer::DeviceBuffer(std::size_t bytes, int device) : bytes_(bytes), device_(device) {
  detail::expect_usable();
  if (bytes == 0) return;
  const OnDevice on(device);
  const cudaError_t status = cudaMalloc(&data_, bytes);
  if (status == cudaErrorMemoryAllocation) {
    detail::forget_own_error();
    throw Error(Category::resource,
                cat("there is no memory for ", bytes_text(static_cast<index_t>(bytes)),
                    " on device ", device),
                {}, cat(bytes_text(free_memory(device)), " free"),
                "free device memory, or use smaller matrices");
  }
  detail::check(status, cat("allocating ", bytes, " bytes on device ", device));
  own_memory().add(data_, bytes, device);
}

DeviceBuffer::~DeviceBuffer() {
  if (data_ == nullptr) return;
  own_memory().remove(data_);
  detail::release_on(device_, [this] { (void)cudaFree(data_); });
}

PinnedBuffer::PinnedBuffer(std::size_t bytes, int device) : bytes_(bytes), device_(device) {
  detail::expect_usable();
  if (bytes == 0) return;
  const OnDevice on(device);
  detail::check(cudaHostAlloc(&data_, bytes, cudaHostAllocPortable),
                cat("allocating ", bytes_text(static_cast<index_t>(bytes)), " of pinned memory"));
}

PinnedBuffer::~PinnedBuffer() {
  if (data_ == nullptr) return;
  detail::release_on(device_, [this] { (void)cudaFreeHost(data_); });
}

void copy(void* to, const void* from, std::size_t bytes, const Stream& stream) {
  detail::expect_usable();
  if (bytes == 0) return;
  const OnDevice on(stream.device());
  detail::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.handle()),
                cat("copy of ", bytes_text(static_cast<index_t>(bytes))));
}

void fill(void* to, unsigned char value, std::size_t bytes, const Stream& stream) {
  detail::expect_usable();
  if (bytes == 0) return;
  const OnDevice on(stream.device());
  detail::check(cudaMemsetAsync(to, value, bytes, stream.handle()),
                cat("filling ", bytes_text(static_cast<index_t>(bytes))));
}

Where where_is(const void* address) {
  if (const int device = own_memory().device_of(address); device >= 0)
    return {Place::device, device};
  detail::expect_usable();
  cudaPointerAttributes attributes{};
  detail::check(cudaPointerGetAttributes(&attributes, address), "querying the place of an address");
  switch (attributes.type) {
    case cudaMemoryTypeDevice: return {Place::device, attributes.device};
    case cudaMemoryTypeManaged: return {Place::managed, attributes.device};
    case cudaMemoryTypeHost: return {Place::pinned, attributes.device};
    default: return {Place::host, -1};
  }
}

}  // namespace tessera::cuda
