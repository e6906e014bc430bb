// The thread's context `t` on a CUDA GPU: the same members as CpuThread, everything inlined to the
// built-ins. And the one __global__ function through which every kernel is launched.
#pragma once

#include <climits>
#include <cstring>
#include <type_traits>

#include "tessera/core/here.hpp"
#include "tessera/simt/cuda_async.cuh"
#include "tessera/simt/cuda_mma.cuh"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/distance_shuffles.hpp"
#include "tessera/tensor/tensor.hpp"

namespace tessera {

/// The context of a kernel that declares its block size.
template <Dim3 Block>
class CudaThread : public detail::DistanceShuffles<CudaThread<Block>> {
 public:
  static constexpr Dim3 block_dim = Block;
  static constexpr int warp_size = kWarpSize;
  Position thread, block;
  Dim3 grid_dim;
  int lane, warp;

  /// In a grid of `grid` blocks. The hardware allows at most 65535 blocks along y: a larger
  /// two-dimensional grid continues along z (cuda/launch_kernel.hpp).
  __device__ explicit CudaThread(Dim3 grid) : grid_dim(grid) {
    // Uses the compile-time block size where there is one, so that loops over a thread's share have
    // constant trip counts.
    thread = {static_cast<int>(threadIdx.x), Block.y == 1 ? 0 : static_cast<int>(threadIdx.y),
              Block.z == 1 ? 0 : static_cast<int>(threadIdx.z), 0};
    thread.linear = thread.x + Block.x * (thread.y + Block.y * thread.z);
    __builtin_assume(thread.linear >= 0 && thread.linear < volume(Block));
    const bool folded = grid.z == 1;
    // A folded grid has surplus blocks after its last row; entry() recognises them by this.
    const unsigned row = folded ? blockIdx.y + gridDim.y * blockIdx.z : blockIdx.y;
    block = {static_cast<int>(blockIdx.x), static_cast<int>(min(row, unsigned{INT_MAX})),
             static_cast<int>(folded ? 0 : blockIdx.z), 0};
    block.linear = block.x + grid_dim.x * (block.y + grid_dim.y * block.z);
    lane = thread.linear % kWarpSize;
    warp = thread.linear / kWarpSize;
  }

  __device__ void barrier(Here = {}) { __syncthreads(); }
  __device__ void warp_barrier(Here = {}) { __syncwarp(); }
  template <class Body>
  __device__ void superstep(const char*, Body&& body, Here = {}) {
    body();
    __syncthreads();
  }

  __device__ void* shared_memory(std::size_t) {
    extern __shared__ __align__(1024) unsigned char tessera_shared[];
    return tessera_shared;
  }

  /// Gates, bulk copies and matrix units of sm_90 (simt/gate.hpp, ops/bulk.hpp,
  /// ops/warpgroup.hpp).
  __device__ static CudaAsync async() { return {}; }
  /// The number of this warpgroup (four warps), uniform over its threads as far as the compiler can
  /// see.
  __device__ int warpgroup() const { return __shfl_sync(0xffffffffu, warp, 0) / 4; }
  __device__ static int cluster_rank() { return CudaAsync::cluster_rank(); }

  __device__ int lanes() const {
    constexpr int threads = static_cast<int>(volume(Block));
    return threads - warp * kWarpSize < kWarpSize ? threads - warp * kWarpSize : kWarpSize;
  }
  template <class T>
  __device__ T shuffle(T value, int source, Here = {}) {
    return exchange(value, source < 0 || source >= lanes() ? lane : source, all_lanes());
  }
  __device__ unsigned ballot(bool vote, Here = {}) { return __ballot_sync(all_lanes(), vote); }
  __device__ bool any(bool vote, Here = {}) { return __any_sync(all_lanes(), vote) != 0; }
  __device__ bool all(bool vote, Here = {}) { return __all_sync(all_lanes(), vote) != 0; }

  /// The same for the lanes that a mask names, all of which come with the same mask.
  using LaneMask = unsigned;
  __device__ void warp_barrier(LaneMask mask, Here = {}) { __syncwarp(mask); }
  template <class T>
  __device__ T shuffle(T value, int source, LaneMask mask, Here = {}) {
    const bool is_named = source >= 0 && source < kWarpSize && (mask >> source & 1) != 0;
    return exchange(value, is_named ? source : lane, mask);
  }
  __device__ unsigned ballot(bool vote, LaneMask mask, Here = {}) {
    return __ballot_sync(mask, vote) & mask;
  }
  __device__ bool any(bool vote, LaneMask mask, Here = {}) { return __any_sync(mask, vote) != 0; }
  __device__ bool all(bool vote, LaneMask mask, Here = {}) { return __all_sync(mask, vote) != 0; }
  __device__ LaneMask active_mask(Here = {}) { return __activemask(); }

