// The thread's context `t` on the CPU engine: its indices, and the verbs of its block and warp. The
// CUDA engine has a context with the same members (cuda_thread.cuh); a kernel is
// written against both.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tessera/core/here.hpp"
#include "tessera/core/recorder.hpp"
#include "tessera/simt/block_scheduler.hpp"
#include "tessera/simt/dim3.hpp"

namespace tessera {

/// Everything but the extents of the block, which a kernel may fix at compile time. WarpSize: 32,
/// or 64.
template <int WarpSize>
class TESSERA_CHECKED_SYMBOL CpuThreadBase {
  template <class T>
  static T& element(T& target) {
    return target;
  }
  template <class T>
  static T& element(Recorded<T>& target) {
    return target.atomic();
  }

 public:
  static constexpr int warp_size = WarpSize;
  Position thread;  ///< in the block; converts to the linear number
  Position block;   ///< in the grid
  Dim3 grid_dim;
  int lane, warp;    ///< linear thread number modulo and divided by warp_size
  int mma_turn = 0;  ///< which half of warp_scratch() the next matrix instruction uses

  CpuThreadBase(BlockScheduler& scheduler, int linear, const Position& block_, Dim3 block_dim,
                Dim3 grid_dim_)
      : thread(position_of(linear, block_dim)),
        block(block_),
        grid_dim(grid_dim_),
        lane(linear % WarpSize),
        warp(linear / WarpSize),
        block_threads_(static_cast<int>(volume(block_dim))),
        scheduler_(&scheduler) {}

  /// A barrier of the block. Afterwards each thread sees what the others wrote before.
  void barrier(Here here = Here::current()) { scheduler_->barrier(thread.linear, nullptr, here); }
  /// The lanes of this warp wait for each other.
  void warp_barrier(Here here = Here::current()) {
    scheduler_->warp_barrier(thread.linear, nullptr, here);
  }
  /// The same for a verb of the whole warp; `verb` is its name in reports.
  void meet(const char* verb, Here here) { scheduler_->warp_barrier(thread.linear, verb, here); }
  /// Runs `body`, then a barrier with this name. Reports speak of supersteps by name.
  template <class Body>
  void superstep(const char* name, Body&& body, Here here = Here::current()) {
#if TESSERA_CHECK
    if (detail::recorder != nullptr) detail::recorder->superstep(name, here);
#endif
    std::forward<Body>(body)();
    scheduler_->barrier(thread.linear, name, here);
  }

  /// `bytes` of the block's shared storage; `shared<S>(t)` gives it a type. Throws Error(kernel)
  /// where the block has fewer.
  void* shared_memory(std::size_t bytes) { return scheduler_->shared_memory(bytes); }
  /// Scratch memory shared by the lanes of this warp, for matrix units on the CPU. Throws
  /// Error(kernel) where the
  /// warp is partial.
  static constexpr int scratch_bytes = BlockScheduler::warp_scratch_bytes;
  std::byte* warp_scratch() { return scheduler_->warp_scratch(warp); }

  /// Gates, bulk copies and matrix units (simt/gate.hpp, ops/bulk.hpp, ops/warpgroup.hpp).
  template <class Async = CpuAsync>
  Async async() {
    return Async(*scheduler_, thread.linear);
  }
  /// Four warps together.
  int warpgroup() const { return warp / 4; }
  /// The rank of this block in its cluster.
  int cluster_rank() const { return scheduler_->cluster_rank(); }

