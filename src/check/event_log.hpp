// The events of one thread that its warp has not executed yet: 24 bytes for each access, at most a
// few hundred. Private to src/check.
//
// Lanes at the same position and step are one instruction of the warp. The key of an access orders
// it by line, column, loads before stores.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "tessera/check/report.hpp"
#include "tessera/core/here.hpp"

namespace tessera::check {

enum class EventKind : std::uint8_t {
  load,
  async_load,
  atomic_load,
  store,
  async_store,
  atomic,
  commit,
  wait,
  order  ///< from here on the thread has another stamp
};

/// One access of the source: a position, kind, memory and width.
struct AccessPoint {
  const char* file = nullptr;
  std::uint64_t key = 0;
  std::uint16_t site = 0;
  AccessSample sample;
  std::uint32_t order_time = 0;  ///< its node in the WarpOrder's graph, if that graph is current
  int order_node = 0;
  std::uint64_t first_byte = ~std::uint64_t{0}, last_byte = 0;  ///< where its requests began
};

/// Atomic updates of a launch are numbered in their order: the numbers just before and just after
/// one.
struct UpdateNumbers {
  /// In place of `before`: the update has no number, and none is ordered after it by its number.
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t before = 0, after = 0;
  static constexpr UpdateNumbers of(std::uint64_t bits) {
    return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  }
  constexpr std::uint64_t bits() const { return std::uint64_t{after} << 32 | before; }
};

struct Event {
  std::uint64_t offset;  ///< from the first byte of its region
  AccessPoint* point;
  std::uint64_t bits;  ///< of the value that is stored; of a load: bytes_with_value(), or 0; of a
                       ///< wait: how many groups may be pending; of order: the number of the
                       ///< stamp; of an atomic: its UpdateNumbers
};

/// line:24 column:12 kind:4 region:16 log2(bytes):8
constexpr std::uint64_t key_of(const Here& here, EventKind kind, int region, std::size_t bytes) {
  const auto column = static_cast<std::uint64_t>(here.column < 4095 ? here.column : 4095);
  return static_cast<std::uint64_t>(here.line) << 40 | column << 28 |
         static_cast<std::uint64_t>(kind) << 24 | static_cast<std::uint64_t>(region) << 8 |
         static_cast<std::uint64_t>(std::countr_zero(bytes));
}
constexpr int line_of(std::uint64_t key) { return static_cast<int>(key >> 40); }
constexpr int column_of(std::uint64_t key) { return static_cast<int>(key >> 28 & 4095); }
constexpr EventKind kind_of(std::uint64_t key) { return static_cast<EventKind>(key >> 24 & 15); }
constexpr int region_of(std::uint64_t key) { return static_cast<int>(key >> 8 & 0xffff); }
constexpr int bytes_of(std::uint64_t key) { return 1 << (key & 0xff); }

/// A buffer for a fixed number of events, allocated at the first one. The events of a warp stay in
/// the CPU's cache.
class EventLog {
 public:
  static constexpr std::size_t kRoom = 256;

  /// Requires that the log is not full.
  void add(const Event& event) {
    if (begin_ == nullptr) [[unlikely]] {
      begin_ = std::make_unique<Event[]>(kRoom);
      next_ = begin_.get();
    }
    *next_++ = event;
  }
  bool full() const { return next_ != nullptr && next_ == begin_.get() + kRoom; }
  /// The newest event; null: none.
  Event* last() { return next_ == begin_.get() ? nullptr : next_ - 1; }
  const Event* begin() const { return begin_.get(); }
  const Event* end() const { return next_; }
  void clear() { next_ = begin_.get(); }
  /// Removes the events before this one.
  void drop_before(const Event* event) { next_ = std::copy(event, end(), begin_.get()); }

 private:
  std::unique_ptr<Event[]> begin_;
  Event* next_ = nullptr;
};

}  // namespace tessera::check
