// NVTX's permissions of the process and of the device: there is one of each.
#pragma once

#include "nvToolsExtMem.h"

inline nvtxMemPermissionsHandle_t nvtxMemCudaGetProcessWidePermissions(nvtxDomainHandle_t) {
  return nullptr;
}
inline nvtxMemPermissionsHandle_t nvtxMemCudaGetDeviceWidePermissions(nvtxDomainHandle_t, int) {
  return nullptr;
}
