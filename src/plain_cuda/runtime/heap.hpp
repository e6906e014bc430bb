// malloc() and new in the program's own files: in kernels they return memory of the device's heap,
// on the host that of the C library, whose bounds are known. Private to the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>

#include "tessera/check/check.hpp"
#include "tessera/plain_cuda/parts/place.h"

namespace tessera::plain_cuda {

/// The memory that kernels allocate themselves: one range of addresses, with gaps between blocks.
class DeviceHeap {
 public:
  static DeviceHeap& get();

  /// Null if the heap has too little memory (cudaLimitMallocHeapSize).
  void* allocate(std::size_t bytes, const Place& place);
  void free(void* at, const Place& place);
  bool contains(const void* address) const {
    return reinterpret_cast<std::uint64_t>(address) - base_ < kBytes;
  }
  /// May a kernel access it? Allowed for its blocks; otherwise the result describes the mistake.
  check::detail::Elsewhere judge(std::uint64_t address);

 private:
  DeviceHeap();
  static constexpr std::size_t kBytes = std::size_t{4} << 30;  // of addresses
  static constexpr std::size_t kStep = std::size_t{16} << 20;
  bool make_ready(std::uint64_t end);  ///< for access

  struct Block {
    std::size_t bytes = 0;
    Place place;  ///< of the allocating call
    Place freed;  ///< line 0: it is in use
  };
  std::mutex mutex_;
  std::uint64_t base_ = 0, next_ = 0, ready_ = 0;
  std::size_t used_ = 0;
  std::map<std::uint64_t, Block> blocks_;               ///< by their first bytes
  std::deque<std::uint64_t> freed_;                     ///< the oldest are reused
  std::multimap<std::size_t, std::uint64_t> reusable_;  ///< by their size
};

/// Above all variables of main(), on its thread; 0: it runs on another one.
inline thread_local std::uintptr_t frame_above_main = 0;

/// The end of the block of the host's heap, of the host's variable, or of all variables of this
/// thread, that contains this byte; 0: unknown.
std::uint64_t end_on_host(std::uint64_t address);

}  // namespace tessera::plain_cuda
