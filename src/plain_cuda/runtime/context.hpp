// The thread of plain CUDA that the calling OS thread runs, and its block. Private to the runtime.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cluster_memory.hpp"
#include "steps.hpp"
#include "tessera/core/here.hpp"
#include "tessera/core/recorder.hpp"
#include "tessera/plain_cuda/parts/place.h"
#include "tessera/plain_cuda/vector_types.h"
#include "tessera/simt/block_scheduler.hpp"

namespace tessera::plain_cuda {

inline Here here_of(const Place& place) { return {place.file, place.line, place.column}; }

/// The source position of a call that returns to `pc`: looked up once, cached for the OS thread.
const Here& here_of_call(const void* pc);

/// The state that the threads of a block share.
struct BlockContext {
  BlockScheduler& scheduler;
  uint3 index;
  dim3 block, grid;
  int warp_size;
  dim3 cluster = dim3(1);             ///< extents, in blocks
  int rank = 0;                       ///< in the cluster
  ClusterMemory* memory = nullptr;    ///< of the cluster; null: the block is alone
  int counts[3] = {};                 ///< of block_count(), in turn
  std::vector<std::byte> slots;       ///< of exchange(): two for each thread
  std::vector<std::byte> tile_slots;  ///< of exchange_in_tile(): one for each thread
  std::vector<WarpSteps> steps;       ///< of the warps, where lanes are kept in step
  bool has_arrivals = false;          ///< has a thread arrived at a named barrier without waiting?
  std::byte barriers[2 * kNamedBarriers] = {};

  /// The number of times that a named barrier was passed.
  const void* barrier(int id, unsigned met) const {
    return &barriers[2 * static_cast<unsigned>(id) % sizeof barriers + met % 2];
  }
};

struct ThreadContext {
  BlockContext& block;
  int linear;
  uint3 index;
  std::uintptr_t stack_low;  ///< the thread's own memory: its stack
  std::size_t stack_bytes;
  int count_turn = 0, patience = 4, exchange_turn = 0;
  struct Load {
    const void* address = nullptr;
    const void* pc = nullptr;  ///< where its hook returns to
  };
  std::array<Load, 4> loads{};  ///< the latest plain ones, in turn
  unsigned load_turn = 0, volatile_reads = 0;
  bool has_returned = false;  ///< from a function, since its last barrier

  int lane() const { return linear % block.warp_size; }
};

/// The host is about to compare and swap: what it read there was only a guess, and no race.
void test_guess_of_host(const void* address);

/// Was a compare-and-swap recorded that tests this value?
bool is_guess(const Here& read);

/// Null on the host. Every call that lets other threads run restores it.
extern constinit thread_local ThreadContext* current;

/// The recorder, or null if nothing is watched. During its lifetime, the running code is the
/// runtime's own: inline functions of the standard library may be the copies that the program's
/// file compiled.
class Watcher {
 public:
  Watcher() : mine_(std::exchange(current, nullptr)) {}
  ~Watcher() { current = mine_; }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  explicit operator bool() const { return tessera::detail::recorder != nullptr; }
  tessera::detail::Recorder* operator->() const { return tessera::detail::recorder; }

 private:
  ThreadContext* const mine_;
};

/// The last write of the OS thread, recorded once its value is stored, or its last volatile read,
/// recorded once it is done: both at the next event.
struct PendingAccess {
  const void* address = nullptr;  ///< null: there is none
  std::size_t bytes = 0;
  Here here;
  bool is_read = false;
};
extern constinit thread_local PendingAccess pending_access;
void tell_pending_access();
/// Call it before the thread's next event.
inline void settle() {
  if (pending_access.address != nullptr) tell_pending_access();
}

/// Memory that the running kernel may touch: an allocation, a variable, its shared memory.
struct KernelMemory {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;  ///< 0: none
};
KernelMemory memory_at(std::uintptr_t address);

/// Ends the running thread of a kernel: after an impossible access, or where PTX says `exit`.
struct Abandon {
  bool is_exit = false;
};

}  // namespace tessera::plain_cuda