  /// bar.sync (PTX ISA 9.7.13.1) counts a partial last warp as a full one.
  __device__ void barrier(int id, int threads, Here = {}) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
  }
  __device__ void fence(Here = {}) { __threadfence(); }

  template <class T>
  __device__ T atomic_add(T& target, std::type_identity_t<T> value, Here = {}) {
    return atomicAdd(&target, value);
  }
  template <class T>
  __device__ T atomic_max(T& target, std::type_identity_t<T> value, Here = {}) {
    return atomicMax(&target, value);
  }
  template <class T>
  __device__ T atomic_min(T& target, std::type_identity_t<T> value, Here = {}) {
    return atomicMin(&target, value);
  }
  template <class T>
  __device__ T atomic_exchange(T& target, std::type_identity_t<T> value, Here = {}) {
    return atomicExch(&target, value);
  }
  template <class T>
  __device__ T atomic_compare_exchange(T& target, std::type_identity_t<T> expected,
                                       std::type_identity_t<T> desired, Here = {}) {
    return atomicCAS(&target, expected, desired);
  }

  /// ld.relaxed and st.relaxed of the device (PTX ISA 9.7.9.8): the compiler may not remove them or
  /// keep the value in a register.
  template <class T>
  __device__ std::remove_const_t<T> atomic_load(T& target, Here = {}) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an atomic load moves 4 or 8 bytes");
    std::remove_const_t<T> value;
    if constexpr (sizeof(T) == 4) {
      unsigned bits;
      asm volatile("ld.relaxed.gpu.b32 %0, [%1];" : "=r"(bits) : "l"(&target) : "memory");
      std::memcpy(&value, &bits, sizeof value);
    } else {
      unsigned long long bits;
      asm volatile("ld.relaxed.gpu.b64 %0, [%1];" : "=l"(bits) : "l"(&target) : "memory");
      std::memcpy(&value, &bits, sizeof value);
    }
    return value;
  }
  template <class T>
  __device__ void atomic_store(T& target, std::type_identity_t<T> value, Here = {}) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an atomic store moves 4 or 8 bytes");
    if constexpr (sizeof(T) == 4) {
      unsigned bits;
      std::memcpy(&bits, &value, sizeof bits);
      asm volatile("st.relaxed.gpu.b32 [%0], %1;" ::"l"(&target), "r"(bits) : "memory");
    } else {
      unsigned long long bits;
      std::memcpy(&bits, &value, sizeof bits);
      asm volatile("st.relaxed.gpu.b64 [%0], %1;" ::"l"(&target), "l"(bits) : "memory");
    }
  }

  /// cp.async of 4 bytes for each element (PTX ISA 9.7.9.25.3.1); past the edge it copies 0 bytes
  /// and fills with zero.
  template <class Src, class Dst>
  __device__ void copy_async(const Src& src, const Dst& dst) {
    if constexpr (sizeof(typename Src::element) == 4 &&
                  std::is_same_v<ElementOf<Src>, ElementOf<Dst>>) {
      constexpr index_t cols = Dst::pattern.shape.leaf(1), count = Dst::pattern.shape.product();
      constexpr index_t threads = volume(Block);
      for (index_t i = thread; i < count; i += threads) {
        const index_t row = i / cols, col = i % cols;
        const bool inside = src.contains(row, col);
        const void* from = inside ? &src(row, col) : static_cast<const void*>(src.data());
        const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&dst(row, col)));
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from),
                     "r"(inside ? 4 : 0)
                     : "memory");
      }
    } else {
      copy(*this, src, dst);
    }
  }
  /// cp.async of 4, 8 or 16 bytes into shared memory, zeros where `inside` is false; both addresses
  /// are aligned to as many.
  template <int Bytes>
  __device__ void copy_async_bytes(void* to, const void* from, bool inside) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async moves 4, 8 or 16 bytes");
    const auto target = static_cast<unsigned>(__cvta_generic_to_shared(to));
    const int read = inside ? Bytes : 0;
    if constexpr (Bytes == 16) {  // bypasses L1: a block reads each element once
      asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(target),
                   "l"(from), "r"(read)
                   : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(from),
                   "n"(Bytes), "r"(read)
                   : "memory");
    }
  }
  __device__ void commit_async(Here = {}) { asm volatile("cp.async.commit_group;" ::: "memory"); }
  template <int Pending>
  __device__ void wait_async(Here = {}) {
    asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
  }

  /// nvcc can see that a kernel's Shared is shared memory: the test is free.
  __device__ static bool is_shared(const void* address) { return __isShared(address) != 0; }

  /// Loads 8 x 8 matrices of 16-bit elements from shared memory, one register each: ldmatrix
  /// (PTX ISA 9.7.14.5.15). for lane l, `row` is the address of row l % 8 of matrix l / 8, aligned
  /// to 16 bytes. Transposed: fragments of the transposed matrices.
  template <int Matrices, bool Transposed>
  __device__ void load_matrices(unsigned* fragment, const void* row) {
    static_assert(Matrices == 2 || Matrices == 4, "ldmatrix loads 2 or 4 matrices here");
    const auto from = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if constexpr (Matrices == 4 && !Transposed) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
                   : "r"(from)
                   : "memory");
    } else if constexpr (!Transposed) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                   : "=r"(fragment[0]), "=r"(fragment[1])
                   : "r"(from)
                   : "memory");
    } else {
      static_assert(Matrices == 2, "ldmatrix loads 2 transposed matrices here");
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                   : "=r"(fragment[0]), "=r"(fragment[1])
                   : "r"(from)
                   : "memory");
    }
  }

  /// d += a * b by the warp's matrix unit (cuda_mma.cuh).
  template <class D, class A, class B, class Mma>
  __device__ void mma(D& d, const A& a, const B& b, Mma) {
    using In = std::remove_cvref_t<decltype(a.value[0])>;
    if constexpr (std::is_same_v<In, double>)
      detail::mma_sync<Mma::shape.k>(d.value, a.value, b.value);
    else
      detail::mma_sync<In, Mma::shape.k>(d.value, reinterpret_cast<const unsigned*>(a.value),
                                         reinterpret_cast<const unsigned*>(b.value));
  }

 private:
  __device__ unsigned all_lanes() const {
    return lanes() == kWarpSize ? 0xffffffffu : (1u << lanes()) - 1;
  }
  template <class T>
  __device__ T exchange(T value, int source, unsigned mask) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16,
                  "a shuffle moves at most 16 plain bytes");
    unsigned words[(sizeof(T) + 3) / 4] = {};
    std::memcpy(words, &value, sizeof(T));
    for (auto& word : words) word = __shfl_sync(mask, word, source);
    std::memcpy(&value, words, sizeof(T));
    return value;
  }
};

