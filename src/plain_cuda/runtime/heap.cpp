// malloc() and new of the program's own files (parts/host_functions.h): see heap.hpp.
#include "heap.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

#include "context.hpp"
#include "debug_info.hpp"
#include "program.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/parts/runtime_api.h"

namespace tessera::plain_cuda {

namespace {

constexpr std::size_t kUnit = 16, kBlockGap = 64;
constexpr std::size_t kQuarantine = 16384;  // blocks that are not reused immediately

std::size_t taken_by(std::size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit + kBlockGap; }

}  // namespace

DeviceHeap& DeviceHeap::get() {
  static DeviceHeap* const heap = new DeviceHeap;  // used until the very end
  return *heap;
}

DeviceHeap::DeviceHeap() {
  void* const at =
      mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  base_ = ready_ = reinterpret_cast<std::uint64_t>(at);
  if (at == MAP_FAILED || !make_ready(base_ + kBlockGap))
    throw Error(Category::resource, "no room for the device's heap in the address space",
                "4 GiB of addresses", {}, "raise `ulimit -v`");
  next_ = base_ + kBlockGap;
}

/// Addresses without access do not count for a limit of the process's memory.
bool DeviceHeap::make_ready(std::uint64_t end) {
  if (end <= ready_) return true;
  const std::uint64_t to = base_ + (end - base_ + kStep - 1) / kStep * kStep;
  if (mprotect(reinterpret_cast<void*>(ready_), to - ready_, PROT_READ | PROT_WRITE) != 0)
    return false;
  ready_ = to;
  return true;
}

void* DeviceHeap::allocate(std::size_t bytes, const Place& place) {
  std::size_t limit = 0;
  cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
  const std::lock_guard lock(mutex_);
  if (bytes > limit || used_ + bytes > limit) return nullptr;
  const std::size_t taken = taken_by(bytes);
  std::uint64_t at = next_;
  if (const auto same = reusable_.find(taken); same != reusable_.end()) {
    at = same->second;
    reusable_.erase(same);
  } else if (next_ + taken > base_ + kBytes || !make_ready(next_ + taken)) {
    return nullptr;
  } else {
    next_ += taken;
  }
  blocks_[at] = {bytes, place, {}};
  used_ += bytes;
  return reinterpret_cast<void*>(at);
}

void DeviceHeap::free(void* at, const Place& place) {
  const auto address = reinterpret_cast<std::uint64_t>(at);
  std::unique_lock lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.freed.line > 0) {
    const bool again = found != blocks_.end();
    const std::string before = again ? place_text(found->second.freed) : std::string();
    lock.unlock();
    if (Program::get().is_checked)
      Program::get().find(check::Kind::runtime_misuse, check::Severity::error, place,
                          again ? cat("a kernel frees a block of its heap that was given back "
                                      "already, at ",
                                      before)
                                : std::string("a kernel frees what no malloc() or new of a kernel "
                                              "gave"),
                          again ? "free it once" : "cudaFree() on the host frees cudaMalloc's");
    return;
  }
  found->second.freed = place;
  if (found->second.freed.line == 0) found->second.freed.line = 1;
  used_ -= found->second.bytes;
  freed_.push_back(address);
  if (freed_.size() <= kQuarantine) return;
  const auto oldest = blocks_.find(freed_.front());
  freed_.pop_front();
  reusable_.emplace(taken_by(oldest->second.bytes), oldest->first);
  blocks_.erase(oldest);
}

check::detail::Elsewhere DeviceHeap::judge(std::uint64_t address) {
  using What = check::detail::Elsewhere::What;
  const std::lock_guard lock(mutex_);
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return {};
  const auto& [begin, block] = *std::prev(after);
  const std::string what =
      cat("the ", block.bytes, " bytes that ", place_text(block.place), " allocates");
  if (address >= begin + block.bytes)
    return {What::wrong,
            check::Kind::out_of_bounds,
            cat(address - begin - block.bytes, " bytes after the end of ", what),
            {}};
  if (block.freed.line > 0)
    return {What::wrong,
            check::Kind::freed_memory,
            cat(what, ", which were given back at ", place_text(block.freed)),
            {}};
  return {.what = What::allowed};
}

namespace {

/// Blocks of the host's heap: their ends by their first bytes.
struct HostBlocks {
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t> ends;

  static HostBlocks& all() {
    static HostBlocks* const blocks = new HostBlocks;  // other code frees blocks until the very end
    return *blocks;
  }
};

void* noted(void* at, std::size_t bytes) {
  if (at == nullptr || !Program::get().is_checked) return at;
  HostBlocks& blocks = HostBlocks::all();
  const std::lock_guard lock(blocks.mutex);
  blocks.ends[reinterpret_cast<std::uint64_t>(at)] = reinterpret_cast<std::uint64_t>(at) + bytes;
  return at;
}

void forget(void* at) {
  if (at == nullptr || !Program::get().is_checked) return;
  HostBlocks& blocks = HostBlocks::all();
  const std::lock_guard lock(blocks.mutex);
  blocks.ends.erase(reinterpret_cast<std::uint64_t>(at));
}

Place place_before(const void* pc) { return place_of(reinterpret_cast<std::uintptr_t>(pc) - 1); }

void* allocated(std::size_t bytes, const void* pc) {
  if (current != nullptr) return DeviceHeap::get().allocate(bytes, place_before(pc));
  return noted(std::malloc(bytes), bytes);
}

void given_back(void* at, const void* pc) {
  if (at == nullptr) return;
  if (current != nullptr) return DeviceHeap::get().free(at, place_before(pc));
  forget(at);
  std::free(at);
}

}  // namespace

std::uint64_t end_on_host(std::uint64_t address) {
  {
    HostBlocks& blocks = HostBlocks::all();
    const std::lock_guard lock(blocks.mutex);
    const auto after = blocks.ends.upper_bound(address);
    if (after != blocks.ends.begin() && address < std::prev(after)->second)
      return std::prev(after)->second;
  }
  for (const Variable& each : variables()) {
    if (!each.is_shared && address - each.address < each.bytes) return each.address + each.bytes;
  }
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here < address && address < frame_above_main ? frame_above_main : 0;
}

}  // namespace tessera::plain_cuda

#define TESSERA_PC __builtin_return_address(0)

extern "C" {
void* tessera_cuda_malloc(std::size_t bytes) {
  return tessera::plain_cuda::allocated(bytes, TESSERA_PC);
}
void* tessera_cuda_calloc(std::size_t count, std::size_t bytes) {
  if (tessera::plain_cuda::current == nullptr)
    return tessera::plain_cuda::noted(std::calloc(count, bytes), count * bytes);
  void* const at = tessera::plain_cuda::allocated(count * bytes, TESSERA_PC);
  return at == nullptr ? at : std::memset(at, 0, count * bytes);
}
void* tessera_cuda_realloc(void* at, std::size_t bytes) {
  tessera::plain_cuda::forget(at);
  return tessera::plain_cuda::noted(std::realloc(at, bytes), bytes);
}
void tessera_cuda_free(void* at) { tessera::plain_cuda::given_back(at, TESSERA_PC); }
void* tessera_cuda_new(std::size_t bytes) {
  void* const at = tessera::plain_cuda::allocated(std::max<std::size_t>(bytes, 1), TESSERA_PC);
  // In a kernel new returns null if the heap is full, as CUDA's does.
  if (at == nullptr && tessera::plain_cuda::current == nullptr) throw std::bad_alloc();
  return at;
}
void tessera_cuda_delete(void* at) { tessera::plain_cuda::given_back(at, TESSERA_PC); }
}
