// See scratch.hpp: a pool of each device's memory, apart from the caller's.
#include "scratch.hpp"

#include <cstdint>
#include <map>
#include <mutex>

#include "errors.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cuda {

namespace {

cudaMemPool_t pool_of(int device) {
  static std::mutex& mutex = *new std::mutex;
  static auto& pools = *new std::map<int, cudaMemPool_t>;
  const std::lock_guard lock(mutex);
  if (const auto found = pools.find(device); found != pools.end()) return found->second;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  detail::check(cudaMemPoolCreate(&pool, &properties), cat("a pool of memory on device ", device));
  std::uint64_t kept = std::uint64_t{256} << 20;
  detail::check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept),
                "keeping memory of a pool");
  return pools[device] = pool;
}

}  // namespace

Scratch::Scratch(std::size_t bytes, const Stream& stream) : stream_(stream) {
  detail::expect_usable();
  const OnDevice on(stream.device());
  const cudaError_t status =
      cudaMallocFromPoolAsync(&data_, bytes, pool_of(stream.device()), stream.handle());
  if (status == cudaErrorMemoryAllocation) {
    detail::forget_own_error();
    throw Error(Category::resource,
                cat("a product needs ", bytes_text(static_cast<index_t>(bytes)),
                    " of memory on device ", stream.device()),
                {}, cat(bytes_text(free_memory(stream.device())), " free"),
                "free device memory, or plan the product with parts = 1");
  }
  detail::check(status, cat("allocating ", bytes, " bytes for a product"));
}

Scratch::~Scratch() {
  if (data_ != nullptr)
    detail::release_on(stream_.device(), [this] { (void)cudaFreeAsync(data_, stream_.handle()); });
}

}  // namespace tessera::cuda
