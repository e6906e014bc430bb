// The order of events if threads meet at gates: vector clocks, with one number for each agent.
// Agents are the threads of the blocks that run together, and what they start and wait for: copies
// of a gate, products of a warpgroup, bulk stores of a thread. For each byte, it also keeps the
// accesses since its last write. Private to src/check.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "tessera/core/recorder.hpp"

namespace tessera::check {

/// What is ordered before an event: for each agent, everything that it did before this time.
class AgentClock {
 public:
  std::uint32_t at(int agent) const {
    const auto i = static_cast<std::size_t>(agent);
    return i < times_.size() ? times_[i] : 0;
  }
  bool covers(int agent, std::uint32_t time) const { return at(agent) > time; }
  void raise(int agent, std::uint32_t time) {
    const auto i = static_cast<std::size_t>(agent);
    if (i >= times_.size()) times_.resize(i + 1);
    times_[i] = std::max(times_[i], time);
  }
  void join(const AgentClock& other) {
    if (other.times_.size() > times_.size()) times_.resize(other.times_.size());
    for (std::size_t i = 0; i < other.times_.size(); ++i)
      times_[i] = std::max(times_[i], other.times_[i]);
  }
  /// The same for one agent alone.
  void join(const AgentClock& other, int agent) {
    if (const std::uint32_t time = other.at(agent)) raise(agent, time);
  }
  /// Keeps what is ordered before both.
  void intersect(const AgentClock& other) {
    if (other.times_.size() < times_.size()) times_.resize(other.times_.size());
    for (std::size_t i = 0; i < times_.size(); ++i)
      times_[i] = std::min(times_[i], other.times_[i]);
  }

 private:
  std::vector<std::uint32_t> times_;
};

enum class AgentKind : std::uint8_t {
  thread,
  gate,         ///< the copies that arrive at it, by phase
  units,        ///< products of a warpgroup, by group
  reader,       ///< bulk stores of a thread, until they have read, by group
  storer,       ///< the same, until they have written
  copier,       ///< plain asynchronous copies of a thread, by group
  global_fence  ///< of a thread, for global memory
};
struct Agent {
  AgentKind kind = AgentKind::thread;
  int owner = 0;  ///< thread, gate or warpgroup
};

/// One access by an agent.
struct Trace {
  int agent = -1;  ///< -1: none
  std::uint32_t time = 0;
  std::uint16_t site = 0;    ///< in the numbering of the block that owns the memory
  std::uint16_t thread = 0;  ///< the thread that started it
  std::uint8_t rank = 0;     ///< of the thread's block in its cluster
  tessera::detail::Access how = tessera::detail::Access::load;
  bool of_nothing = false;  ///< a read of uninitialized memory
  bool any() const { return agent >= 0; }
};

/// The last writer of these bytes, and who has read or atomically updated them since.
struct AgentCell {
  Trace write;
  std::vector<Trace> others;  ///< of two with an order between them, only the later one
  std::uint32_t epoch = 0;    ///< barriers of the block before the write, plus 1
  bool is_reported = false;   ///< since the write
};

/// The cells of one memory: each as large as the memory's smallest access so far, at most 16 bytes.
class AgentShadow {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;

  void clear() { pages_.clear(); }
  /// Calls body(offset, cell) for each cell of these bytes.
  template <class Body>
  void for_each(std::uint64_t offset, std::uint64_t bytes, const Body& body) {
    const std::uint64_t end = offset + bytes;
    while (offset < end) {
      const std::uint64_t number = offset / kPageBytes, first = number * kPageBytes;
      const std::uint64_t last = std::min(end, first + kPageBytes);
      Page& page = page_at(number);
      const int wanted = std::min(std::countr_zero(offset | last), kMostShift);
      if (wanted < page.shift) split(page, wanted);
      for (; offset < last; offset += std::uint64_t{1} << page.shift)
        body(offset, page.cells[static_cast<std::size_t>((offset - first) >> page.shift)]);
    }
  }
  /// The cell of a byte; null: not accessed yet.
  const AgentCell* cell_at(std::uint64_t offset) const {
    const auto number = static_cast<std::size_t>(offset / kPageBytes);
    if (number >= pages_.size() || pages_[number] == nullptr) return nullptr;
    const Page& page = *pages_[number];
    return &page.cells[static_cast<std::size_t>(offset % kPageBytes >> page.shift)];
  }

 private:
  static constexpr int kMostShift = 4;
  struct Page {
    int shift = kMostShift;
    std::vector<AgentCell> cells = std::vector<AgentCell>(kPageBytes >> kMostShift);
  };
  Page& page_at(std::uint64_t number) {
    const auto i = static_cast<std::size_t>(number);
    if (i >= pages_.size()) pages_.resize(i + 1);
    if (pages_[i] == nullptr) pages_[i] = std::make_unique<Page>();
    return *pages_[i];
  }
  static void split(Page& page, int shift) {
    const int each = 1 << (page.shift - shift);
    std::vector<AgentCell> cells;
    cells.reserve(page.cells.size() * static_cast<std::size_t>(each));
    for (const AgentCell& cell : page.cells)
      cells.insert(cells.end(), static_cast<std::size_t>(each), cell);
    page.cells = std::move(cells);
    page.shift = shift;
  }

  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace tessera::check
