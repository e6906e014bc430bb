// The thread's context `t` in GPU code that Clang makes, for OpenCL devices and AMD GPUs: the same
// members as CpuThread. OpenCL has no warps that a program could rely on: kernels that exchange
// values between lanes do not compile for it, with a sentence that says so.
#pragma once

#include <cstring>
#include <type_traits>

#include "tessera/core/here.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/distance_shuffles.hpp"
#include "tessera/simt/gpu_builtins.hpp"

#if defined(__HIP__)  // for GPUs alone

namespace tessera {

/// The context of a kernel with this block and this warp size.
template <Dim3 Block, int Warp>
class GpuThread : public detail::DistanceShuffles<GpuThread<Block, Warp>> {
  // Depends on T, so that only kernels that use warps fail to compile without them.
  template <class T>
  static constexpr bool kHasWarpsFor = detail::kHasWarps && sizeof(T) > 0;

 public:
  static constexpr Dim3 block_dim = Block;
  static constexpr int warp_size = Warp;
  /// PoCL 3.1 miscompiles barriers in branches, even if all threads take the branch.
  static constexpr bool barriers_stay_outside = !detail::kHasWarps;
  Position thread, block;
  Dim3 grid_dim;
  int lane, warp;

  /// In a grid of `grid` blocks, with this shared storage.
  __device__ GpuThread(Dim3 grid, void* shared) : grid_dim(grid), shared_(shared) {
    thread = {detail::local_id(0), Block.y == 1 ? 0 : detail::local_id(1),
              Block.z == 1 ? 0 : detail::local_id(2), 0};
    thread.linear = thread.x + Block.x * (thread.y + Block.y * thread.z);
    constexpr int threads = static_cast<int>(volume(Block));
    __builtin_assume(thread.linear >= 0 && thread.linear < threads);
    block = {detail::group_id(0), detail::group_id(1), detail::group_id(2), 0};
    block.linear = block.x + grid_dim.x * (block.y + grid_dim.y * block.z);
    lane = thread.linear % Warp;
    warp = thread.linear / Warp;
  }

  __device__ void barrier(Here = {}) { detail::block_barrier(); }
  template <class Body>
  __device__ void superstep(const char*, Body&& body, Here = {}) {
    body();
    detail::block_barrier();
  }
  __device__ void* shared_memory(std::size_t) { return shared_; }

  __device__ int lanes() const {
    constexpr int threads = static_cast<int>(volume(Block));
    return threads - warp * Warp < Warp ? threads - warp * Warp : Warp;
  }
  template <class H = Here>
  __device__ void warp_barrier(H = {}) {
    require_warps<H>();
    detail::wave_barrier();
  }
  template <class T>
  __device__ T shuffle(T value, int source, Here = {}) {
    return exchange(value, source < 0 || source >= lanes() ? lane : source);
  }
  using LaneMask = std::conditional_t<Warp == 64, unsigned long, unsigned>;
  template <class H = Here>
  __device__ LaneMask ballot(bool vote, H = {}) {
    require_warps<H>();
    // A wave of 64 lanes holds two warps of 32.
    return static_cast<LaneMask>(detail::wave_ballot(vote) >> (detail::wave_lane() / Warp * Warp));
  }
  template <class H = Here>
  __device__ bool any(bool vote, H = {}) {
    return ballot<H>(vote) != 0;
  }
  template <class H = Here>
  __device__ bool all(bool vote, H = {}) {
    return ballot<H>(!vote) == 0;
  }

  __device__ void fence(Here = {}) { detail::device_fence(); }
  template <class T>
  __device__ T atomic_add(T& target, std::type_identity_t<T> value, Here = {}) {
    if constexpr (std::is_integral_v<T>)
      return __atomic_fetch_add(&target, value, __ATOMIC_RELAXED);
    else return update(target, [value](T old) { return old + value; });
  }
  template <class T>
  __device__ T atomic_max(T& target, std::type_identity_t<T> value, Here = {}) {
    return __atomic_fetch_max(&target, value, __ATOMIC_RELAXED);
  }
  template <class T>
  __device__ T atomic_min(T& target, std::type_identity_t<T> value, Here = {}) {
    return __atomic_fetch_min(&target, value, __ATOMIC_RELAXED);
  }
  template <class T>
  __device__ T atomic_exchange(T& target, std::type_identity_t<T> value, Here = {}) {
    return update(target, [value](T) { return value; });
  }
  template <class T>
  __device__ T atomic_compare_exchange(T& target, std::type_identity_t<T> expected,
                                       std::type_identity_t<T> desired, Here = {}) {
    __atomic_compare_exchange(&target, &expected, &desired, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
    return expected;
  }
  template <class T>
  __device__ std::remove_const_t<T> atomic_load(T& target, Here = {}) {
    std::remove_const_t<T> value;
    __atomic_load(&target, &value, __ATOMIC_RELAXED);
    return value;
  }
  template <class T>
  __device__ void atomic_store(T& target, std::type_identity_t<T> value, Here = {}) {
    __atomic_store(&target, &value, __ATOMIC_RELAXED);
  }

  /// Copies are done at once.
  __device__ void commit_async(Here = {}) {}
  template <int Pending>
  __device__ void wait_async(Here = {}) {}

 private:
  template <class T>
  static constexpr void require_warps() {
    static_assert(kHasWarpsFor<T>,
                  "this kernel exchanges values between the lanes of a warp, which OpenCL does not "
                  "have: use shared storage and barriers, or run it on cpu, checked or cuda");
  }
  template <class T>
  __device__ T exchange(T value, int source) {
    require_warps<T>();
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16,
                  "a shuffle moves at most 16 plain bytes");
    int words[(sizeof(T) + 3) / 4] = {};
    std::memcpy(words, &value, sizeof(T));
    const int from = detail::wave_lane() / Warp * Warp + source;
    for (auto& word : words) word = detail::from_wave_lane(word, from);
    std::memcpy(&value, words, sizeof(T));
    return value;
  }
  template <class T, class Change>
  __device__ static T update(T& target, Change change) {
    T old;
    __atomic_load(&target, &old, __ATOMIC_RELAXED);
    T now = change(old);
    while (
        !__atomic_compare_exchange(&target, &old, &now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      now = change(old);
    return old;
  }

  void* shared_;
};

}  // namespace tessera

#endif
