// What a thread of plain CUDA knows and does: its place in the grid, barriers, verbs of the warp,
// fences. Implemented in src/plain_cuda/runtime/thread.cpp.
#pragma once

#include <cstring>
#include <type_traits>

#include "../vector_types.h"
#include "place.h"

namespace tessera::plain_cuda {

// A thread stays where it is, so the compiler may ask once.
uint3 thread_index() noexcept __attribute__((const));
uint3 block_index() noexcept __attribute__((const));
dim3 block_extents() noexcept __attribute__((const));
dim3 grid_extents() noexcept __attribute__((const));
int lane_index() noexcept __attribute__((const));

void block_barrier(Place place);
/// A barrier that also counts the threads whose predicate holds.
int block_count(bool predicate, Place place);
void named_barrier(int id, int threads, Place place);
/// Counts there and goes on.
void arrive_at_barrier(int id, int threads, Place place);
void warp_barrier(std::uint64_t mask, Place place);
enum class Fence { block, device, system };
void fence(Fence scope, Place place);
std::uint64_t active_mask(Place place);
std::uint64_t ballot(std::uint64_t mask, bool vote, Place place);
/// The `bytes` (16 at most) at `value` become those of lane `source`.
void shuffle(std::uint64_t mask, void* value, std::size_t bytes, int source, Place place);
/// Lanes of the mask whose `bits` are those of this lane.
std::uint64_t match(std::uint64_t mask, std::uint64_t bits, Place place);
/// `bits` of each lane of the mask, in the order of the lanes; returns how many.
int gather(std::uint64_t mask, std::uint64_t bits, std::uint64_t* all, Place place);
/// Ends the kernel: trap, a failed assertion.
[[noreturn]] void trap(const char* why, Place place);
/// Gives way to other threads: the thread waits for something.
void give_way(Place place);
std::int64_t clock_ticks() noexcept;

template <class T>
TESSERA_UNSEEN T shuffle_from(std::uint64_t mask, T value, int source, Place place) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
  T out = value;
  shuffle(mask, &out, sizeof(T), source, place);
  return out;
}
/// Ends the kernel if the width of a shuffle is none.
void require_width(int width, Place place);
/// The lane that __shfl_*_sync reads, or the lane's own: CUDA C++ Programming Guide, "Warp Shuffle
/// Functions".
inline int shuffle_source(int lane, int wanted, int width) {
  const int first = lane & ~(width - 1);
  return wanted < first || wanted >= first + width ? lane : wanted;
}

/// The types of threadIdx, blockIdx, blockDim and gridDim. A program may have variables of these
/// names: its uses become built_in(threadIdx), and C++ finds out which one it is.
struct ThreadIndex {
  operator uint3() const noexcept { return thread_index(); }
};
struct BlockIndex {
  operator uint3() const noexcept { return block_index(); }
};
struct BlockExtents {
  operator dim3() const noexcept { return block_extents(); }
};
struct GridExtents {
  operator dim3() const noexcept { return grid_extents(); }
};
inline uint3 built_in(const ThreadIndex&) noexcept { return thread_index(); }
inline uint3 built_in(const BlockIndex&) noexcept { return block_index(); }
inline dim3 built_in(const BlockExtents&) noexcept { return block_extents(); }
inline dim3 built_in(const GridExtents&) noexcept { return grid_extents(); }
template <class T>
constexpr T&& built_in(T&& of_program) noexcept {
  return static_cast<T&&>(of_program);
}

}  // namespace tessera::plain_cuda

inline constexpr tessera::plain_cuda::ThreadIndex threadIdx{};
inline constexpr tessera::plain_cuda::BlockIndex blockIdx{};
inline constexpr tessera::plain_cuda::BlockExtents blockDim{};
inline constexpr tessera::plain_cuda::GridExtents gridDim{};
/// 32, or 64 with --warp 64. To programs a constant, whose reads are no accesses of theirs.
extern const int warpSize __asm__("tessera_warp_size");

