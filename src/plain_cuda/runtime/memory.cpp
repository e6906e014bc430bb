// Allocates and frees the device's memory: see memory.hpp.
#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <fstream>

#include "check/filled.hpp"
#include "forks.hpp"
#include "program.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

namespace {

constexpr std::size_t kAlignment = 256;  // of cudaMalloc
/// On both sides of allocations, and accessible: strides past an end rarely reach further.
constexpr std::size_t kGap = std::size_t{1} << 20;
constexpr std::size_t kPage = 4096;
/// New memory is filled up to this size; filling more takes too long.
constexpr std::size_t kFilled = std::size_t{64} << 20;

std::size_t pages_of(std::size_t bytes) {
  return std::max<std::size_t>(bytes + kPage - 1, kPage) / kPage * kPage;
}

/// Calls body(word, mask) for the bits [first, first + count).
template <class Body>
void for_each_word(std::size_t first, std::size_t count, Body&& body) {
  const std::size_t end = first + count;
  for (std::size_t at = first; at < end;) {
    const std::size_t in_word = at % 64, bits = std::min(end - at, 64 - in_word);
    body(at / 64, ~std::uint64_t{0} >> (64 - bits) << in_word);
    at += bits;
  }
}

}  // namespace

DeviceMemory& DeviceMemory::get() {
  static DeviceMemory* const memory = new DeviceMemory;  // used until the very end
  return *memory;
}

DeviceMemory::DeviceMemory() {
  void* const at =
      mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw Error(Category::resource, "no room for the device's memory in the address space",
                "a terabyte of addresses", {}, "raise `ulimit -v`");
  base_ = reinterpret_cast<std::uint64_t>(at);
  next_ = base_ + kGap;
  mprotect(at, kGap, PROT_READ | PROT_WRITE);
}

void* DeviceMemory::allocate(std::size_t bytes, std::size_t element_bytes, MemoryKind kind,
                             Here here) {
  if (is_forked()) leave_forked(cat("allocates memory of the device at ", place_text(here)));
  const std::size_t taken = std::max<std::size_t>(bytes, 1);
  if (used_ + taken > kTotal || next_ + taken + 2 * kGap > base_ + kBytes) return nullptr;
  const std::size_t pages = pages_of(taken);
  void* const at = reinterpret_cast<void*>(next_);
  if (mprotect(at, pages + kGap, PROT_READ | PROT_WRITE) != 0) return nullptr;
  Allocation& added = allocations_[next_];
  if (bytes <= kFilled) check::fill_memory(at, bytes, added.fill.emplace(check::kNoValue));
  added.begin = next_;
  added.bytes = bytes;
  added.kind = kind;
  if (element_bytes > 0) added.element_bytes = element_bytes;
  added.here = here;
  used_ += bytes;
  is_shared_with_host_ = is_shared_with_host_ || kind != MemoryKind::device;
  next_ += pages + kGap;
  return at;
}

void DeviceMemory::free(Allocation& allocation, Here here) {
  allocation.freed = here;
  used_ -= allocation.bytes;
  madvise(reinterpret_cast<void*>(allocation.begin), allocation.bytes, MADV_DONTNEED);
}

bool DeviceMemory::add_host(std::uint64_t begin, std::size_t bytes, Here here) {
  const auto after = allocations_.lower_bound(begin + bytes);
  if (after != allocations_.begin() && std::prev(after)->second.end() > begin) return false;
  Allocation& added = allocations_[begin];
  added.begin = begin;
  added.bytes = bytes;
  added.kind = MemoryKind::pinned;
  added.here = here;
  added.is_registered = added.all_written = is_shared_with_host_ = true;
  ++registered_;
  return true;
}

bool DeviceMemory::drop_host(std::uint64_t begin) {
  const auto found = allocations_.find(begin);
  if (found == allocations_.end() || !found->second.is_registered) return false;
  allocations_.erase(found);
  --registered_;
  return true;
}

Allocation* DeviceMemory::find(std::uint64_t address) {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  Allocation& found = std::prev(after)->second;
  return address < found.end() || (found.bytes == 0 && address == found.begin) ? &found : nullptr;
}

const Allocation* DeviceMemory::before(std::uint64_t address) {
  const auto after = allocations_.upper_bound(address);
  return after == allocations_.begin() ? nullptr : &std::prev(after)->second;
}

bool DeviceMemory::is_backed(const void* address) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  if (!contains(address)) return false;
  const Allocation* const nearest = before(at);
  const std::uint64_t end = nearest == nullptr ? base_ : nearest->begin + pages_of(nearest->bytes);
  return at < end + kGap - 16;  // of the widest access
}

void DeviceMemory::wrote(std::uint64_t address, std::size_t bytes) {
  Allocation* const found = find(address);
  if (found == nullptr || found->all_written || bytes == 0) return;
  const std::size_t first = address - found->begin;
  bytes = std::min(bytes, found->bytes - first);
  if (bytes == found->bytes) {
    found->all_written = true;
    found->written.clear();
    return;
  }
  {
    const std::lock_guard lock(mutex_);  // threads of several blocks come here at the same time
    if (found->written.empty()) found->written.resize((found->bytes + 63) / 64);
  }
  for_each_word(first, bytes, [&](std::size_t word, std::uint64_t mask) {
    std::atomic_ref<std::uint64_t>(found->written[word]).fetch_or(mask, std::memory_order_relaxed);
  });
}

