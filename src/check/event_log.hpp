// What one thread has done since its warp's log was last read: 32 bytes for each access. Private to
// src/check.
//
// The key of an access orders the accesses of a thread as a GPU would issue them where its lanes
// part: by line, column, loads before stores. Lanes with the same key at the same step are one
// instruction of the warp.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "tessera/core/here.hpp"

namespace tessera::check {

enum class EventKind : std::uint8_t { load, async_load, store, async_store, atomic, commit, wait };

struct Event {
  std::uint64_t address;
  const char* file;
  std::uint64_t key;
  std::uint64_t bits;  ///< of the value that is stored; of a wait: how many groups may be pending
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

/// Grows by doubling, keeps its memory when it is emptied.
class EventLog {
 public:
  EventLog() = default;
  ~EventLog() { std::free(begin_); }
  EventLog(EventLog&& other) noexcept : begin_(other.begin_), next_(other.next_), end_(other.end_) {
    other.begin_ = other.next_ = other.end_ = nullptr;
  }
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  void add(const Event& event) {
    if (next_ == end_) [[unlikely]]
      grow();
    *next_++ = event;
  }
  const Event* begin() const { return begin_; }
  const Event* end() const { return next_; }
  void clear() { next_ = begin_; }

 private:
  void grow() {
    const auto count = static_cast<std::size_t>(next_ - begin_);
    const std::size_t room = count == 0 ? 64 : 2 * count;
    auto* const memory = static_cast<Event*>(std::realloc(begin_, room * sizeof(Event)));
    if (memory == nullptr) throw std::bad_alloc();
    begin_ = memory, next_ = memory + count, end_ = memory + room;
  }

  Event* begin_ = nullptr;
  Event* next_ = nullptr;
  Event* end_ = nullptr;
};

}  // namespace tessera::check
