// Cooperative groups: CUDA C++ Programming Guide, "Cooperative Groups". Blocks, tiles of a warp,
// coalesced threads, clusters and grids.
#pragma once
#include "parts/letters_begin.h"
// Up to letters_end.h a program's macros of one capital letter do not matter.

#include <bit>
#include <cstring>
#include <type_traits>

#include "cuda_runtime.h"
#include "parts/async.h"
#include "parts/clusters.h"

namespace cooperative_groups {

namespace details {

using tessera::plain_cuda::Place;

/// Of a warp of 64, the half that this lane is in.
inline int half_of_warp() { return tessera::plain_cuda::lane_index() & ~31; }
inline unsigned lane() { return static_cast<unsigned>(tessera::plain_cuda::lane_index()) & 31u; }
inline unsigned lanes_before() { return (1u << lane()) - 1u; }
inline unsigned thread_in_block() {
  const uint3 t = threadIdx;
  const dim3 d = blockDim;
  return (t.z * d.y + t.y) * d.x + t.x;
}
inline unsigned volume(dim3 d) { return d.x * d.y * d.z; }

/// Any type that bits can be copied of, from a lane of the warp.
template <class T>
TESSERA_UNSEEN T shuffle(unsigned mask, const T& value, int source, Place place) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr std::size_t kPiece = 16;
  unsigned char bytes[(sizeof(T) + kPiece - 1) / kPiece * kPiece];
  std::memcpy(bytes, &value, sizeof(T));
  for (std::size_t at = 0; at < sizeof(T); at += kPiece)
    tessera::plain_cuda::shuffle(mask, bytes + at,
                                 sizeof(T) - at < kPiece ? sizeof(T) - at : kPiece,
                                 half_of_warp() + source, place);
  T out = value;
  std::memcpy(&out, bytes, sizeof(T));
  return out;
}

inline unsigned ballot(unsigned mask, bool vote, Place place) {
  return static_cast<unsigned>(tessera::plain_cuda::ballot(mask, vote, place) >> half_of_warp()) &
         mask;
}

/// The lane of the rank-th bit.
inline int lane_of_rank(unsigned mask, unsigned rank) {
  for (; rank > 0; --rank) mask &= mask - 1;
  return std::countr_zero(mask);
}

}  // namespace details

struct thread_group;

/// Lanes of a warp, by their mask.
class lane_group {
 public:
  explicit lane_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

  unsigned size() const { return static_cast<unsigned>(std::popcount(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return static_cast<unsigned>(std::popcount(mask_ & details::lanes_before()));
  }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }
  void sync(TESSERA_PLACE) const { tessera::plain_cuda::warp_barrier(mask_, place); }

  template <class T>
  T shfl(T value, int rank, TESSERA_PLACE) const {
    return details::shuffle(mask_, value, lane_at(static_cast<unsigned>(rank) % size()), place);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, TESSERA_PLACE) const {
    const unsigned mine = thread_rank();
    return details::shuffle(mask_, value, lane_at(mine < delta ? mine : mine - delta), place);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, TESSERA_PLACE) const {
    const unsigned mine = thread_rank();
    return details::shuffle(mask_, value, lane_at(mine + delta < size() ? mine + delta : mine),
                            place);
  }
  int any(int predicate, TESSERA_PLACE) const {
    return details::ballot(mask_, predicate != 0, place) != 0;
  }
  int all(int predicate, TESSERA_PLACE) const {
    return details::ballot(mask_, predicate == 0, place) == 0;
  }
  /// Bits by rank.
  unsigned ballot(int predicate, TESSERA_PLACE) const {
    return by_rank(details::ballot(mask_, predicate != 0, place));
  }
  template <class T>
  unsigned match_any(T value, TESSERA_PLACE) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return by_rank(static_cast<unsigned>(tessera::plain_cuda::match(mask_, bits, place) >>
                                         details::half_of_warp()) &
                   mask_);
  }
  template <class T>
  unsigned match_all(T value, int& predicate, TESSERA_PLACE) const {
    const unsigned alike = match_any(value, place);
    predicate = static_cast<unsigned>(std::popcount(alike)) == size();
    return predicate != 0 ? alike : 0;
  }
  unsigned mask() const { return mask_; }

 protected:
  int lane_at(unsigned rank) const { return details::lane_of_rank(mask_, rank); }
  unsigned by_rank(unsigned lanes) const {
    unsigned out = 0, rank = 0;
    for (unsigned rest = mask_; rest != 0; rest &= rest - 1, ++rank)
      if ((lanes & rest & (~rest + 1)) != 0) out |= 1u << rank;
    return out;
  }
  unsigned mask_, meta_rank_, meta_size_;
};

class coalesced_group : public lane_group {
 public:
  using lane_group::lane_group;
};

