// Device memory for the time of one product, in the order of a stream. Only in builds with CUDA.
#pragma once

#include <cstddef>

#include "tessera/cuda/runtime.hpp"

namespace tessera::cuda {

/// Allocated and freed in the order of the stream, which may be captured in a graph; nothing waits.
/// The library keeps up to 256 MiB of it on each device for the next product.
class Scratch {
 public:
  /// Throws Error(resource), naming the bytes.
  Scratch(std::size_t bytes, const Stream& stream);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  const Stream& stream_;
};

}  // namespace tessera::cuda
