// ManagedBytes: bytes that may be in host memory and on several devices, and which copy of each of
// them is the newest. It moves what is asked for and is not there yet, and nothing else. New bytes
// are zero and nowhere: nothing is moved until they are written.
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

/// What a kernel is given of memory on a device: an address, or a handle and an offset.
struct DeviceAddress {
  void* base = nullptr;
  index_t offset = 0;  ///< bytes
};

class ManagedBytes {
 public:
  /// Throws Error(resource) when the host has not that much memory, at the first use.
  explicit ManagedBytes(index_t bytes);
  ~ManagedBytes();
  ManagedBytes(const ManagedBytes&) = delete;
  ManagedBytes& operator=(const ManagedBytes&) = delete;

  index_t bytes() const;
  /// Memory on `device` (the host's for cpu and checked), where the range holds the newest bytes if
  /// they are `needed`, else anything. Throws Error.
  DeviceAddress prepare(const Device& device, ByteRange range, bool needed);
  /// The range was written on `device`, or will be by what was started there: what others hold of
  /// it is old.
  void written(const Device& device, ByteRange range);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detail

}  // namespace tessera
