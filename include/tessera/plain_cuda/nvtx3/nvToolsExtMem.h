// NVTX's descriptions of memory: pools with regions of their own, names, permissions. The checker
// keeps to them. Implemented in src/plain_cuda/runtime/regions.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../parts/place.h"
#include "nvToolsExt.h"

#define NVTX_EXT_COMPATID_MEM 0x0102
#define NVTX_MEM_TYPE_UNKNOWN 0
#define NVTX_MEM_TYPE_VIRTUAL_ADDRESS 1
#define NVTX_MEM_HEAP_USAGE_TYPE_UNKNOWN 0
#define NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR 1
#define NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT 2
#define NVTX_MEM_REGION_REF_TYPE_UNKNOWN 0
#define NVTX_MEM_REGION_REF_TYPE_POINTER 1
#define NVTX_MEM_REGION_REF_TYPE_HANDLE 2
#define NVTX_MEM_PERMISSIONS_REGION_FLAGS_NONE 0
#define NVTX_MEM_PERMISSIONS_REGION_FLAGS_READ 1
#define NVTX_MEM_PERMISSIONS_REGION_FLAGS_WRITE 2
#define NVTX_MEM_PERMISSIONS_REGION_FLAGS_ATOMIC 4
#define NVTX_MEM_PERMISSIONS_REGION_FLAGS_RESET 8

using nvtxMemHeapHandle_t = struct nvtxMemHeap_v1*;
using nvtxMemRegionHandle_t = struct nvtxMemRegion_v1*;
using nvtxMemPermissionsHandle_t = struct nvtxMemPermissions_v1*;
union nvtxMemRegionRef_t {
  const void* pointer;
  nvtxMemRegionHandle_t handle;
};
struct nvtxMemVirtualRangeDesc_t {
  std::size_t size;
  const void* ptr;
};
struct nvtxMemHeapDesc_t {
  std::uint16_t extCompatID, structSize;
  std::uint32_t reserved0, usage, type;
  std::size_t typeSpecificDescSize;
  const void* typeSpecificDesc;
  std::uint32_t category, messageType;
  const void* message;
};
struct nvtxMemRegionsRegisterBatch_t {
  std::uint16_t extCompatID, structSize;
  std::uint32_t regionType;
  nvtxMemHeapHandle_t heap;
  std::size_t regionCount, regionDescElementSize;
  const void* regionDescElements;
  nvtxMemRegionHandle_t* regionHandleElementsOut;
};
struct nvtxMemRegionsResizeBatch_t {
  std::uint16_t extCompatID, structSize;
  std::uint32_t regionType;
  std::size_t regionDescCount, regionDescElementSize;
  const void* regionDescElements;
};
struct nvtxMemRegionsUnregisterBatch_t {
  std::uint16_t extCompatID, structSize;
  std::uint32_t refType;
  std::size_t refCount, refElementSize;
  const void* refElements;
};
struct nvtxMemRegionNameDesc_t {
  std::uint32_t regionRefType, nameType;
  nvtxMemRegionRef_t region;
  union {
    const char* ascii;
    const wchar_t* unicode;
  } name;
};
struct nvtxMemRegionsNameBatch_t {
  std::uint16_t extCompatID, structSize;
  std::size_t regionCount, regionElementSize;
  const void* regionElements;
};
struct nvtxMemPermissionsAssignRegionDesc_t {
  std::uint32_t flags, regionRefType;
  nvtxMemRegionRef_t region;
};
struct nvtxMemPermissionsAssignBatch_t {
  std::uint16_t extCompatID, structSize;
  nvtxMemPermissionsHandle_t permissions;
  std::size_t regionCount, regionElementSize;
  const void* regionElements;
};

nvtxMemHeapHandle_t nvtxMemHeapRegister(nvtxDomainHandle_t, const nvtxMemHeapDesc_t* heap,
                                        TESSERA_PLACE);
void nvtxMemHeapUnregister(nvtxDomainHandle_t, nvtxMemHeapHandle_t heap, TESSERA_PLACE);
/// Unregisters the regions of the heap.
void nvtxMemHeapReset(nvtxDomainHandle_t, nvtxMemHeapHandle_t heap, TESSERA_PLACE);
void nvtxMemRegionsRegister(nvtxDomainHandle_t, const nvtxMemRegionsRegisterBatch_t* batch,
                            TESSERA_PLACE);
void nvtxMemRegionsResize(nvtxDomainHandle_t, const nvtxMemRegionsResizeBatch_t* batch,
                          TESSERA_PLACE);
void nvtxMemRegionsUnregister(nvtxDomainHandle_t, const nvtxMemRegionsUnregisterBatch_t* batch,
                              TESSERA_PLACE);
void nvtxMemRegionsName(nvtxDomainHandle_t, const nvtxMemRegionsNameBatch_t* batch, TESSERA_PLACE);
void nvtxMemPermissionsAssign(nvtxDomainHandle_t, const nvtxMemPermissionsAssignBatch_t* batch,
                              TESSERA_PLACE);