  /// Lanes of this warp: warp_size, fewer in the last warp of a block that is no multiple.
  int lanes() const {
    const int rest = block_threads_ - warp * WarpSize;
    return rest < WarpSize ? rest : WarpSize;
  }
  /// The value that lane `source` passed. A source outside the warp gives this lane's own value,
  /// which the checker reports.
  template <class T>
  T shuffle(T value, int source, [[maybe_unused]] Here here = Here::current()) {
#if TESSERA_CHECK
    if (detail::recorder != nullptr && (source < 0 || source >= lanes()))
      detail::recorder->missing_lane(source, lanes(), here);
#endif
    return exchange(value, source, here);
  }
  /// Past either end of a full warp this lane keeps its own value, as reductions expect.
  template <class T>
  T shuffle_down(T value, int delta, Here here = Here::current()) {
    const int source = lane + delta;
    return source < 0 || source >= WarpSize ? exchange(value, lane, here)
                                            : shuffle(value, source, here);
  }
  template <class T>
  T shuffle_up(T value, int delta, Here here = Here::current()) {
    return shuffle_down(value, -delta, here);
  }
  template <class T>
  T shuffle_xor(T value, int mask, Here here = Here::current()) {
    return shuffle(value, lane ^ mask, here);
  }
  /// One bit for each lane.
  using Ballot = std::conditional_t<WarpSize == 64, std::uint64_t, unsigned>;
  /// Bit i is set where lane i passed true.
  Ballot ballot(bool vote, Here here = Here::current()) {
    std::byte* slots = scheduler_->exchange(warp, turn_);
    turn_ ^= 1;
    slots[lane * 16] = static_cast<std::byte>(vote ? 1 : 0);
    scheduler_->warp_barrier(thread.linear, "ballot", here);
    Ballot mask = 0;
    for (int i = 0; i < lanes(); ++i) mask |= static_cast<Ballot>(slots[i * 16]) << i;
    return mask;
  }
  bool any(bool vote, Here here = Here::current()) { return ballot(vote, here) != 0; }
  bool all(bool vote, Here here = Here::current()) { return ballot(!vote, here) == 0; }

