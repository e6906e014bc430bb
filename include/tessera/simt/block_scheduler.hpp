// Runs the threads of one block on one core: every thread is a fiber, barrier() switches to the
// next one. A thread that never waits runs as a plain function call. A barrier that not all threads
// reach, an exception and a stack overflow end the block with an Error that names the lines. A
// thread that polls an atomic yields to the others, and a block whose threads all poll for a value
// that no running thread can store is ended as well, so nothing hangs. With an observer, other
// faults end the block too.
//
// Called by launch.hpp and by the CPU thread's context; kernels see neither.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tessera/core/here.hpp"
#include "tessera/simt/block_observer.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/order.hpp"

namespace tessera {

/// The stack of a thread, unless its kernel declares another size; and the largest that a kernel
/// may declare.
inline constexpr std::size_t kStackBytes = 64 * 1024;
inline constexpr std::size_t kMaxStackBytes = 16 * 1024 * 1024;

class AsyncObserver;
class CpuAsync;
namespace detail {
class Residents;
}

/// The named barriers of a block (PTX bar.sync): ids below this.
inline constexpr int kNamedBarriers = 16;

/// An atomic access that read a value and did not change it.
struct Poll {
  const void* address = nullptr;
  std::uint64_t bits = 0;  ///< of the value
  Here here;
};

/// The operands and results of one lane in a warp verb with a mask (shuffle, vote, ...).
struct Collective {
  std::uint64_t mask = 0;
  const char* verb = nullptr;  ///< the verb's name in reports; null: a warp barrier
  std::byte value[16] = {};    ///< in: this lane's value; out: that of lane `source`
  int source = -1;             ///< the lane is outside the mask: the value stays
  bool vote = false;
  std::uint64_t votes = 0;  ///< out: bit i is set where lane i of the mask voted true
  /// Lanes of the mask that have ended, or that the warp does not have, are not waited for.
  bool ended_count_as_come = false;
  bool has_value = false;  ///< out: lane `source` took part
};

/// The arguments of the run of one block.
struct BlockTask {
  using Body = void (*)(void* closure, int thread);  ///< runs one thread from beginning to end

  const char* kernel_name = "kernel";
  Position block;
  Dim3 block_dim;
  int warp_size = kWarpSize;  ///< 32 or 64
  ThreadOrder order = ThreadOrder::forward;
  std::uint64_t seed = 0;
  std::size_t shared_bytes = 0;
  std::size_t stack_bytes = kStackBytes;  ///< of each thread
  Body body = nullptr;
  void* closure = nullptr;
  BlockObserver* observer = nullptr;       ///< null: nobody watches
  AsyncObserver* async = nullptr;          ///< the same, of the asynchronous operations
  detail::Residents* residents = nullptr;  ///< the other blocks; null: there are none
};

class BlockScheduler {
 public:
  BlockScheduler();
  ~BlockScheduler();
  BlockScheduler(const BlockScheduler&) = delete;
  BlockScheduler& operator=(const BlockScheduler&) = delete;

  /// Runs all threads of the block. Throws Error(kernel).
  void run(const BlockTask& task);
  /// Runs the blocks of a cluster, each with its task, in the order of their ranks: while one waits
  /// the others run. Throws the error of the first block that fails.
  static void run_together(std::span<BlockScheduler* const> blocks,
                           std::span<const BlockTask> tasks);
  /// Ends a block that run() is running on another OS thread, wherever its kernel is: run() then
  /// throws Error(kernel). Nothing happens where the kernel is not running at this moment.
  void stop();

  /// Returns when all threads of the block have called it at the same place with the same name.
  /// `name` is the superstep's, or null.
  void barrier(int thread, const char* name, Here here);
  /// The same for the lanes of the calling thread's warp; `name` is the verb's that waits, or null.
  void warp_barrier(int thread, const char* name, Here here);
  /// Returns when all lanes that the mask names have called it at the same place with that mask.
  void collect(int thread, Collective& mine, Here here);
  /// Named barrier `id`: returns when `count` threads, whole warps, have arrived, with the number
  /// of times that it was passed before.
  unsigned named_barrier(int thread, int id, int count, Here here);
  /// Arrives at a named barrier without waiting.
  void arrive(int thread, int id, int count, Here here);
  /// How often a named barrier was passed.
  unsigned times_met(int id) const;
  /// The rank of the block in its cluster.
  int cluster_rank() const;
  /// The lanes of the warp that arrive here together: no other thread of the block can run before
  /// them.
  std::uint64_t active_mask(int thread, Here here);
  /// The thread has polled without success: yields to the other threads and to other blocks.
  void give_way(int thread, const Poll& poll);
  /// Lets the next thread of the same warp that can run do so before this one continues. False: the
  /// block has failed, and no thread was run.
  bool yield(int thread);
  /// Storage of the block's shared memory, 1024-byte aligned, filled with all-ones bytes (NaN) when
  /// a block starts. Throws Error(kernel) where it is smaller than `bytes`.
  void* shared_memory(std::size_t bytes);
  /// Scratch in which the lanes of a warp exchange values: a slot of 16 bytes for each lane, twice,
  /// used in turn.
  std::byte* exchange(int warp, int turn);
  /// Scratch of a warp, for matrix units: throws Error(kernel) where the warp is partial.
  std::byte* warp_scratch(int warp);
  static constexpr int warp_scratch_bytes = 6144;  ///< the operands of two matrix instructions

 private:
  friend CpuAsync;
  struct State;
  struct Cluster;
  State& state() { return *state_; }
  std::unique_ptr<State> state_;
};

namespace detail {
/// A scheduler from a process-wide pool (its stacks are expensive), returned at the end of the
/// scope.
class BorrowedScheduler {
 public:
  BorrowedScheduler();
  ~BorrowedScheduler();
  BorrowedScheduler(const BorrowedScheduler&) = delete;
  BorrowedScheduler& operator=(const BorrowedScheduler&) = delete;
  BlockScheduler& operator*() const { return *scheduler_; }

 private:
  std::unique_ptr<BlockScheduler> scheduler_;
};
}  // namespace detail

}  // namespace tessera