class thread_block {
 public:
  static void sync(TESSERA_PLACE) { tessera::plain_cuda::block_barrier(place); }
  struct arrival_token {};
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(arrival_token&&, TESSERA_PLACE) {
    tessera::plain_cuda::block_barrier(place);
  }
  static unsigned thread_rank() { return details::thread_in_block(); }
  static unsigned size() { return details::volume(blockDim); }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

/// What tiles of more than 32 threads exchange values through on a GPU.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
  alignas(16) unsigned char bytes[(MaxBlockSize + 31) / 32 * 16];
};
template <unsigned MaxBlockSize>
inline thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
  return {};
}

class grid_group {
 public:
  void sync(TESSERA_PLACE) const { tessera::plain_cuda::grid_barrier(place); }
  bool is_valid() const { return true; }
  unsigned long long block_rank() const {
    const uint3 b = blockIdx;
    const dim3 g = gridDim;
    return (static_cast<unsigned long long>(b.z) * g.y + b.y) * g.x + b.x;
  }
  unsigned long long num_blocks() const {
    const dim3 g = gridDim;
    return static_cast<unsigned long long>(g.x) * g.y * g.z;
  }
  unsigned long long thread_rank() const {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  unsigned long long size() const { return num_blocks() * thread_block::size(); }
  unsigned long long num_threads() const { return size(); }
  dim3 group_dim() const { return gridDim; }
  dim3 dim_blocks() const { return gridDim; }
  dim3 block_index() const { return blockIdx; }
};
inline grid_group this_grid() { return {}; }

/// The blocks that the launch has put together.
class cluster_group {
 public:
  static void sync(TESSERA_PLACE) {
    tessera::plain_cuda::cluster_arrive(place);
    tessera::plain_cuda::cluster_wait(place);
  }
  struct arrival_token {};
  static arrival_token barrier_arrive(TESSERA_PLACE) {
    tessera::plain_cuda::cluster_arrive(place);
    return {};
  }
  static void barrier_wait(TESSERA_PLACE) { tessera::plain_cuda::cluster_wait(place); }
  static void barrier_wait(arrival_token&&, TESSERA_PLACE) {
    tessera::plain_cuda::cluster_wait(place);
  }
  static dim3 dim_blocks() { return tessera::plain_cuda::cluster_extents(); }
  static unsigned num_blocks() { return details::volume(dim_blocks()); }
  static unsigned block_rank() { return tessera::plain_cuda::cluster_block_rank(); }
  static dim3 block_index() {
    const dim3 d = dim_blocks();
    const unsigned rank = block_rank();
    return dim3(rank % d.x, rank / d.x % d.y, rank / (d.x * d.y));
  }
  static unsigned num_threads() { return num_blocks() * thread_block::size(); }
  static unsigned size() { return num_threads(); }
  static unsigned thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static dim3 dim_threads() {
    const dim3 d = dim_blocks(), b = blockDim;
    return dim3(d.x * b.x, d.y * b.y, d.z * b.z);
  }
  static dim3 thread_index() {
    const dim3 at = block_index(), b = blockDim;
    const uint3 t = threadIdx;
    return dim3(at.x * b.x + t.x, at.y * b.y + t.y, at.z * b.z + t.z);
  }
  template <class T>
  static T* map_shared_rank(T* at, int rank, TESSERA_PLACE) {
    return static_cast<T*>(
        const_cast<void*>(static_cast<const volatile void*>(tessera::plain_cuda::map_shared(
            const_cast<const void*>(static_cast<const volatile void*>(at)),
            static_cast<unsigned>(rank), place))));
  }
  static unsigned query_shared_rank(const void* at, TESSERA_PLACE) {
    return tessera::plain_cuda::shared_rank(at, place);
  }
};
inline cluster_group this_cluster() { return {}; }

/// A tile of 1 to 32 threads, a power of two.
template <unsigned Size, class Parent = void>
class thread_block_tile : public lane_group {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "tiles of 1 to 32 threads are offered");

 public:
  explicit thread_block_tile(unsigned parent_rank, unsigned parent_size)
      : lane_group((Size == 32 ? ~0u : (1u << Size % 32) - 1) << (details::lane() & ~(Size - 1)),
                   parent_rank / Size, (parent_size + Size - 1) / Size) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  unsigned thread_rank() const { return details::lane() & (Size - 1); }
  template <class T>
  T shfl_xor(T value, unsigned by, TESSERA_PLACE) const {
    const unsigned other = thread_rank() ^ by;
    return details::shuffle(
        this->mask_, value,
        static_cast<int>((details::lane() & ~(Size - 1)) + (other < Size ? other : thread_rank())),
        place);
  }
  thread_block_tile(const thread_block_tile&) = default;
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other>& other) : lane_group(other) {}
};

