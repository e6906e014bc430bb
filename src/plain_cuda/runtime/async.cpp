// Asynchronous copies, barriers that count arrivals, barriers of the grid, exchanges of warps: see
// parts/async.h. Copies are done immediately and recorded as pending; a read without a wait is
// reported.
#include "tessera/plain_cuda/parts/async.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "meeting.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "simt/residents.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/recorder.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/parts/atomics.h"
#include "tessera/plain_cuda/parts/copy_pieces.h"
#include "tessera/plain_cuda/parts/thread.h"

extern "C" {
extern __thread std::byte tessera_shared_begin[];
extern __thread std::byte tessera_dynamic_shared[];
}

namespace tessera::plain_cuda {

namespace {

bool is_on_stack(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at) - current->stack_low < current->stack_bytes;
}

/// Records an access; throws Abandon if it is impossible.
void record(bool writes, const void* at, std::size_t bytes, std::uint64_t bits, Here here) {
  auto* const recorder = tessera::detail::recorder;
  if (recorder == nullptr || is_on_stack(at)) return;
  settle();
  const bool done = [&, watcher = Watcher()] {
    return writes ? recorder->store(at, bytes, bits, here) : recorder->load(at, bytes, 0, here);
  }();
  if (!done && !DeviceMemory::get().contains(at)) throw Abandon{};
}

/// During its lifetime, accesses are those of an asynchronous copy.
class Asynchronously {
 public:
  Asynchronously() {
    if (recorder_ != nullptr) recorder_->async_copies(true);
  }
  ~Asynchronously() {
    if (recorder_ != nullptr) recorder_->async_copies(false);
  }
  Asynchronously(const Asynchronously&) = delete;
  Asynchronously& operator=(const Asynchronously&) = delete;

 private:
  tessera::detail::Recorder* recorder_ = tessera::detail::recorder;
};

std::uint64_t bits_at(const void* from, std::size_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, std::min<std::size_t>(bytes, 8));
  return bits;
}

}  // namespace

void load_told(void* to, const void* at, std::size_t bytes, Here here) {
  record(false, at, bytes, 0, here);
  std::memcpy(to, at, bytes);
}
void store_told(void* at, const void* from, std::size_t bytes, Here here) {
  record(true, at, bytes, bits_at(from, bytes), here);
  std::memcpy(at, from, bytes);
}

void load_operand(Place place, void* to, const void* at, std::size_t bytes) {
  me("a matrix function", place);
  load_told(to, at, bytes, here_of(place));
}
void store_result(Place place, void* to, const void* value, std::size_t bytes) {
  me("a matrix function", place);
  store_told(to, value, bytes, here_of(place));
}

void copy_async(void* to, const void* from, std::size_t bytes, std::size_t from_bytes,
                Place place) {
  me("an asynchronous copy", place);
  settle();
  {
    const Asynchronously copies;
    if (from_bytes > 0) record(false, from, from_bytes, 0, here_of(place));
    record(true, to, bytes, from_bytes > 0 ? bits_at(from, from_bytes) : 0, here_of(place));
  }
  std::memcpy(to, from, from_bytes);
  std::memset(static_cast<std::byte*>(to) + from_bytes, 0, bytes - from_bytes);
}

void copy_piece(void* to, const void* from, std::size_t bytes, Place place) {
  // The hardware copies only pieces of 4, 8 and 16 bytes from global to shared memory.
  if (bytes >= 4 && is_in_space(to, Space::shared) && is_in_space(from, Space::global))
    return copy_async(to, from, bytes, bytes, place);
  std::byte value[16];
  me("a copy", place);
  load_told(value, from, bytes, here_of(place));
  store_told(to, value, bytes, here_of(place));
}

void commit_async(Place place) {
  me("a group of asynchronous copies", place);
  settle();
  if (const Watcher watcher; watcher) watcher->commit(here_of(place));
}

void wait_async(int pending, Place place) {
  me("a wait for asynchronous copies", place);
  settle();
  if (const Watcher watcher; watcher) watcher->wait(pending, here_of(place));
}

