// The asynchronous machine of sm_90 in PTX, one instruction each: gates (mbarrier), bulk copies of
// tiles (cp.async.bulk.tensor), the order of their views of shared memory, named barriers,
// clusters. The functions of simt/gate.hpp and ops/bulk.hpp call it through t.async(); the CPU
// engine
// has the same members.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tessera/core/here.hpp"
#include "tessera/core/small_float.hpp"

namespace tessera {

struct Gate;

class CudaAsync {
 public:
  __device__ static std::uint32_t address(const void* shared) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  }

  // ---- gates (PTX ISA 9.7.13.15) ----

  __device__ static void open(Gate* gate, int arrivals, Here) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(gate)), "r"(arrivals)
                 : "memory");
  }
  __device__ static void publish(Here) {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __device__ static void expect(Gate* gate, int bytes, Here) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(gate)),
                 "r"(bytes)
                 : "memory");
  }
  __device__ static void arrive(Gate* gate, Here) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(gate)) : "memory");
  }
  __device__ static void arrive(Gate* gate, int rank, Here) {
    asm volatile(
        "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(address(gate)),
        "r"(rank)
        : "memory");
  }
  __device__ static void wait(Gate* gate, unsigned phase, Here) {
    asm volatile(
        "{\n.reg .pred over;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
        "@over bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(address(gate)),
        "r"(phase)
        : "memory");
  }

  // ---- bulk copies of tiles (PTX ISA 9.7.9.27) ----

  __device__ static void copy(const void* map, int x, int y, void* to, Gate* gate, Here) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%2, %3}], [%4];" ::"r"(address(to)),
        "l"(map), "r"(x), "r"(y), "r"(address(gate))
        : "memory");
  }
  __device__ static void copy(const void* map, int x, int y, void* to, Gate* gate, unsigned blocks,
                              Here) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(address(to)),
        "l"(map), "r"(x), "r"(y), "r"(address(gate)), "h"(static_cast<std::uint16_t>(blocks))
        : "memory");
  }
  __device__ static void store(const void* map, int x, int y, const void* from, Here) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
            map),
        "r"(address(from)), "r"(x), "r"(y)
        : "memory");
  }
  __device__ static void commit(Here) { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
  template <int Pending>
  __device__ static void wait_stored(Here) {
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
  }
  template <int Pending>
  __device__ static void wait_read(Here) {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
  }
  __device__ static void fence(Here) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __device__ static void fence_global(Here) {
    asm volatile("fence.proxy.async.global;" ::: "memory");
  }

  // ---- matrix units of a warpgroup: the order around them (PTX ISA 9.7.15.7) ----

  __device__ static void begin_units(Here) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  }
  __device__ static void commit_units(Here) {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }
  template <int Pending>
  __device__ static void wait_units(Here) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
  }

  /// The sums of Cols columns of m64nN into rows of 128 bytes, in the 128-byte swizzle: pairs of
  /// neighbours, of 16-bit elements four 8 x 8 matrices at once (stmatrix, PTX ISA 9.7.14.5.16).
  template <int Cols, class T, class Acc>
  __device__ static void put(int thread, const Acc* sums, T* slice) {
    const std::uint32_t to = address(slice);
    const int warp = thread / 32, lane = thread % 32;
    if constexpr (sizeof(T) == 2) {
      const int row = warp * 16 + lane % 16;
#pragma unroll
      for (int j = 0; j < Cols / 16; ++j) {
        std::uint32_t word[4];
#pragma unroll
        for (int x = 0; x < 4; ++x) word[x] = pack<T>(sums[8 * j + 2 * x], sums[8 * j + 2 * x + 1]);
        const int chunk = (j * 2 + lane / 16) ^ (row % 8);
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         to + row * 128 + chunk * 16),
                     "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
                     : "memory");
      }
    } else {
      static_assert(sizeof(T) == 4 && sizeof(Acc) == 4, "slices of 16-bit or 32-bit elements");
#pragma unroll
      for (int j = 0; j < Cols / 8; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = warp * 16 + lane / 4 + half * 8;
          const int chunk = (j * 2 + lane % 4 / 2) ^ (row % 8);
          const Acc low = sums[4 * j + 2 * half], high = sums[4 * j + 2 * half + 1];
          const std::uint32_t at = to + row * 128 + chunk * 16 + lane % 2 * 8;
          // No conversion to integer registers: the compiler would have to move such sums before
          // each matrix instruction.
          if constexpr (std::is_same_v<Acc, float>)
            asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(low), "f"(high)
                         : "memory");
          else
            asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(low), "r"(high)
                         : "memory");
        }
      }
    }
  }

  // ---- barriers, clusters, launches ----

  template <int Id>
  __device__ static void meet(int threads, Here) {
    asm volatile("bar.sync %0, %1;" ::"n"(Id), "r"(threads) : "memory");
  }
  __device__ static int cluster_rank() {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return static_cast<int>(rank);
  }
  /// PTX ISA 9.7.13.4.
  __device__ static void cluster_arrive(Here) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  }
  __device__ static void cluster_wait(Here) {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
  /// setmaxnreg (PTX ISA 9.7.19.5), by all warps of a warpgroup.
  template <int Registers>
  __device__ static void fewer_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
  }
  template <int Registers>
  __device__ static void more_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
  }
  /// PTX ISA 9.7.13.13: the kernels before this one and after it in a stream.
  __device__ static void let_next_start() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
  __device__ static void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

 private:
  /// Two neighbours as 16-bit elements, rounded to nearest.
  template <class T>
  __device__ static std::uint32_t pack(float low, float high) {
    std::uint32_t word;
    if constexpr (std::is_same_v<T, bf16>)
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    else asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
  }
};

}  // namespace tessera
