// Exchanges the shared memory of a cluster's blocks: see cluster_memory.hpp. And what threads ask
// of their cluster.
#include "cluster_memory.hpp"

#include <cstring>

#include "kernel_memory.hpp"
#include "meeting.hpp"
#include "program.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/parts/async.h"
#include "tessera/plain_cuda/parts/clusters.h"
#include "tessera/simt/cpu_async.hpp"

namespace tessera::plain_cuda {

namespace {
constexpr std::size_t kImageRim = 4096;  // around an image: what leaves one is not in the next
constexpr std::size_t kImageAlignment = 1024;
}  // namespace

ClusterMemory::ClusterMemory(int blocks) {
  const std::size_t shared = shared_bytes();
  images_.bytes = shared;
  images_.stride = (shared + kImageRim + kImageAlignment - 1) / kImageAlignment * kImageAlignment;
  images_.blocks = blocks;
  bytes_.resize(images_.stride * static_cast<std::size_t>(blocks) + kImageAlignment);
  // Addresses in an image are as aligned as those that they stand for.
  const auto own = reinterpret_cast<std::uint64_t>(shared_storage()) % kImageAlignment;
  const auto first = reinterpret_cast<std::uint64_t>(bytes_.data());
  images_.begin = first + (own + kImageAlignment - first % kImageAlignment) % kImageAlignment;
  check::cluster_images = &images_;
}

ClusterMemory::~ClusterMemory() { check::cluster_images = nullptr; }

std::byte* ClusterMemory::image(int rank) const {
  return reinterpret_cast<std::byte*>(images_.begin +
                                      images_.stride * static_cast<std::uint64_t>(rank));
}

void ClusterMemory::exchange(int rank) {
  std::byte* const storage = shared_storage();
  if (resident_ >= 0) std::memcpy(image(resident_), storage, images_.bytes);
  for (int each = 0; each < images_.blocks && resident_ < 0; ++each)
    std::memcpy(image(each), storage, images_.bytes);  // as blocks find it
  std::memcpy(storage, image(rank), images_.bytes);
  resident_ = rank;
}

void* ClusterMemory::in(int rank, const void* at) const {
  std::uint64_t offset =
      static_cast<std::uint64_t>(static_cast<const std::byte*>(at) - shared_storage());
  if (offset >= images_.bytes) {
    const auto found = images_.find(reinterpret_cast<std::uint64_t>(at));
    if (!found) return nullptr;
    offset = found->second;
  }
  return (rank == resident_ ? shared_storage() : image(rank)) + offset;
}

int ClusterMemory::rank_of(const void* at) const {
  const auto offset =
      static_cast<std::uint64_t>(static_cast<const std::byte*>(at) - shared_storage());
  if (offset < images_.bytes) return resident_;
  const auto found = images_.find(reinterpret_cast<std::uint64_t>(at));
  return found ? found->first : -1;
}

// ---- what threads ask ---------------------------------------------------------------------------

dim3 cluster_extents() noexcept { return current == nullptr ? dim3() : current->block.cluster; }
unsigned cluster_block_rank() noexcept {
  return current == nullptr ? 0 : static_cast<unsigned>(current->block.rank);
}

void cluster_arrive(Place place) {
  ThreadContext& mine = me("a barrier of the cluster", place);
  const LetOthersRun others(mine);
  CpuAsync(mine.block.scheduler, mine.linear).cluster_arrive(here_of(place));
}

void cluster_wait(Place place) {
  ThreadContext& mine = me("a barrier of the cluster", place);
  const LetOthersRun others(mine);
  CpuAsync(mine.block.scheduler, mine.linear).cluster_wait(here_of(place));
}

namespace {
[[noreturn]] void refuse_map(const std::string& problem, const std::string& advice, Place place) {
  end_kernel(cudaErrorIllegalAddress, problem, advice, place);
}
}  // namespace

void* map_shared(const void* at, unsigned rank, Place place) {
  ThreadContext& mine = me("map_shared_rank()", place);
  const dim3 extents = mine.block.cluster;
  const unsigned count = extents.x * extents.y * extents.z;
  if (rank >= count)
    refuse_map(
        cat("asks for rank ", rank, " of a cluster of ", count, count == 1 ? " block" : " blocks"),
        "launch with a cluster, or take a rank below num_blocks()", place);
  void* const out = mine.block.memory == nullptr
                        ? const_cast<void*>(at)
                        : mine.block.memory->in(static_cast<int>(rank), at);
  if (out == nullptr)
    refuse_map("maps an address that is not in shared memory",
               "give map_shared_rank() a variable in shared memory", place);
  return out;
}

// ---- 32-bit addresses of shared memory ----------------------------------------------------------

namespace {
constexpr std::uint32_t kSharedTag = 0x10000000, kSharedMask = 0x007fffff;
/// Above the offset: 0 for the running block, else the rank of a block of the cluster and 1.
constexpr std::uint32_t kRankShift = 23, kRankMask = 31;
}  // namespace

std::uint32_t shared_address(const void* generic) noexcept {
  const auto* at = static_cast<const std::byte*>(generic);
  std::uint32_t block = 0;
  if (const auto other = check::cluster_images == nullptr
                             ? std::nullopt
                             : check::cluster_images->find(reinterpret_cast<std::uint64_t>(at)))
    block = static_cast<std::uint32_t>(other->first) + 1, at = shared_storage() + other->second;
  return (static_cast<std::uint32_t>(at - shared_storage()) & kSharedMask) | block << kRankShift |
         kSharedTag;
}

void* shared_pointer(std::uint32_t address) noexcept {
  if ((address & ~(kSharedMask | kRankMask << kRankShift)) != kSharedTag) return nullptr;
  std::byte* const own = shared_storage() + (address & kSharedMask);
  const int rank = static_cast<int>(address >> kRankShift & kRankMask) - 1;
  const ClusterMemory* const memory = current == nullptr ? nullptr : current->block.memory;
  if (rank < 0 || memory == nullptr) return own;
  return rank < memory->blocks() ? memory->in(rank, own) : nullptr;
}

unsigned shared_rank(const void* at, Place place) {
  ThreadContext& mine = me("query_shared_rank()", place);
  const int rank = mine.block.memory == nullptr ? 0 : mine.block.memory->rank_of(at);
  if (rank < 0)
    refuse_map("asks whose an address is that is not in shared memory",
               "give query_shared_rank() an address in shared memory", place);
  return static_cast<unsigned>(rank);
}

}  // namespace tessera::plain_cuda
