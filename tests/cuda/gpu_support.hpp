// Shared by the tests that need a GPU: the fixture that skips, loudly, where there is none.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "tessera/cuda/runtime.hpp"

namespace tessera::testing {

/// Skips the test where no GPU can be used.
inline void need_gpu() {
  if (cuda::devices().empty()) GTEST_SKIP() << "NOT TESTED on a GPU: " << cuda::why_unavailable();
}

/// Numbers in device memory.
class DeviceInts {
 public:
  DeviceInts(const std::vector<int>& values, const cuda::Stream& stream)
      : stream_(stream), count_(values.size()), buffer_(bytes(), stream.device()) {
    cuda::copy(buffer_.data(), values.data(), bytes(), stream);
    stream.synchronize();
  }
  int* data() const { return static_cast<int*>(buffer_.data()); }
  /// Waits for the stream.
  std::vector<int> values() const {
    std::vector<int> out(count_);
    cuda::copy(out.data(), buffer_.data(), bytes(), stream_);
    stream_.synchronize();
    return out;
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(int); }
  const cuda::Stream& stream_;
  std::size_t count_;
  cuda::DeviceBuffer buffer_;
};

}  // namespace tessera::testing
