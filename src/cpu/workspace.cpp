// The cache of memory blocks of Workspace: a few atomic slots, each of which holds one idle block
// or none. Taking and returning a block is one atomic exchange, safe for any number of threads and
// forked children; surplus blocks are returned to the system. Measurements:
// bench/results/cpu/tuning.md.
#include "workspace.hpp"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "reported_route.hpp"

namespace tessera::cpu {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kKept = std::size_t{64} << 20;  // larger blocks go back to the system

/// The header of an idle block.
struct Idle {
  std::size_t bytes;
};
/// Idle blocks; each slot holds one or none.
std::array<std::atomic<Idle*>, 8> shelf;
std::atomic<std::uint64_t> refused{0};

/// From an eighth of a huge page on, a whole one: scattered small pages conflict in L2.
std::size_t page_rounded(std::size_t bytes) {
  const std::size_t unit = bytes >= kHugePage / 8 ? kHugePage : 4096;
  return (bytes + unit - 1) / unit * unit;
}

void unmap(void* data, std::size_t bytes) { munmap(data, bytes); }

/// Returns a block to a slot or, if all are taken, to the system.
void put_back(Idle* idle) {
  for (auto& slot : shelf) {
    Idle* empty = nullptr;
    if (slot.compare_exchange_strong(empty, idle, std::memory_order_release)) return;
  }
  unmap(idle, idle->bytes);
}

/// A new block. Large ones start at a huge page, so that the kernel can use one.
void* map(std::size_t bytes) {
  const std::size_t slack = bytes >= kHugePage ? kHugePage : 0;
  void* data =
      mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  if (slack == 0) return data;
  const auto start = reinterpret_cast<std::uintptr_t>(data);
  const auto aligned = (start + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > start) munmap(data, aligned - start);
  if (start + slack > aligned)
    munmap(reinterpret_cast<void*>(aligned + bytes), start + slack - aligned);
  data = reinterpret_cast<void*>(aligned);
  madvise(data, bytes, MADV_HUGEPAGE);
  return data;
}

}  // namespace

Workspace::Workspace(std::size_t bytes) {
  if (bytes == 0) bytes = 1;
  Idle* small = nullptr;  // replaced by a larger block, unless an idle one is large enough
  for (auto& slot : shelf) {
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    Idle* idle = slot.exchange(nullptr, std::memory_order_acquire);
    if (idle == nullptr) continue;
    if (idle->bytes >= bytes) {
      bytes_ = idle->bytes;
      data_ = next_ = reinterpret_cast<char*>(idle);
      break;
    }
    std::swap(small, idle);
    if (idle != nullptr) put_back(idle);
  }
  if (data_ != nullptr && small != nullptr) put_back(small);
  if (data_ != nullptr) return;
  if (small != nullptr) unmap(small, small->bytes);
  bytes_ = page_rounded(bytes);
  data_ = next_ = static_cast<char*>(map(bytes_));
  if (data_ == nullptr) refused.fetch_add(1, std::memory_order_relaxed);
}

Workspace::~Workspace() {
  if (data_ == nullptr) return;
  if (bytes_ > kKept) {
    unmap(data_, bytes_);
    return;
  }
  Idle* idle = reinterpret_cast<Idle*>(data_);
  idle->bytes = bytes_;
  put_back(idle);
}

std::uint64_t refused_workspaces() { return refused.load(std::memory_order_relaxed); }

}  // namespace tessera::cpu
