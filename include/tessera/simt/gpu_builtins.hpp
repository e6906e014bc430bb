// The built-ins of Clang's GPU code that differ between OpenCL (SPIR-V) and AMD: thread indices,
// barriers, warp exchanges. Called by GpuThread only; the rest of the code is common.
#pragma once

#include "tessera/core/config.hpp"

#if defined(__AMDGCN__)

namespace tessera::detail {

__device__ inline int local_id(int mode) {
  return static_cast<int>(mode == 0   ? __builtin_amdgcn_workitem_id_x()
                          : mode == 1 ? __builtin_amdgcn_workitem_id_y()
                                      : __builtin_amdgcn_workitem_id_z());
}
__device__ inline int group_id(int mode) {
  return static_cast<int>(mode == 0   ? __builtin_amdgcn_workgroup_id_x()
                          : mode == 1 ? __builtin_amdgcn_workgroup_id_y()
                                      : __builtin_amdgcn_workgroup_id_z());
}
__device__ inline void block_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__device__ inline void device_fence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
/// The lanes of a wave run in step; memory between them is ordered by this.
__device__ inline void wave_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
/// The lane of the hardware, which has waves of 32 or 64.
__device__ inline int wave_lane() {
  return static_cast<int>(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)));
}
__device__ inline int from_wave_lane(int value, int lane) {
  return __builtin_amdgcn_ds_bpermute(4 * lane, value);
}
__device__ inline unsigned long wave_ballot(bool vote) {
  constexpr int differs = 33;  // LLVM's number of the comparison
  return __builtin_amdgcn_uicmp(vote ? 1u : 0u, 0u, differs);
}
inline constexpr bool kHasWarps = true;

}  // namespace tessera::detail

#elif defined(__SPIRV__)

// OpenCL's own functions by their names in SPIR.
extern "C" __device__ __attribute__((const)) unsigned long _Z12get_local_idj(unsigned mode);
extern "C" __device__ __attribute__((const)) unsigned long _Z12get_group_idj(unsigned mode);
extern "C" __device__ __attribute__((convergent)) void _Z7barrierj(unsigned flags);

namespace tessera::detail {

__device__ inline int local_id(int mode) {
  return static_cast<int>(_Z12get_local_idj(static_cast<unsigned>(mode)));
}
__device__ inline int group_id(int mode) {
  return static_cast<int>(_Z12get_group_idj(static_cast<unsigned>(mode)));
}
/// Of shared (1) and global memory (2).
__device__ inline void block_barrier() { _Z7barrierj(1 | 2); }
__device__ inline void device_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
// OpenCL has no warps: GpuThread refuses the kernels that would call these.
inline constexpr bool kHasWarps = false;
__device__ void wave_barrier();
__device__ int wave_lane();
__device__ int from_wave_lane(int value, int lane);
__device__ unsigned long wave_ballot(bool vote);

}  // namespace tessera::detail

#endif
