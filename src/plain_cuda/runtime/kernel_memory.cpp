// The memory of kernels: see kernel_memory.hpp.
#include "kernel_memory.hpp"

#include <sys/mman.h>

#include <array>
#include <charconv>
#include <map>

#include "context.hpp"
#include "debug_info.hpp"
#include "heap.hpp"
#include "memory.hpp"
#include "regions.hpp"
#include "tessera/core/text.hpp"

/// The position of the shared variables of the program's files in thread-local storage: the command
/// links them between the two marks.
extern "C" {
#define TESSERA_IN_PROGRAM __attribute__((tls_model("local-exec")))
extern __thread std::byte tessera_shared_begin[] TESSERA_IN_PROGRAM;
extern __thread std::byte tessera_dynamic_shared[] TESSERA_IN_PROGRAM;
#undef TESSERA_IN_PROGRAM
}

namespace tessera::plain_cuda {

namespace {
std::size_t dynamic_bytes = 0;
/// Before dynamic shared memory, where there is no variable: the command links it.
constexpr std::uint64_t kRim = 1024;

bool is_mapped(std::uint64_t address) {
  constexpr std::uint64_t kPage = 4096;
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(address & ~(kPage - 1)), kPage, &resident) == 0;
}

std::string hex(std::uint64_t number) {
  std::array<char, 16> out{};
  return {out.data(), std::to_chars(out.data(), out.data() + out.size(), number, 16).ptr};
}
}  // namespace

std::byte* shared_storage() { return tessera_shared_begin; }

std::size_t shared_bytes() {
  return static_cast<std::size_t>(tessera_dynamic_shared - tessera_shared_begin) + dynamic_bytes;
}

std::size_t set_dynamic_shared(std::size_t bytes) {
  dynamic_bytes = bytes;
  return shared_bytes();
}

std::vector<check::detail::Buffer> buffers_now() {
  DeviceMemory& memory = DeviceMemory::get();
  std::vector<check::detail::Buffer> out;
  out = region_buffers();
  for (const Allocation* each : memory.live()) {
    if (each->bytes == 0 || is_pool(*each)) continue;
    check::detail::Buffer buffer;
    buffer.name = DeviceMemory::name_of(*each);
    buffer.data = reinterpret_cast<const void*>(each->begin);
    buffer.element_bytes = each->bytes % each->element_bytes == 0 ? each->element_bytes : 1;
    const auto elements = static_cast<index_t>(each->bytes / buffer.element_bytes),
               row = static_cast<index_t>(each->row_elements);
    buffer.layout = row > 0 ? row_major(elements / row, row) : row_major(elements);
    buffer.is_output = true;
    memory.find_unseen(each->begin);
    buffer.has_unwritten = !memory.is_written(*each);
    buffer.fill = each->fill;
    buffer.gaps = each->gaps;
    out.push_back(std::move(buffer));
  }
  for (const Variable& each : variables()) {
    const Shape& shape = each;
    if (each.is_shared || shape.bytes == 0) continue;
    check::detail::Buffer buffer;
    buffer.name = each.name;
    buffer.data = reinterpret_cast<const void*>(each.address);
    buffer.element_bytes = shape.element_bytes;
    buffer.layout = shape.extents.size() == 2
                        ? row_major(shape.extents[0], shape.extents[1])
                        : row_major(static_cast<index_t>(shape.bytes / shape.element_bytes));
    buffer.is_output = true;
    out.push_back(std::move(buffer));
  }
  return out;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> shared_objects() {
  const auto begin =
      static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(tessera_shared_begin) -
                                reinterpret_cast<std::intptr_t>(__builtin_thread_pointer()));
  const auto dynamic = static_cast<std::uint64_t>(tessera_dynamic_shared - tessera_shared_begin);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
  for (const auto& [offset, bytes] : thread_objects()) {
    const auto first = static_cast<std::uint64_t>(offset - begin);
    if (first < dynamic && bytes > 0) out.emplace_back(first, first + bytes);
  }
  if (out.empty() && dynamic > kRim) return {};  // the variables are unknown
  if (dynamic_bytes > 0) out.emplace_back(dynamic, dynamic + dynamic_bytes);
  return out;
}