// ---- barriers that count arrivals ----

namespace {

/// The content of a gate's 64 bits. Threads of a block run on one OS thread, so nothing here is
/// atomic.
struct Gate {
  std::uint16_t missing, count;
  std::uint32_t phase;
};
static_assert(sizeof(Gate) == sizeof(std::uint64_t));

Gate read_gate(const std::uint64_t* gate) {
  Gate out;
  std::memcpy(&out, gate, sizeof out);
  return out;
}
void write_gate(std::uint64_t* gate, const Gate& value) { std::memcpy(gate, &value, sizeof value); }

}  // namespace

void gate_init(std::uint64_t* gate, unsigned count, Place place) {
  me("the initialisation of a barrier", place);
  if (count == 0 || count > 0xffff)
    throw Error(Category::kernel,
                cat(place.file, ":", place.line, ": a barrier that counts ", count, " arrivals"),
                "1 to 65535");
  const auto all = static_cast<std::uint16_t>(count);
  const Gate fresh{all, all, 0};
  std::uint64_t bits = 0;
  std::memcpy(&bits, &fresh, sizeof bits);
  store_told(gate, &bits, sizeof bits, here_of(place));
}

std::uint64_t gate_arrive(std::uint64_t* gate, unsigned count, bool drops, Place place) {
  me("an arrival at a barrier", place);
  fence(Fence::block, place);
  if (!begin_update(gate, sizeof *gate, place)) return 0;
  Gate now = read_gate(gate);
  const std::uint64_t phase = now.phase;
  if (count > now.missing)
    throw Error(Category::kernel,
                cat(place.file, ":", place.line, ": more arrivals at a barrier than it counts"),
                cat(now.count, " in a phase"), {},
                "initialise it with the number of arrivals, before anybody arrives");
  now.missing = static_cast<std::uint16_t>(now.missing - count);
  if (drops) now.count = static_cast<std::uint16_t>(now.count - count);
  if (now.missing == 0) {
    now.missing = now.count;
    ++now.phase;
  }
  write_gate(gate, now);
  end_update(gate, 0, true, place);
  return phase;
}

bool gate_test(std::uint64_t* gate, std::uint64_t phase, bool by_parity, Place place) {
  ThreadContext& mine = me("a wait at a barrier", place);
  auto* const recorder = tessera::detail::recorder;
  settle();
  if (recorder != nullptr) {
    if (!Watcher()->poll(gate, sizeof *gate, here_of(place))) return true;
  }
  const Gate now = read_gate(gate);
  const bool has_ended =
      by_parity ? (now.phase & 1) != (phase & 1) : now.phase != static_cast<std::uint32_t>(phase);
  if (has_ended) {
    if (recorder != nullptr) Watcher()->after_atomic(gate, here_of(place));
    fence(Fence::block, place);
    return true;
  }
  const LetOthersRun others(mine);
  mine.block.scheduler.give_way(mine.linear, {gate, bits_at(gate, 8), here_of(place)});
  return false;
}

void gate_wait(std::uint64_t* gate, std::uint64_t phase, bool by_parity, Place place) {
  while (!gate_test(gate, phase, by_parity, place)) {
  }
}

// ---- barriers of the grid ----

namespace {
std::atomic<std::uint64_t> grid_arrivals{0};
}