std::size_t DeviceMemory::unwritten(std::uint64_t address, std::size_t bytes) {
  const Allocation* const found = find(address);
  if (found == nullptr || found->all_written || found->kind != MemoryKind::device)
    return 0;  // the host writes there as well, not always recorded
  if (found->written.empty()) return bytes;
  std::size_t out = 0;
  for_each_word(address - found->begin, std::min(bytes, found->end() - address),
                [&](std::size_t word, std::uint64_t mask) {
                  out += static_cast<std::size_t>(std::popcount(mask & ~found->written[word]));
                });
  return out;
}

void DeviceMemory::find_unseen(std::uint64_t address) {
  Allocation* const found = find(address);
  if (found == nullptr || !found->fill || found->freed || found->kind != MemoryKind::device) return;
  constexpr std::size_t kMostSearched = std::size_t{2} << 30;  // bytes, of all calls
  if (found->all_written || searched_ > kMostSearched) return;
  searched_ += found->bytes;
  const auto* const at = reinterpret_cast<const unsigned char*>(found->begin);
  for (std::size_t first = 0; first < found->bytes && !found->all_written; first += 64) {
    const std::size_t count = std::min<std::size_t>(64, found->bytes - first);
    const std::uint64_t known = found->written.empty() ? 0 : found->written[first / 64];
    std::uint64_t unseen = check::bytes_with_value(at + first, count, *found->fill) & ~known;
    for (; unseen != 0 && !found->all_written; unseen &= unseen - 1) {
      const std::size_t size = found->element_bytes,
                        byte = first + static_cast<std::size_t>(std::countr_zero(unseen));
      wrote(found->begin + byte / size * size, size);
    }
  }
}

bool DeviceMemory::is_written(const Allocation& whole) {
  constexpr std::size_t kStep = std::size_t{1} << 16;  // large memory often has none at its begin
  for (std::size_t at = 0; at < whole.bytes; at += kStep)
    if (unwritten(whole.begin + at, std::min(kStep, whole.bytes - at)) > 0) return false;
  return true;
}

bool DeviceMemory::is_written(std::uint64_t address, std::size_t bytes) {
  return unwritten(address, bytes) == 0;
}

void DeviceMemory::was_read(std::uint64_t address, std::size_t bytes) {
  Allocation* const found = find(address);
  if (found == nullptr || !found->is_input) return;
  found->read.resize((found->bytes + 63) / 64);
  for_each_word(address - found->begin, std::min(bytes, found->end() - address),
                [&](std::size_t word, std::uint64_t mask) { found->read[word] |= mask; });
}

std::size_t DeviceMemory::elements_read(const Allocation& input) {
  std::size_t out = 0;
  for (std::size_t at = 0; at < input.bytes && !input.read.empty(); at += input.element_bytes)
    out += input.read[at / 64] >> at % 64 & 1;
  return out;
}

std::vector<const Allocation*> DeviceMemory::live() const {
  std::vector<const Allocation*> out;
  for (const auto& [begin, each] : allocations_) {
    if (!each.freed) out.push_back(&each);
  }
  return out;
}

std::string DeviceMemory::name_of(const Allocation& allocation) {
  if (!allocation.name.empty()) return allocation.name;
  std::ifstream file(allocation.here.file);
  std::string line;
  for (int i = 0; i < allocation.here.line && std::getline(file, line); ++i) {
  }
  if (allocation.is_registered) {  // cudaHostRegister(a, ...
    const auto open = line.find("Register(");
    const auto first = open == line.npos ? open : line.find_first_not_of(" ", open + 9);
    const auto last = first == line.npos ? first : line.find_first_of(" ,)", first);
    if (last != line.npos && last > first) return line.substr(first, last - first);
  }
  // cudaMalloc((void**)&d_A, ...), cudaHostAlloc(&d_A, ...); a line may have several.
  const auto column = static_cast<std::size_t>(std::max(allocation.here.column - 1, 0));
  auto call = line.rfind("lloc", column);
  if (call == line.npos) call = line.find("lloc");
  const auto open = line.find('(', call == line.npos ? 0 : call);
  auto begin = call == line.npos ? line.npos : line.find('&', open);
  const auto comma = line.find(',', open);
  if (begin != line.npos && begin < comma) {
    const auto is_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    const auto end =
        std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(++begin), line.end(),
                         [&](char c) { return is_name(c) || c == '.' || c == '[' || c == ']'; });
    const std::string name(line.begin() + static_cast<std::ptrdiff_t>(begin), end);
    if (!name.empty()) return name;
  }
  const std::string path = allocation.here.file;
  return cat("memory of ", path.substr(path.rfind('/') + 1), ":", allocation.here.line);
}

}  // namespace tessera::plain_cuda