std::vector<check::detail::SharedVariable> shared_variables() {
  const auto begin =
      static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(tessera_shared_begin) -
                                reinterpret_cast<std::intptr_t>(__builtin_thread_pointer()));
  std::vector<check::detail::SharedVariable> out;
  const auto add = [&](const std::string& name, std::int64_t offset, const Shape& shape) {
    out.push_back({name, static_cast<std::uint64_t>(offset - begin), shape.bytes,
                   shape.element_bytes, shape.extents, shape.gaps});
  };
  for (const Variable& each : variables()) {
    if (!each.is_shared) continue;
    for (const Member& member : each.members)
      add(member.name, each.thread_offset + static_cast<std::int64_t>(member.offset), member);
    add(each.name, each.thread_offset, each);
  }
  return out;
}

std::size_t static_shared_bytes(std::uintptr_t code) {
  static thread_local std::map<std::uintptr_t, std::size_t> known;
  const auto [found, is_new] = known.try_emplace(code);
  if (!is_new) return found->second;
  for (const Variable& each : variables()) {
    if (each.is_shared && (!each.is_in_kernel || runs(code, each.instance)))
      found->second += each.bytes;
  }
  return found->second;
}

KernelMemory memory_at(std::uintptr_t address) {
  const auto shared = reinterpret_cast<std::uintptr_t>(tessera_shared_begin);
  const auto shared_bytes =
      reinterpret_cast<std::uintptr_t>(tessera_dynamic_shared) - shared + dynamic_bytes;
  if (address - shared < shared_bytes) return {shared, shared_bytes};
  if (const Allocation* found = DeviceMemory::get().find(address); found != nullptr)
    return found->freed      ? KernelMemory{}
           : is_pool(*found) ? KernelMemory{region_at(address).begin, region_at(address).bytes}
                             : KernelMemory{found->begin, found->bytes};
  for (const Variable& each : variables()) {
    if (!each.is_shared && address - each.address < each.bytes) return {each.address, each.bytes};
  }
  return {};
}

bool cuts_a_number(std::uintptr_t address) {
  if (DeviceMemory::get().contains(reinterpret_cast<const void*>(address))) return false;
  const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  for (const Variable& each : variables()) {
    const std::uintptr_t begin =
        each.is_shared ? thread + static_cast<std::uintptr_t>(each.thread_offset) : each.address;
    if (address - begin < each.bytes)
      return each.is_scalar && (address - begin) % each.element_bytes != 0;
  }
  return false;
}

check::detail::Elsewhere elsewhere(std::uint64_t address) {
  using What = check::detail::Elsewhere::What;
  DeviceMemory& memory = DeviceMemory::get();
  if (const Allocation* found = memory.find(address); found != nullptr && found->freed) {
    const std::string path = found->freed->file;
    return {What::wrong,
            check::Kind::freed_memory,
            cat(DeviceMemory::name_of(*found), ", which was given back at ",
                path.substr(path.rfind('/') + 1), ":", found->freed->line),
            {}};
  }
  if (memory.contains(reinterpret_cast<const void*>(address))) return judge_pool(address);
  if (DeviceHeap& heap = DeviceHeap::get(); heap.contains(reinterpret_cast<const void*>(address)))
    return heap.judge(address);
  constexpr std::uint64_t kNear = 4096, kShared = std::uint64_t{1} << 20, kNull = 65536;
  const auto from_shared = address - reinterpret_cast<std::uint64_t>(tessera_shared_begin) + kNear;
  if (from_shared < kShared + kNear || address < kNull) return {};  // too far to describe
  switch (section_of(address)) {
    case Section::read_only: return {.what = What::allowed};
    case Section::of_program: return {};  // between or after its variables
    case Section::none:
      if (!is_mapped(address))
        return {What::wrong, check::Kind::out_of_bounds,
                cat("address 0x", hex(address), ", where no memory is"),
                "follow the pointer back to where it gets its value"};
      [[fallthrough]];
    case Section::of_library: break;
  }
  return {What::wrong, check::Kind::host_memory, "memory of the host", {}};
}

}  // namespace tessera::plain_cuda