namespace detail {

/// The minimum number of resident blocks per multiprocessor (__launch_bounds__), which limits
/// registers: what the kernel declares for the element type of its first tensor, else 1.
template <class Kernel, class... Args>
constexpr int declared_resident() {
  return 1;
}
template <class Kernel, class First, class... Rest>
requires requires { Kernel::template resident<tessera::ElementOf<First>>(); }
constexpr int declared_resident() { return Kernel::template resident<tessera::ElementOf<First>>(); }

}  // namespace detail

/// Every kernel is launched through this function, with its own block size and `Shared` in dynamic
/// shared memory.
template <class Kernel, class... Args>
__global__ void __launch_bounds__(volume(Kernel::block),
                                  (detail::declared_resident<Kernel, Args...>()))
    entry(Kernel kernel, Dim3 grid, Args... args) {
  if constexpr (requires { Kernel::warp; }) {
    static_assert(
        Kernel::warp == kWarpSize,
        "this kernel is written for warps of 64 lanes, which an NVIDIA GPU does not have: "
        "run it on the CPU engine");
  }
  CudaThread<Kernel::block> t(grid);
  if (t.block.y < grid.y) kernel(t, args...);
}

namespace detail {

/// Kernels that use features of sm_90a declare static constexpr bool needs_sm_90a = true.
template <class Kernel>
constexpr bool needs_sm_90a() {
  if constexpr (requires { Kernel::needs_sm_90a; }) return Kernel::needs_sm_90a;
  else return false;
}

/// The arguments of a launch as one value.
template <class... Args>
struct Arguments {
  template <class Body, class... Before>
  __device__ void pass_to(const Body& body, const Before&... before) const {
    body(before...);
  }
};
template <class First, class... Rest>
struct Arguments<First, Rest...> {
  First first;
  Arguments<Rest...> rest;
  template <class Body, class... Before>
  __device__ void pass_to(const Body& body, const Before&... before) const {
    rest.pass_to(body, before..., first);
  }
};

}  // namespace detail

/// The same for these kernels. Their arguments are __grid_constant__, because bulk copies read
/// tensor maps in parameter space; on other architectures the kernel is empty and never launched.
template <class Kernel, class... Args>
__global__ void __launch_bounds__(volume(Kernel::block), 1)
    entry_sm_90a(Kernel kernel, Dim3 grid,
                 const __grid_constant__ detail::Arguments<Args...> arguments) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  CudaThread<Kernel::block> t(grid);
  if (t.block.y < grid.y)
    arguments.pass_to([&](const auto&... args)
                          __attribute__((always_inline)) { kernel(t, args...); });
#endif
}

}  // namespace tessera