  /// Lanes of the warp, one bit for each.
  using LaneMask = Ballot;
  /// A barrier of the lanes in `mask`; each of them must call it, with the same mask.
  void warp_barrier(LaneMask mask, Here here = Here::current()) {
    Collective mine{.mask = mask};
    collect(mine, here);
  }
  /// The value that lane `source` of `mask` passed. A source outside `mask` gives this lane's
  /// own value.
  template <class T>
  T shuffle(T value, int source, LaneMask mask, Here here = Here::current()) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16,
                  "a shuffle moves at most 16 plain bytes");
    Collective mine{.mask = mask, .verb = "shuffle", .source = source};
    std::memcpy(mine.value, &value, sizeof(T));
    collect(mine, here);
    std::memcpy(&value, mine.value, sizeof(T));
    return value;
  }
  template <class T>
  T shuffle_down(T value, int delta, LaneMask mask, Here here = Here::current()) {
    return shuffle(value, lane + delta, mask, here);
  }
  template <class T>
  T shuffle_up(T value, int delta, LaneMask mask, Here here = Here::current()) {
    return shuffle(value, lane - delta, mask, here);
  }
  template <class T>
  T shuffle_xor(T value, int by, LaneMask mask, Here here = Here::current()) {
    return shuffle(value, lane ^ by, mask, here);
  }
  /// Bit i is set where lane i of the mask passed true.
  Ballot ballot(bool vote, LaneMask mask, Here here = Here::current()) {
    Collective mine{.mask = mask, .verb = "ballot", .vote = vote};
    collect(mine, here);
    return static_cast<Ballot>(mine.votes);
  }
  bool any(bool vote, LaneMask mask, Here here = Here::current()) {
    return ballot(vote, mask, here) != 0;
  }
  bool all(bool vote, LaneMask mask, Here here = Here::current()) {
    return ballot(!vote, mask, here) == 0;
  }
  /// The lanes that arrive here together with this one. A GPU guarantees only that this lane is
  /// among them.
  LaneMask active_mask(Here here = Here::current()) {
    return static_cast<LaneMask>(scheduler_->active_mask(thread.linear, here));
  }
  /// Named barrier `id`, 0 to 15: waits until `threads` threads, whole warps, have arrived.
  void barrier(int id, int threads, Here here = Here::current()) {
    scheduler_->named_barrier(thread.linear, id, threads, here);
    follow(here);
  }

  /// A memory fence of the device: this thread's accesses before it are ordered before those after
  /// it, for every thread. With a fence before an atomic update and one after the atomic read of
  /// it, memory can be passed between threads.
  void fence([[maybe_unused]] Here here = Here::current()) {
#if TESSERA_CHECK
    if (detail::recorder != nullptr) detail::recorder->fence(here);
#endif
#if !TESSERA_THREADS_SANITIZED  // it ignores fences: the atomics order there
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }

  /// The target of an atomic update: a T& or, where accesses are recorded, an element of a tensor.
  template <class Target>
  using Updated = std::remove_reference_t<decltype(element(std::declval<Target&>()))>;

  /// Atomic updates of one element in shared or global memory; each returns the value before.
  /// Relaxed order. A thread that reads the same value again and again yields to the others.
  template <class Target, class T = Updated<Target>>
  T atomic_add(Target&& target, std::type_identity_t<T> value, Here here = Here::current()) {
    return update(element(target), here, [&](std::atomic_ref<T> at) {
      return Found<T>{at.fetch_add(value, kOrder), value != T{}};
    });
  }
  template <class Target, class T = Updated<Target>>
  T atomic_max(Target&& target, std::type_identity_t<T> value, Here here = Here::current()) {
    return replace(element(target), here, [&](T old) { return old < value ? value : old; });
  }
  template <class Target, class T = Updated<Target>>
  T atomic_min(Target&& target, std::type_identity_t<T> value, Here here = Here::current()) {
    return replace(element(target), here, [&](T old) { return value < old ? value : old; });
  }
  template <class Target, class T = Updated<Target>>
  T atomic_exchange(Target&& target, std::type_identity_t<T> value, Here here = Here::current()) {
    return update(element(target), here, [&](std::atomic_ref<T> at) {
      const T old = at.exchange(value, kOrder);
      return Found<T>{old, old != value};
    });
  }
  /// Stores `desired` if the element equals `expected`; returns the value before.
  template <class Target, class T = Updated<Target>>
  T atomic_compare_exchange(Target&& target, std::type_identity_t<T> expected,
                            std::type_identity_t<T> desired, Here here = Here::current()) {
    return update(element(target), here, [&](std::atomic_ref<T> at) {
      T old = expected;
      const bool stored = at.compare_exchange_strong(old, desired, kOrder);
      return Found<T>{old, stored && old != desired};
    });
  }
  /// The value of an element that others update atomically: what a loop that waits for it reads.
  template <class Target, class T = std::remove_const_t<Updated<Target>>>
  T atomic_load(Target&& target, Here here = Here::current()) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an atomic load moves 4 or 8 bytes");
    T& at = const_cast<T&>(polled(target));
    const T value = std::atomic_ref<T>(at).load(kLoadOrder);
    acquired(&at, here);
    poll(&at, value, here);
    return value;
  }
  template <class Target, class T = Updated<Target>>
  void atomic_store(Target&& target, std::type_identity_t<T> value, Here here = Here::current()) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an atomic store moves 4 or 8 bytes");
    T& at = element(target);
    released(&at, here);
    std::atomic_ref<T>(at).store(value, kStoreOrder);
  }

  /// Asynchronous copies are plain copies here: already done when they are issued.
  void commit_async([[maybe_unused]] Here here = Here::current()) {
#if TESSERA_CHECK
    if (detail::recorder != nullptr) detail::recorder->commit(here);
#endif
  }
  template <int Pending>
  void wait_async([[maybe_unused]] Here here = Here::current()) {
#if TESSERA_CHECK
    if (detail::recorder != nullptr) detail::recorder->wait(Pending, here);
#endif
  }

 private:
  template <class T>
  T exchange(T value, int source, Here here) {
    static_assert(detail::kIsPlain<T> && sizeof(T) <= 16, "a shuffle moves at most 16 plain bytes");
    std::byte* slots = scheduler_->exchange(warp, turn_);
    turn_ ^= 1;  // the other half may still be read by a slower lane
    std::memcpy(slots + lane * 16, &value, sizeof(T));
    scheduler_->warp_barrier(thread.linear, "shuffle", here);
    if (source >= 0 && source < lanes())
      std::memcpy(static_cast<void*>(&value), slots + source * 16, sizeof(T));
    return value;
  }
