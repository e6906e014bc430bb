// Pools, regions, names and permissions of memory by NVTX: see regions.hpp.
#include "regions.hpp"

#include <map>
#include <optional>
#include <string>

#include "context.hpp"
#include "program.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/nvtx3/nvToolsExtMem.h"

namespace tessera::plain_cuda {

namespace {

struct Region {
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  std::uint64_t pool = 0;  ///< where it begins
  std::string name;
  std::optional<Place> unregistered;
};
std::map<std::uint64_t, Region>& regions() {  // by their first bytes
  static auto* const all = new std::map<std::uint64_t, Region>;
  return *all;
}
std::map<std::uint64_t, std::size_t>& pools() {  // their bytes
  static auto* const all = new std::map<std::uint64_t, std::size_t>;
  return *all;
}
/// Of allocations, by their first bytes; all others are free.
std::map<std::uint64_t, unsigned>& permissions() {
  static auto* const all = new std::map<std::uint64_t, unsigned>;
  return *all;
}

/// The last one that begins at the address or before it, if it contains it.
Region* find_region(std::uint64_t address) {
  const auto after = regions().upper_bound(address);
  if (after == regions().begin()) return nullptr;
  Region& found = std::prev(after)->second;
  return address - found.begin < found.bytes ? &found : nullptr;
}

std::string region_name(const Region& region) {
  if (!region.name.empty()) return region.name;
  const Allocation* const pool = DeviceMemory::get().find(region.pool);
  return cat("the region of ", region.bytes, " bytes at byte ", region.begin - region.pool, " of ",
             pool != nullptr ? DeviceMemory::name_of(*pool) : std::string("a pool"));
}

template <class Element, class Body>
void for_each(const void* elements, std::size_t count, std::size_t bytes, const Body& body) {
  for (std::size_t i = 0; i < count; ++i)
    body(*reinterpret_cast<const Element*>(static_cast<const char*>(elements) + i * bytes));
}

void end_regions(std::uint64_t pool, const Place& place) {
  for (auto& [begin, each] : regions()) {
    if (each.pool == pool && !each.unregistered) each.unregistered = place;
  }
}

/// NVTX leaves it undefined what a wrong description does; here it is a finding.
void refuse_description(const Place& place, std::string problem) {
  refuse(cudaSuccess, place, std::move(problem), "describe memory of cudaMalloc, and a pool first");
}

}  // namespace

bool is_pool(const Allocation& allocation) { return pools().contains(allocation.begin); }

RegionRange region_at(std::uint64_t address) {
  const Region* const found = find_region(address);
  return found != nullptr && !found->unregistered ? RegionRange{found->begin, found->bytes}
                                                  : RegionRange{};
}

std::vector<check::detail::Buffer> region_buffers() {
  std::vector<check::detail::Buffer> out;
  for (const auto& [begin, each] : regions()) {
    const Allocation* const pool = DeviceMemory::get().find(each.pool);
    if (each.unregistered || each.bytes == 0 || pool == nullptr || pool->freed) continue;
    check::detail::Buffer buffer;
    buffer.name = region_name(each);
    buffer.data = reinterpret_cast<const void*>(each.begin);
    buffer.element_bytes = each.bytes % pool->element_bytes == 0 ? pool->element_bytes : 1;
    buffer.layout = row_major(static_cast<index_t>(each.bytes / buffer.element_bytes));
    buffer.is_output = true;
    buffer.has_unwritten = DeviceMemory::get().unwritten(each.begin, each.bytes) > 0;
    out.push_back(std::move(buffer));
  }
  return out;
}

check::detail::Elsewhere judge_pool(std::uint64_t address) {
  using Elsewhere = check::detail::Elsewhere;
  const Region* const found = find_region(address);
  if (found == nullptr || !found->unregistered) return {};
  return {Elsewhere::What::wrong,
          check::Kind::freed_memory,
          cat(region_name(*found), ", which was given back at ", place_text(*found->unregistered)),
          {}};
}

void judge_permissions(const char* kernel, const Place& launched, std::uint64_t address, bool reads,
                       bool writes, bool updates) {
  if (permissions().empty()) return;
  const Allocation* const found = DeviceMemory::get().find(address);
  const auto known = found == nullptr ? permissions().end() : permissions().find(found->begin);
  if (known == permissions().end()) return;
  const auto judge = [&](bool does, unsigned flag, const char* verb) {
    if (!does || (known->second & flag) != 0) return;
    Program::get().find(
        check::Kind::runtime_misuse, check::Severity::error, launched,
        cat("kernel ", kernel, " ", verb, " ", DeviceMemory::name_of(*found),
            ", which its NVTX permissions forbid"),
        cat("give it that permission, or let the kernel not do it: it ", verb, " it"));
  };
  judge(reads, NVTX_MEM_PERMISSIONS_REGION_FLAGS_READ, "reads");
  judge(writes, NVTX_MEM_PERMISSIONS_REGION_FLAGS_WRITE, "writes");
  judge(updates, NVTX_MEM_PERMISSIONS_REGION_FLAGS_ATOMIC, "atomically updates");
}

}  // namespace tessera::plain_cuda

