// The order by fences with atomics, by named barriers and by barriers of some lanes: sparse vector
// clocks. A kernel without these has no clocks. Private to src/check.
//
// A thread's time is its tick, which grows with each fence and each such barrier. A fence collects
// what is ordered before it; an atomic update after it stores that with the element; an atomic that
// reads the element takes it; a fence after that read makes it effective.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tessera/core/here.hpp"
#include "tessera/core/recorder.hpp"

namespace tessera::check {

/// The time of an access in its block.
struct Moment {
  std::int64_t block = 0;
  std::uint32_t epoch = 0, warp_epoch = 0, tick = 0;
  int thread = 0, warp = 0;
};

/// What is ordered before an event. Clocks share what they know of one block.
class Clock {
 public:
  /// All events of the block in earlier epochs.
  void add_epochs(std::int64_t block, std::uint32_t epoch);
  /// All events of the thread in earlier ticks; of the warp in earlier warp epochs.
  void add_thread(std::int64_t block, int thread, std::uint32_t tick);
  void add_warp(std::int64_t block, int warp, std::uint32_t warp_epoch);
  void join(const Clock& other);
  bool covers(const Moment& moment) const;
  /// Is all that the other knows known here?
  bool includes(const Clock& other) const;

 private:
  struct Seen {
    std::uint32_t epoch = 0;
    /// By thread; of warp w by -1 - w. In this order.
    std::vector<std::pair<int, std::uint32_t>> parts;

    std::uint32_t& time_of(int part);
    bool includes(const Seen& other) const;
    void join(const Seen& other);
  };
  using Of = std::pair<std::int64_t, std::shared_ptr<Seen>>;

  /// What is known of the block, not shared.
  Seen& own(std::int64_t block);
  static void join(std::shared_ptr<Seen>& mine, const std::shared_ptr<Seen>& theirs);

  std::vector<Of> seen_;  ///< in the order of the blocks
};
using ClockPtr = std::shared_ptr<const Clock>;

/// The union; one of the two itself if the other adds nothing.
ClockPtr joined(const ClockPtr& a, const ClockPtr& b);
inline bool covers(const ClockPtr& clock, const Moment& moment) {
  return clock != nullptr && clock->covers(moment);
}

/// The order that an atomic read of the elements of one memory takes.
class Releases {
 public:
  void release(const void* address, const ClockPtr& clock);
  ClockPtr at(const void* address) const;
  void clear() { clocks_.clear(); }

 private:
  std::unordered_map<const void*, ClockPtr> clocks_;
};

/// For all blocks of a launch.
struct LaunchOrder {
  std::atomic<bool> has_fences{false};
  std::mutex mutex;
  Releases releases;  ///< of global memory

  /// Atomic updates are numbered in the order of their execution.
  std::uint32_t next_number() { return numbers_.fetch_add(1) + 1; }

 private:
  std::atomic<std::uint32_t> numbers_{0};
};

/// What orders a thread at one time.
struct Stamp {
  std::uint32_t tick = 0;
  ClockPtr before;  ///< what is ordered before its accesses
  ClockPtr read;    ///< and what an atomic has read; a fence adds it
};

/// An access to one piece of memory: thread, time, kind.
struct Past {
  Moment when;
  tessera::detail::Access how = tessera::detail::Access::load;
  std::uint16_t site = 0;
  bool of_block = false;     ///< of an atomic: its scope excludes other blocks
  bool is_volatile = false;  ///< of an atomic: a volatile access
  std::uint64_t bits = 0;
  ClockPtr before, read;
  /// Of an atomic update: a number before it. Of a plain store: one after the last update of the
  /// element by the same thread, which saw all earlier updates; 0: there was none.
  std::uint32_t number = 0;
};

/// Why two accesses are not ordered; `ordered`: they are.
enum class Order : std::uint8_t { ordered, lacks_acquire, none };
Order order_of(const Past& a, const Past& b);
/// At least one writes, and not both are atomics whose scopes include each other.
bool conflict(const Past& a, const Past& b);
bool conflict(tessera::detail::Access a, tessera::detail::Access b);  ///< of any scope

/// Used to compare blocks.
struct OrderedTouch {
  int region;
  std::uint64_t offset;
  Here here;
  Past past;
};

}  // namespace tessera::check
