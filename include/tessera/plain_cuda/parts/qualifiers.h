// CUDA's words for functions and variables. __global__, __shared__, __noinline__,
// __launch_bounds__, __cluster_dims__ and __grid_constant__ are not among them: `tessera check`
// rewrites those.
#pragma once

#define __host__
#define __device__
#define __constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __inline__ inline
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __maxnreg__(n)
#define __nv_pure__
#define __builtin_assume(condition) static_cast<void>(0)
#define __assume(condition) static_cast<void>(0)
#define CUDARTAPI
#define CUDART_CB