inline void __syncthreads(TESSERA_PLACE) { tessera::plain_cuda::block_barrier(place); }
inline int __syncthreads_count(int predicate, TESSERA_PLACE) {
  return tessera::plain_cuda::block_count(predicate != 0, place);
}
inline int __syncthreads_or(int predicate, TESSERA_PLACE) {
  return tessera::plain_cuda::block_count(predicate != 0, place) != 0;
}
inline int __syncthreads_and(int predicate, TESSERA_PLACE) {
  return tessera::plain_cuda::block_count(predicate == 0, place) == 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu, TESSERA_PLACE) {
  tessera::plain_cuda::warp_barrier(mask, place);
}
inline void __threadfence_block(TESSERA_PLACE) {
  tessera::plain_cuda::fence(tessera::plain_cuda::Fence::block, place);
}
inline void __threadfence(TESSERA_PLACE) {
  tessera::plain_cuda::fence(tessera::plain_cuda::Fence::device, place);
}
inline void __threadfence_system(TESSERA_PLACE) {
  tessera::plain_cuda::fence(tessera::plain_cuda::Fence::system, place);
}
inline unsigned __activemask(TESSERA_PLACE) {
  return static_cast<unsigned>(tessera::plain_cuda::active_mask(place));
}
inline unsigned __ballot_sync(unsigned mask, int predicate, TESSERA_PLACE) {
  return static_cast<unsigned>(tessera::plain_cuda::ballot(mask, predicate != 0, place));
}
inline int __any_sync(unsigned mask, int predicate, TESSERA_PLACE) {
  return tessera::plain_cuda::ballot(mask, predicate != 0, place) != 0;
}
inline int __all_sync(unsigned mask, int predicate, TESSERA_PLACE) {
  return tessera::plain_cuda::ballot(mask, predicate == 0, place) == 0;
}
template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = warpSize, TESSERA_PLACE) {
  tessera::plain_cuda::require_width(width, place);
  const int lane = tessera::plain_cuda::lane_index();
  const int from = (lane & ~(width - 1)) + (source & (width - 1));
  return tessera::plain_cuda::shuffle_from(mask, value, from, place);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                        TESSERA_PLACE) {
  tessera::plain_cuda::require_width(width, place);
  const int lane = tessera::plain_cuda::lane_index();
  return tessera::plain_cuda::shuffle_from(
      mask, value, tessera::plain_cuda::shuffle_source(lane, lane - static_cast<int>(delta), width),
      place);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                          TESSERA_PLACE) {
  tessera::plain_cuda::require_width(width, place);
  const int lane = tessera::plain_cuda::lane_index();
  return tessera::plain_cuda::shuffle_from(
      mask, value, tessera::plain_cuda::shuffle_source(lane, lane + static_cast<int>(delta), width),
      place);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int by, int width = warpSize, TESSERA_PLACE) {
  tessera::plain_cuda::require_width(width, place);
  // A source beyond this lane's segment keeps the value; one in an earlier segment is read.
  const int lane = tessera::plain_cuda::lane_index(), source = lane ^ by;
  const int end = (lane & ~(width - 1)) + width;
  return tessera::plain_cuda::shuffle_from(mask, value, source >= end ? lane : source, place);
}
template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, TESSERA_PLACE) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return static_cast<unsigned>(tessera::plain_cuda::match(mask, bits, place));
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* predicate, TESSERA_PLACE) {
  const bool all = __match_any_sync(mask, value, place) == mask;
  *predicate = all;
  return all ? mask : 0;
}

namespace tessera::plain_cuda {
template <class T, class Join>
T reduce(unsigned mask, T value, Join join, Place place) {
  std::uint64_t all[64];
  const int count = gather(mask, static_cast<std::uint64_t>(value), all, place);
  T out = static_cast<T>(all[0]);
  for (int i = 1; i < count; ++i) out = join(out, static_cast<T>(all[i]));
  return out;
}
}  // namespace tessera::plain_cuda

#define TESSERA_REDUCE(name, T, expression)                            \
  inline T name(unsigned mask, T value, TESSERA_PLACE) {               \
    return tessera::plain_cuda::reduce(                                \
        mask, value, [](T a, T b) -> T { return expression; }, place); \
  }
TESSERA_REDUCE(__reduce_add_sync, int, a + b)
TESSERA_REDUCE(__reduce_add_sync, unsigned, a + b)
TESSERA_REDUCE(__reduce_min_sync, int, b < a ? b : a)
TESSERA_REDUCE(__reduce_min_sync, unsigned, b < a ? b : a)
TESSERA_REDUCE(__reduce_max_sync, int, a < b ? b : a)
TESSERA_REDUCE(__reduce_max_sync, unsigned, a < b ? b : a)
TESSERA_REDUCE(__reduce_and_sync, unsigned, a& b)
TESSERA_REDUCE(__reduce_or_sync, unsigned, a | b)
TESSERA_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef TESSERA_REDUCE

inline void __trap(TESSERA_PLACE) { tessera::plain_cuda::trap("calls __trap()", place); }
inline void __brkpt() {}
inline void __nanosleep(unsigned, TESSERA_PLACE) { tessera::plain_cuda::give_way(place); }
inline long long clock64() { return tessera::plain_cuda::clock_ticks(); }
