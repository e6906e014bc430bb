// expect: out-of-bounds at 8, runtime-misuse at 61, freed-memory at 9
// Regions of a pool and permissions, described by NVTX: behind a region, in one that was given
// back, and a write to what may only be read.
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtMemCudaRt.h>

__global__ void before(char* x) { x[threadIdx.x] = 1; }
__global__ void behind(char* x) { x[threadIdx.x] = 1; }
__global__ void after(char* x) { x[threadIdx.x] = 1; }
__global__ void twice(char* x) { x[64 + threadIdx.x] *= 2; }

template <class Batch>
Batch batch_of() {
  Batch out = {};
  out.extCompatID = NVTX_EXT_COMPATID_MEM;
  out.structSize = sizeof out;
  return out;
}
void permit(nvtxDomainHandle_t domain, const void* at, unsigned flags) {
  nvtxMemPermissionsAssignRegionDesc_t region = {flags, NVTX_MEM_REGION_REF_TYPE_POINTER, {at}};
  auto batch = batch_of<nvtxMemPermissionsAssignBatch_t>();
  batch.permissions = nvtxMemCudaGetProcessWidePermissions(domain);
  batch.regionCount = 1, batch.regionElementSize = sizeof region, batch.regionElements = &region;
  nvtxMemPermissionsAssign(domain, &batch);
}

int main() {
  const auto domain = nvtxDomainCreateA("pools");
  char *pool = nullptr, *other = nullptr;
  cudaMalloc(&pool, 4096);
  cudaMalloc(&other, 128);
  cudaMemset(other, 0, 128);
  nvtxMemVirtualRangeDesc_t range = {4096, pool};
  auto heap = batch_of<nvtxMemHeapDesc_t>();
  heap.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR, heap.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  heap.typeSpecificDesc = &range, heap.typeSpecificDescSize = sizeof range;
  const auto handle = nvtxMemHeapRegister(domain, &heap);
  range = {32, pool};
  auto registered = batch_of<nvtxMemRegionsRegisterBatch_t>();
  registered.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS, registered.heap = handle;
  registered.regionCount = 1, registered.regionDescElementSize = sizeof range;
  registered.regionDescElements = &range;
  nvtxMemRegionsRegister(domain, &registered);
  nvtxMemRegionNameDesc_t name = {NVTX_MEM_REGION_REF_TYPE_POINTER, NVTX_MESSAGE_TYPE_ASCII};
  name.region.pointer = pool, name.name.ascii = "samples";
  auto named = batch_of<nvtxMemRegionsNameBatch_t>();
  named.regionCount = 1, named.regionElementSize = sizeof name, named.regionElements = &name;
  nvtxMemRegionsName(domain, &named);
  before<<<1, 32>>>(pool);
  range.size = 48;
  auto resized = batch_of<nvtxMemRegionsResizeBatch_t>();
  resized.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS, resized.regionDescCount = 1;
  resized.regionDescElementSize = sizeof range, resized.regionDescElements = &range;
#ifdef FIXED
  nvtxMemRegionsResize(domain, &resized);
  behind<<<1, 48>>>(pool);
#else
  behind<<<1, 48>>>(pool);
  permit(domain, other, NVTX_MEM_PERMISSIONS_REGION_FLAGS_READ);
#endif
  twice<<<1, 64>>>(other);
  nvtxMemRegionRef_t region = {pool};
  auto ended = batch_of<nvtxMemRegionsUnregisterBatch_t>();
  ended.refType = NVTX_MEM_REGION_REF_TYPE_POINTER, ended.refCount = 1;
  ended.refElementSize = sizeof region, ended.refElements = &region;
#ifndef FIXED
  nvtxMemRegionsUnregister(domain, &ended);
#endif
  after<<<1, 1>>>(pool);
  nvtxMemHeapUnregister(domain, handle);
  cudaFree(pool);
  cudaFree(other);
}
