// The device's memory: allocations by cudaMalloc and its siblings, in one range of addresses with
// gaps between them. Private to the runtime.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tessera/check/check.hpp"
#include "tessera/core/here.hpp"

namespace tessera::plain_cuda {

inline std::uint64_t number(const void* at) { return reinterpret_cast<std::uint64_t>(at); }

enum class MemoryKind { device, managed, pinned };

struct Allocation {
  std::string name;  ///< empty: it follows from the text of the call
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  std::size_t element_bytes = 4;            ///< of its pointer's type
  std::optional<check::detail::Gaps> gaps;  ///< of an element; none: its type is unknown
  std::size_t row_elements = 0;             ///< of an array with rows
  Here here;                                ///< of the call
  std::optional<Here> freed;
  bool is_input = false;               ///< of a requested launch
  bool is_registered = false;          ///< the host's own memory, which cudaHostRegister was given
  std::optional<std::uint16_t> fill;   ///< of bytes that nobody has written; none: unknown
  bool all_written = false;            ///< then there are no bits
  std::vector<std::uint64_t> written;  ///< a bit for each byte; empty: none
  std::vector<std::uint64_t> read;     ///< the same, of an input

  std::uint64_t end() const { return begin + bytes; }
};

class DeviceMemory {
 public:
  static DeviceMemory& get();

  /// Null if the device has too little memory.
  void* allocate(std::size_t bytes, std::size_t element_bytes, MemoryKind kind, Here here);
  void free(Allocation& allocation, Here here);
  /// Makes memory of the host accessible to kernels; false: a part of it is already.
  bool add_host(std::uint64_t begin, std::size_t bytes, Here here);
  /// Reverts that; false: it was not added.
  bool drop_host(std::uint64_t begin);
  /// The allocation with the address, freed or not; else null.
  Allocation* find(std::uint64_t address);
  /// The nearest one before it; null: none.
  const Allocation* before(std::uint64_t address);
  bool contains(const void* address) const {
    return reinterpret_cast<std::uint64_t>(address) - base_ < kBytes;
  }
  /// The same, or memory of the host that was added.
  bool has(const void* address) {
    return contains(address) ||
           (registered_ > 0 && find(reinterpret_cast<std::uint64_t>(address)) != nullptr);
  }
  /// Is it accessible? The rims of allocations are as well: an access outside is a finding, not a
  /// fault.
  bool is_backed(const void* address);
  void wrote(std::uint64_t address, std::size_t bytes);
  bool is_written(std::uint64_t address, std::size_t bytes);
  bool is_written(const Allocation& whole);
  /// Notes stores that were not told, such as those of results that are structs: in the allocation
  /// with the address, elements that have changed since it was made. Between launches.
  void find_unseen(std::uint64_t address);
  /// A launch has read it: kept of inputs.
  void was_read(std::uint64_t address, std::size_t bytes);
  static std::size_t elements_read(const Allocation& input);
  /// How many of these bytes were never written.
  std::size_t unwritten(std::uint64_t address, std::size_t bytes);
  /// Was memory allocated that the host may access as well?
  bool is_shared_with_host() const { return is_shared_with_host_; }
  /// Was any memory allocated or added?
  bool was_used() const { return !allocations_.empty(); }
  std::size_t used_bytes() const { return used_; }
  std::size_t total_bytes() const { return kTotal; }
  /// Those that are not freed, in the order of their addresses.
  std::vector<const Allocation*> live() const;
  /// The program's name for it, if it is known: "d_A".
  static std::string name_of(const Allocation& allocation);

 private:
  DeviceMemory();
  static constexpr std::size_t kBytes = std::size_t{1} << 40;   // of addresses
  static constexpr std::size_t kTotal = std::size_t{80} << 30;  // that can be taken at one time

  std::mutex mutex_;  ///< of the bits
  std::uint64_t base_ = 0, next_ = 0;
  std::size_t used_ = 0, searched_ = 0;
  bool is_shared_with_host_ = false;
  std::atomic<int> registered_ = 0;                  ///< pieces of the host's memory
  std::map<std::uint64_t, Allocation> allocations_;  ///< by their first bytes
};

}  // namespace tessera::plain_cuda
