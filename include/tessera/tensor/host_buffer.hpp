// HostBuffer: bytes of host memory that belong to one owner. Aligned to 64 bytes; from 2 MiB on,
// to 2 MiB with a request for huge pages. Not initialised. Movable, not copyable.
#pragma once

#include <cstddef>
#include <utility>

#include "tessera/core/config.hpp"

namespace tessera {

class HostBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;

  HostBuffer() = default;
  /// Throws Error(resource), naming the bytes, when there is not that much memory.
  explicit HostBuffer(std::size_t bytes);
  ~HostBuffer();
  HostBuffer(HostBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  void* data() { return data_; }
  const void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The bytes of a tensor of `count` extents. Throws Error(shape) for a negative extent and
/// Error(resource) where the product does not fit in 63 bits.
std::size_t checked_bytes(const index_t* extents, int count, std::size_t element_bytes);

}  // namespace tessera