void grid_barrier(Place place) {
  ThreadContext& mine = me("grid.sync()", place);
  const dim3 grid = mine.block.grid;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  const std::int64_t requested = Program::get().options.blocks;
  if (Program::get().is_checked && requested > 0 && static_cast<std::uint64_t>(requested) < blocks)
    throw Error(Category::unavailable,
                cat(place.file, ":", place.line, ": grid.sync() waits for all ", blocks, " blocks"),
                {}, cat("a check of ", requested), "leave out --blocks");
  const dim3 block = mine.block.block;
  const std::uint64_t threads = blocks * block.x * block.y * block.z;
  if (blocks > 1 && threads > std::uint64_t{tessera::detail::kMostThreadsTogether})
    throw Error(
        Category::unavailable,
        cat(place.file, ":", place.line, ": grid.sync() waits for ", threads, " threads"),
        cat("at most ", tessera::detail::kMostThreadsTogether, ", which can run at one time"), {},
        "launch fewer blocks");
  block_barrier(place);
  if (mine.linear == 0) {
    auto* const recorder = tessera::detail::recorder;
    fence(Fence::device, place);
    if (recorder != nullptr) Watcher()->before_atomic(&grid_arrivals, here_of(place));
    // Every launch completes its rounds: they end at multiples of the number of blocks.
    const std::uint64_t mine_is = grid_arrivals++;
    const std::uint64_t target = (mine_is / blocks + 1) * blocks;
    while (grid_arrivals.load() < target) {
      const std::uint64_t seen = grid_arrivals.load();
      const LetOthersRun others(mine);
      mine.block.scheduler.give_way(mine.linear, {&grid_arrivals, seen, here_of(place)});
    }
    if (recorder != nullptr) Watcher()->after_atomic(&grid_arrivals, here_of(place));
    fence(Fence::device, place);
  }
  block_barrier(place);
}

// ---- addresses ----

bool is_in_space(const void* generic, Space space) noexcept {
  if (current == nullptr) return false;
  constexpr std::ptrdiff_t kMost = 233472;
  const auto* const at = static_cast<const std::byte*>(generic);
  const bool is_shared = at >= tessera_shared_begin && at < tessera_dynamic_shared + kMost;
  switch (space) {
    case Space::shared: return is_shared;
    case Space::local: return is_on_stack(generic);
    case Space::global: return !is_shared && !is_on_stack(generic);
    default: return false;
  }
}

// ---- exchanges of a warp ----

const std::byte* exchange(const void* mine, std::size_t bytes, const char* verb, Place place) {
  ThreadContext& t = me("a matrix instruction", place);
  const auto threads = static_cast<int>(t.block.block.x * t.block.block.y * t.block.block.z);
  const int first = t.linear / 32 * 32;
  if (first + 32 > threads) {
    if (tessera::detail::recorder != nullptr)  // the thread fails here
      tessera::detail::recorder->superstep("", here_of(place));
    throw Error(Category::kernel, "a matrix instruction needs a whole warp", "32 lanes",
                cat(threads - first), "make the block a multiple of 32 threads");
  }
  t.block.slots.resize(static_cast<std::size_t>(threads) * 2 * kSlot);
  t.exchange_turn ^= 1;
  const auto slot = [&](int thread) {
    return t.block.slots.data() +
           static_cast<std::size_t>(t.exchange_turn * threads + thread) * kSlot;
  };
  std::memcpy(slot(t.linear), mine, bytes);
  const LetOthersRun others(t);
  t.block.scheduler.warp_barrier(t.linear, verb, here_of(place));
  return slot(first);
}

void exchange_in_tile(void* value, std::size_t bytes, int threads, int rank, Place place) {
  constexpr std::size_t kTileSlot = 16;
  ThreadContext& t = me("a verb of a tile", place);
  const dim3 all = t.block.block;
  t.block.tile_slots.resize(std::size_t{all.x} * all.y * all.z * kTileSlot);
  const int tile = t.linear / threads;
  const auto slot = [&](int thread) {
    return t.block.tile_slots.data() + static_cast<std::size_t>(thread) * kTileSlot;
  };
  std::memcpy(slot(t.linear), value, bytes);
  named_barrier(1 + tile, threads, place);  // 0 is that of the whole block
  std::memcpy(value, slot(tile * threads + rank), bytes);
  named_barrier(1 + tile, threads, place);
}

void tell_matrix_flops(std::int64_t flops, Place place) {
  if (const Watcher watcher; watcher) watcher->matrix_flops(flops, here_of(place));
}

void tell_empty_fragment(Place place) {
  me("a matrix function", place);
  settle();
  if (const Watcher watcher; watcher) watcher->empty_fragment(here_of(place));
}

}  // namespace tessera::plain_cuda