/// A tile of several warps.
template <unsigned Size, class Parent>
requires(Size > 32) class thread_block_tile<Size, Parent> {
  static_assert(Size <= 1024 && (Size & (Size - 1)) == 0,
                "tiles of several warps have 64 to 1024 threads");

 public:
  explicit thread_block_tile(unsigned parent_rank, unsigned parent_size)
      : rank_(parent_rank / Size), count_((parent_size + Size - 1) / Size) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return details::thread_in_block() & (Size - 1); }
  unsigned meta_group_rank() const { return rank_; }
  unsigned meta_group_size() const { return count_; }
  void sync(TESSERA_PLACE) const {
    tessera::plain_cuda::named_barrier(1 + static_cast<int>(details::thread_in_block() / Size),
                                       static_cast<int>(Size), place);
  }
  template <class T>
  TESSERA_UNSEEN T shfl(T value, unsigned rank, TESSERA_PLACE) const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
    T out = value;
    tessera::plain_cuda::exchange_in_tile(&out, sizeof(T), static_cast<int>(Size),
                                          static_cast<int>(rank % Size), place);
    return out;
  }
  template <class T>
  T shfl_up(T value, unsigned delta, TESSERA_PLACE) const {
    const unsigned mine = thread_rank();
    return shfl(value, mine < delta ? mine : mine - delta, place);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, TESSERA_PLACE) const {
    const unsigned mine = thread_rank();
    return shfl(value, mine + delta < Size ? mine + delta : mine, place);
  }
  int any(int predicate, TESSERA_PLACE) const {
    int found = predicate != 0;
    for (unsigned by = Size / 2; by > 0; by /= 2) found |= shfl(found, thread_rank() ^ by, place);
    return found;
  }
  int all(int predicate, TESSERA_PLACE) const { return !any(predicate == 0, place); }

 private:
  unsigned rank_, count_;
};

template <unsigned Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  return thread_block_tile<Size, Parent>(parent.thread_rank(), parent.size());
}

/// Of any kind, its kind forgotten.
struct thread_group {
  enum class Kind { block, lanes, grid } kind;
  lane_group lanes{0};

  thread_group(const thread_block&) : kind(Kind::block) {}
  thread_group(const grid_group&) : kind(Kind::grid) {}
  thread_group(const lane_group& group) : kind(Kind::lanes), lanes(group) {}
  void sync(TESSERA_PLACE) const {
    if (kind == Kind::lanes) lanes.sync(place);
    else if (kind == Kind::block) thread_block::sync(place);
    else this_grid().sync(place);
  }
  unsigned long long size() const {
    return kind == Kind::lanes   ? lanes.size()
           : kind == Kind::block ? thread_block::size()
                                 : this_grid().size();
  }
  unsigned long long num_threads() const { return size(); }
  unsigned long long thread_rank() const {
    return kind == Kind::lanes   ? lanes.thread_rank()
           : kind == Kind::block ? thread_block::thread_rank()
                                 : this_grid().thread_rank();
  }
};

/// A size that is known only when the kernel runs.
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  const auto rank = static_cast<unsigned>(parent.thread_rank());
  unsigned mask = 0;
  if (parent.kind == thread_group::Kind::lanes) {
    const unsigned first = rank / size * size;
    for (unsigned i = first; i < first + size && i < parent.size(); ++i)
      mask |= 1u << details::lane_of_rank(parent.lanes.mask(), i);
  } else {
    mask = (size == 32 ? ~0u : (1u << size % 32) - 1) << (details::lane() & ~(size - 1));
  }
  return lane_group(mask, rank / size, (static_cast<unsigned>(parent.size()) + size - 1) / size);
}

inline coalesced_group coalesced_threads(TESSERA_PLACE) {
  const auto active = tessera::plain_cuda::active_mask(place) >> details::half_of_warp();
  return coalesced_group(static_cast<unsigned>(active));
}

/// The lanes of the group that have the same label.
template <class Group, class Label>
inline coalesced_group labeled_partition(const Group& group, Label label, TESSERA_PLACE) {
  const auto bits = static_cast<std::uint64_t>(label);
  return coalesced_group(
      static_cast<unsigned>(tessera::plain_cuda::match(group.mask(), bits, place) >>
                            details::half_of_warp()) &
      group.mask());
}
template <class Group>
inline coalesced_group binary_partition(const Group& group, bool predicate, TESSERA_PLACE) {
  return labeled_partition(group, predicate ? 1 : 0, place);
}

template <class Group>
inline void sync(const Group& group, TESSERA_PLACE) {
  group.sync(place);
}

/// One thread of the group calls f.
template <class Group, class F, class... A>
inline void invoke_one(const Group& group, F&& f, A&&... arguments) {
  if (group.thread_rank() == 0) f(static_cast<A&&>(arguments)...);
}
template <class Group, class F, class... A>
inline auto invoke_one_broadcast(const Group& group, F&& f, A&&... arguments) {
  decltype(f(static_cast<A&&>(arguments)...)) out{};
  if (group.thread_rank() == 0) out = f(static_cast<A&&>(arguments)...);
  return group.shfl(out, 0);
}

}  // namespace cooperative_groups
#include "parts/letters_end.h"
