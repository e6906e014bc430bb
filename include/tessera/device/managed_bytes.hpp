// ManagedBytes: bytes that may be in host memory and on several devices, and which copy of each of
// them is the newest. It copies only bytes that are requested where they are not up to date. New
// bytes are zero and have no memory: they are not copied before they are written.
//
// The invariant: each byte is newest in at least one place, or still zero everywhere. Used by one
// thread at a time.
#pragma once

#include <memory>

#include "tessera/device/devices.hpp"

namespace tessera {

/// Moves between host and device memory in this process so far, for tests and for measuring.
struct MoveCounts {
  index_t to_device = 0, to_host = 0;  ///< how often
  index_t bytes_to_device = 0, bytes_to_host = 0;
};
MoveCounts move_counts();

namespace detail {

/// Neighbouring bytes of a ManagedBytes.
struct ByteRange {
  index_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// Memory on a device as a kernel gets it: an address, or a handle and an offset.
struct DeviceAddress {
  void* base = nullptr;
  index_t offset = 0;  ///< bytes
};

class ManagedBytes {
 public:
  /// The first use throws Error(resource) if the host lacks the memory.
  explicit ManagedBytes(index_t bytes);
  ~ManagedBytes();
  ManagedBytes(const ManagedBytes&) = delete;
  ManagedBytes& operator=(const ManagedBytes&) = delete;

  index_t bytes() const;
  /// Memory on `device` (the host's for cpu and checked), where the range holds the newest bytes if
  /// they are `needed`, else anything. Throws Error.
  DeviceAddress prepare(const Device& device, ByteRange range, bool needed);
  /// The range was written on `device`, or a kernel that was started there will write it: all other
  /// copies are stale.
  void written(const Device& device, ByteRange range);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detail

}  // namespace tessera
