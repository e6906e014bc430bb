// Ranges and marks of NVTX, which do nothing here.
#include <nvtx3/nvToolsExt.h>

__global__ void k(int* x) { *x = 1; }

int main() {
  int* x;
  nvtxEventAttributes_t how = {0};
  how.version = NVTX_VERSION;
  how.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  how.messageType = NVTX_MESSAGE_TYPE_ASCII;
  how.message.ascii = "allocate";
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("tests");
  nvtxRangePushEx(&how);
  cudaMalloc(&x, sizeof *x);
  nvtxRangePop();
  nvtxDomainRangePushEx(domain, &how);
  const nvtxRangeId_t all = nvtxRangeStartA("launch");
  k<<<1, 1>>>(x);
  nvtxMarkA("launched");
  nvtxRangeEnd(all);
  nvtxDomainRangePop(domain);
  nvtxDomainDestroy(domain);
  cudaFree(x);
}