using namespace tessera::plain_cuda;

nvtxMemHeapHandle_t nvtxMemHeapRegister(nvtxDomainHandle_t, const nvtxMemHeapDesc_t* heap,
                                        Place place) {
  const auto& range = *static_cast<const nvtxMemVirtualRangeDesc_t*>(heap->typeSpecificDesc);
  const Allocation* const found = DeviceMemory::get().find(number(range.ptr));
  if (heap->type != NVTX_MEM_TYPE_VIRTUAL_ADDRESS || found == nullptr || found->freed ||
      found->begin != number(range.ptr) || range.size > found->bytes) {
    refuse_description(place, "nvtxMemHeapRegister: the range is no allocation of the device");
    return nullptr;
  }
  pools()[found->begin] = range.size;
  return reinterpret_cast<nvtxMemHeapHandle_t>(found->begin);
}
void nvtxMemHeapReset(nvtxDomainHandle_t, nvtxMemHeapHandle_t heap, Place place) {
  end_regions(number(heap), place);
}
void nvtxMemHeapUnregister(nvtxDomainHandle_t, nvtxMemHeapHandle_t heap, Place) {
  pools().erase(number(heap));
  std::erase_if(regions(), [&](const auto& each) { return each.second.pool == number(heap); });
}
void nvtxMemRegionsRegister(nvtxDomainHandle_t, const nvtxMemRegionsRegisterBatch_t* batch,
                            Place place) {
  const std::uint64_t pool = number(batch->heap);
  for_each<nvtxMemVirtualRangeDesc_t>(
      batch->regionDescElements, batch->regionCount, batch->regionDescElementSize,
      [&](const nvtxMemVirtualRangeDesc_t& each) {
        const auto known = pools().find(pool);
        if (known == pools().end() || number(each.ptr) - pool + each.size > known->second)
          return refuse_description(place, "nvtxMemRegionsRegister: the region is in no such pool");
        regions()[number(each.ptr)] = {number(each.ptr), each.size, pool, {}, {}};
      });
}
void nvtxMemRegionsResize(nvtxDomainHandle_t, const nvtxMemRegionsResizeBatch_t* batch,
                          Place place) {
  for_each<nvtxMemVirtualRangeDesc_t>(
      batch->regionDescElements, batch->regionDescCount, batch->regionDescElementSize,
      [&](const nvtxMemVirtualRangeDesc_t& each) {
        Region* const found = find_region(number(each.ptr));
        if (found == nullptr || found->unregistered)
          return refuse_description(place, "nvtxMemRegionsResize: there is no such region");
        found->bytes = each.size;
      });
}
void nvtxMemRegionsUnregister(nvtxDomainHandle_t, const nvtxMemRegionsUnregisterBatch_t* batch,
                              Place place) {
  for_each<nvtxMemRegionRef_t>(batch->refElements, batch->refCount, batch->refElementSize,
                               [&](const nvtxMemRegionRef_t& each) {
                                 Region* const found = find_region(number(each.pointer));
                                 if (found == nullptr || found->unregistered)
                                   return refuse_description(
                                       place, "nvtxMemRegionsUnregister: there is no such region");
                                 found->unregistered = place;
                               });
}
void nvtxMemRegionsName(nvtxDomainHandle_t, const nvtxMemRegionsNameBatch_t* batch, Place) {
  for_each<nvtxMemRegionNameDesc_t>(
      batch->regionElements, batch->regionCount, batch->regionElementSize,
      [&](const nvtxMemRegionNameDesc_t& each) {
        if (each.nameType != NVTX_MESSAGE_TYPE_ASCII) return;
        const std::uint64_t at = number(each.region.pointer);
        if (Region* const found = find_region(at)) found->name = each.name.ascii;
        else if (Allocation* const whole = DeviceMemory::get().find(at))
          whole->name = each.name.ascii;
      });
}
void nvtxMemPermissionsAssign(nvtxDomainHandle_t, const nvtxMemPermissionsAssignBatch_t* batch,
                              Place place) {
  for_each<nvtxMemPermissionsAssignRegionDesc_t>(
      batch->regionElements, batch->regionCount, batch->regionElementSize,
      [&](const nvtxMemPermissionsAssignRegionDesc_t& each) {
        const Allocation* const found = DeviceMemory::get().find(number(each.region.pointer));
        if (found == nullptr || found->freed)
          return refuse_description(place, "nvtxMemPermissionsAssign: no memory of the device");
        if ((each.flags & NVTX_MEM_PERMISSIONS_REGION_FLAGS_RESET) != 0)
          permissions().erase(found->begin);
        else permissions()[found->begin] = each.flags;
      });
}
