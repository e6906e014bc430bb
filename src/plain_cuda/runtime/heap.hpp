// What malloc() and new give in the program's own files: in kernels memory of the device's heap, on
// the host that of the C library, whose ends are known. Private to the run-time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>

#include "tessera/check/check.hpp"
#include "tessera/plain_cuda/parts/place.h"

namespace tessera::plain_cuda {

/// The memory that kernels allocate themselves: in one range of addresses, with gaps between.
class DeviceHeap {
 public:
  static DeviceHeap& get();

  /// Null where the heap has no room for it (cudaLimitMallocHeapSize).
  void* allocate(std::size_t bytes, const Place& place);
  void free(void* at, const Place& place);
  bool contains(const void* address) const {
    return reinterpret_cast<std::uint64_t>(address) - base_ < kBytes;
  }
  /// May a kernel touch it? Its blocks it may; what is wrong is said in words.
  check::detail::Elsewhere judge(std::uint64_t address);

 private:
  DeviceHeap();
  static constexpr std::size_t kBytes = std::size_t{4} << 30;  // of addresses

  struct Block {
    std::size_t bytes = 0;
    Place place;  ///< of the call that gave it
    Place freed;  ///< line 0: it is in use
  };
  std::mutex mutex_;
  std::uint64_t base_ = 0, next_ = 0;
  std::size_t used_ = 0;
  std::map<std::uint64_t, Block> blocks_;               ///< by their first bytes
  std::deque<std::uint64_t> freed_;                     ///< of which the oldest are used again
  std::multimap<std::size_t, std::uint64_t> reusable_;  ///< by the bytes that they take
};

/// Where the block of the host's heap ends, or the variable of the host, that has this byte; 0:
/// nobody knows.
std::uint64_t end_on_host(std::uint64_t address);

}  // namespace tessera::plain_cuda