#if TESSERA_THREADS_SANITIZED
  static constexpr auto kOrder = std::memory_order_acq_rel, kLoadOrder = std::memory_order_acquire,
                        kStoreOrder = std::memory_order_release;
#else
  static constexpr auto kOrder = std::memory_order_relaxed, kLoadOrder = kOrder,
                        kStoreOrder = kOrder;
#endif
  /// Polls before a thread yields; few under the checker, where each is slow.
  static int patience() {
#if TESSERA_CHECK
    if (detail::recorder != nullptr) return 4;
#endif
    return 256;
  }

  template <class T>
  struct Found {
    T old;
    bool has_changed;
  };
  /// One atomic update: act(atomic_ref) returns the value it read and whether it changed it.
  template <class T, class Act>
  T update(T& target, Here here, Act&& act) {
    released(&target, here);
    const Found<T> found = act(std::atomic_ref<T>(target));
    acquired(&target, here);
    if (!found.has_changed) poll(&target, found.old, here);
    return found.old;
  }
  template <class T, class Change>
  T replace(T& target, Here here, Change change) {
    return update(target, here, [&](std::atomic_ref<T> at) {
      T old = at.load(kLoadOrder);
      for (;;) {
        const T next = change(old);
        if (next == old) return Found<T>{old, false};
        if (at.compare_exchange_weak(old, next, kOrder)) return Found<T>{old, true};
      }
    });
  }
  template <class T>
  static T& polled(T& target) {
    return target;
  }
  template <class T>
  static T& polled(Recorded<T>& target) {
    return target.polled();
  }
  template <class T>
  static T& polled(Recorded<T>&& target) {
    return target.polled();
  }
  template <class T>
  void poll(const T* address, T value, Here here) {
    if (--patience_ > 0) [[likely]]
      return;
    patience_ = patience();
    scheduler_->give_way(thread.linear, {address, detail::bits_of(value), here});
  }
  void collect(Collective& mine, Here here) {
    scheduler_->collect(thread.linear, mine, here);
    if (mine.verb == nullptr) follow(here);
  }
  /// Events for the checker: this thread has passed a barrier; is about to update an atomic; has
  /// read it.
  void follow([[maybe_unused]] Here here) {
#if TESSERA_CHECK
    if (detail::recorder != nullptr) detail::recorder->follow(here);
#endif
  }
  void released([[maybe_unused]] const void* address, [[maybe_unused]] Here here) {
#if TESSERA_CHECK
    if (detail::recorder != nullptr) detail::recorder->before_atomic(address, here);
#endif
  }
  void acquired([[maybe_unused]] const void* address, [[maybe_unused]] Here here) {
#if TESSERA_CHECK
    if (detail::recorder != nullptr) detail::recorder->after_atomic(address, here);
#endif
  }

  int block_threads_;
  BlockScheduler* scheduler_;
  int turn_ = 0;
  int patience_ = patience();
};

/// The context of a kernel that declares its block size: `t.block_dim` is a constant.
template <Dim3 Block, int WarpSize = kWarpSize>
class TESSERA_CHECKED_SYMBOL CpuThread : public CpuThreadBase<WarpSize> {
 public:
  static constexpr Dim3 block_dim = Block;
  CpuThread(BlockScheduler& scheduler, int linear, const Position& block_, Dim3, Dim3 grid)
      : CpuThreadBase<WarpSize>(scheduler, linear, block_, Block, grid) {}
};

/// The context of a kernel that runs with any block size.
template <int WarpSize>
class CpuThread<Dim3{0, 0, 0}, WarpSize> : public CpuThreadBase<WarpSize> {
 public:
  Dim3 block_dim;
  CpuThread(BlockScheduler& scheduler, int linear, const Position& block_, Dim3 block_dim_,
            Dim3 grid)
      : CpuThreadBase<WarpSize>(scheduler, linear, block_, block_dim_, grid),
        block_dim(block_dim_) {}
};

}  // namespace tessera
