// The instructions of unit_bits.hpp on a GPU.
#include <cuda_runtime_api.h>

#include <stdexcept>

#include "support/unit_comparison.hpp"
#include "tessera/ops/tensor_core.hpp"
#include "tessera/simt/cuda_mma.cuh"
#include "unit_bits.hpp"

namespace tessera::testing {

namespace {

/// D = A * B + C of one warp for each tile; A (16,K) and B (8,K) with k contiguous. The bits of the
/// operands reach the unit as they are.
template <class In, class Out, int K>
__global__ void multiply_by_warp(const In* A, const In* B, const Out* C, Out* D) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
  if constexpr (detail::kIsFloat8<In>) return;
  else
#endif
  {
    using Mma = TensorCore<Out, In, MmaShape{16, 8, K}>;
    constexpr Layout layout_a = Mma::layout_a, layout_b = Mma::layout_b, layout_c = Mma::layout_c;
    const int lane = static_cast<int>(threadIdx.x);
    A += blockIdx.x * 16 * K, B += blockIdx.x * 8 * K, C += blockIdx.x * 128, D += blockIdx.x * 128;
    typename Mma::FragmentA a;
    typename Mma::FragmentB b;
    typename Mma::FragmentC d;
#pragma unroll
    for (int v = 0; v < Mma::values_a; ++v) {
      const int at = static_cast<int>(index_of<layout_a>(lane, v));
      a.value[v] = A[at % 16 * K + at / 16];
    }
#pragma unroll
    for (int v = 0; v < Mma::values_b; ++v) {
      const int at = static_cast<int>(index_of<layout_b>(lane, v));
      b.value[v] = B[at % 8 * K + at / 8];
    }
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const int at = static_cast<int>(index_of<layout_c>(lane, v));
      d.value[v] = C[at % 16 * 8 + at / 16];
    }
    if constexpr (sizeof(In) == 8) detail::mma_sync<K>(d.value, a.value, b.value);
    else
      detail::mma_sync<In, K>(d.value, reinterpret_cast<const unsigned*>(a.value),
                              reinterpret_cast<const unsigned*>(b.value));
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const int at = static_cast<int>(index_of<layout_c>(lane, v));
      D[at % 16 * 8 + at / 16] = d.value[v];
    }
  }
}

/// The descriptor of a K-major tile in rows of 128 bytes, swizzled by 128 bytes (PTX ISA 9.7.15.5):
/// groups of eight rows are 1024 bytes apart.
__device__ unsigned long long descriptor(const unsigned char* at) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(at));
  return (address & 0x3ffffu) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

template <class In, class Out>
__device__ void wgmma(Out (&d)[4], unsigned long long a, unsigned long long b) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define TESSERA_WGMMA(text, constraint, rest)                                                    \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8" text " {%0, %1, %2, %3}, %4, %5, 1" rest ";" \
               : constraint(d[0]), constraint(d[1]), constraint(d[2]), constraint(d[3])          \
               : "l"(a), "l"(b))
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  if constexpr (std::is_same_v<In, f16>) TESSERA_WGMMA("k16.f32.f16.f16", "+f", ", 1, 1, 0, 0");
  else if constexpr (std::is_same_v<In, bf16>)
    TESSERA_WGMMA("k16.f32.bf16.bf16", "+f", ", 1, 1, 0, 0");
  else if constexpr (std::is_same_v<In, float>) TESSERA_WGMMA("k8.f32.tf32.tf32", "+f", ", 1, 1");
  else if constexpr (std::is_same_v<In, f8e4m3>) TESSERA_WGMMA("k32.f32.e4m3.e4m3", "+f", ", 1, 1");
  else if constexpr (std::is_same_v<In, f8e5m2>) TESSERA_WGMMA("k32.f32.e5m2.e5m2", "+f", ", 1, 1");
  else if constexpr (std::is_same_v<In, std::int8_t>) TESSERA_WGMMA("k32.s32.s8.s8", "+r", "");
  else TESSERA_WGMMA("k32.s32.u8.u8", "+r", "");
#undef TESSERA_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
}

/// The same of one warpgroup: A (64,K), B (8,K), K of 32 bytes. The operands lie in one of the four
/// places for 32 bytes that the rows of the swizzled tile have.
template <class In, class Out, int K>
__global__ void multiply_by_warpgroup(const In* A, const In* B, const Out* C, Out* D) {
  static_assert(K * sizeof(In) == 32);
  __shared__ alignas(1024) unsigned char tiles[72 * 128];
  const int thread = static_cast<int>(threadIdx.x), place = static_cast<int>(blockIdx.x % 4);
  const auto* a = reinterpret_cast<const uint4*>(A + blockIdx.x * 64 * K);
  const auto* b = reinterpret_cast<const uint4*>(B + blockIdx.x * 8 * K);
  for (int i = thread; i < 72 * 8; i += 128) {  // NaN where no operand is
    const int row = i / 8, chunk = i % 8;
    uint4 bits = make_uint4(~0u, ~0u, ~0u, ~0u);
    if (chunk / 2 == place)
      bits = row < 64 ? a[row * 2 + chunk % 2] : b[(row - 64) * 2 + chunk % 2];
    *reinterpret_cast<uint4*>(tiles + row * 128 + (chunk ^ row % 8) * 16) = bits;
  }
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  __syncthreads();
  const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
  C += blockIdx.x * 512, D += blockIdx.x * 512;
  Out d[4];
#pragma unroll
  for (int v = 0; v < 4; ++v) d[v] = C[(row + v / 2 * 8) * 8 + column + v % 2];
  wgmma<In>(d, descriptor(tiles) + 2u * place, descriptor(tiles + 64 * 128) + 2u * place);
#pragma unroll
  for (int v = 0; v < 4; ++v) D[(row + v / 2 * 8) * 8 + column + v % 2] = d[v];
}

void require(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <class T>
struct OnDevice {
  T* data = nullptr;
  explicit OnDevice(const std::vector<T>& from) {
    require(cudaMalloc(&data, from.size() * sizeof(T)));
    require(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  OnDevice(const OnDevice&) = delete;
  ~OnDevice() { static_cast<void>(cudaFree(data)); }
};

/// Runs the instruction on a GPU: a kernel that multiplies one tile in each block.
template <class Comparison, class Kernel>
void run_on_gpu(Comparison& on, Kernel kernel, int tiles) {
  const OnDevice A(on.a), B(on.b);
  const OnDevice C(on.c), D(on.d);
  kernel<<<static_cast<unsigned>(tiles), static_cast<unsigned>(on.rows * 2)>>>(A.data, B.data,
                                                                               C.data, D.data);
  require(cudaGetLastError());
  require(cudaMemcpy(on.d.data(), D.data, on.d.size() * sizeof on.d[0], cudaMemcpyDeviceToHost));
}

template <MatrixUnit U, class In, class Out, int K>
void compare(std::vector<UnitReport>& out, const char* name, int tiles) {
  const int kinds = std::is_integral_v<In> ? 1 : static_cast<int>(kOperandNames.size());
  for (int kind = 0; kind < kinds; ++kind) {
    const auto operands = static_cast<Operands>(kind);
    constexpr bool is_warp = U != MatrixUnit::sm_90_warpgroup;
    const int count = is_warp ? tiles : tiles / 4;
    UnitComparison<U, In, Out, K> comparison(operands, is_warp ? 16 : 64, count);
    if constexpr (is_warp) run_on_gpu(comparison, multiply_by_warp<In, Out, K>, count);
    else run_on_gpu(comparison, multiply_by_warpgroup<In, Out, K>, count);
    UnitReport report = comparison.report();
    report.instruction = name;
    report.operands = kinds == 1 ? "any" : kOperandNames[static_cast<std::size_t>(kind)];
    out.push_back(report);
  }
}

template <MatrixUnit U>
void compare_warp(std::vector<UnitReport>& out, int tiles) {
  compare<U, float, float, 4>(out, "mma 16x8x4 tf32", tiles);
  compare<U, float, float, 8>(out, "mma 16x8x8 tf32", tiles);
  compare<U, f16, float, 8>(out, "mma 16x8x8 f16", tiles);
  compare<U, f16, float, 16>(out, "mma 16x8x16 f16", tiles);
  compare<U, bf16, float, 8>(out, "mma 16x8x8 bf16", tiles);
  compare<U, bf16, float, 16>(out, "mma 16x8x16 bf16", tiles);
  compare<U, std::int8_t, int, 32>(out, "mma 16x8x32 s8", tiles);
  compare<U, std::uint8_t, int, 32>(out, "mma 16x8x32 u8", tiles);
  compare<U, double, double, 16>(out, "mma 16x8x16 f64", tiles);
  compare<U, double, double, 8>(out, "mma 16x8x8 f64", tiles);
  if constexpr (U == MatrixUnit::sm_90) {
    compare<U, f8e4m3, float, 32>(out, "mma 16x8x32 e4m3", tiles);
    compare<U, f8e5m2, float, 32>(out, "mma 16x8x32 e5m2", tiles);
  }
}

}  // namespace

std::vector<UnitReport> compare_unit_bits(int tiles) {
  std::vector<UnitReport> out;
  int major = 0, minor = 0;
  require(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  require(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  if (major == 8 && minor == 0) compare_warp<MatrixUnit::sm_80>(out, tiles);
  if (major != 9) return out;
  compare_warp<MatrixUnit::sm_90>(out, tiles);
  constexpr auto U = MatrixUnit::sm_90_warpgroup;
  compare<U, f16, float, 16>(out, "wgmma 64x8x16 f16", tiles);
  compare<U, bf16, float, 16>(out, "wgmma 64x8x16 bf16", tiles);
  compare<U, float, float, 8>(out, "wgmma 64x8x8 tf32", tiles);
  compare<U, f8e4m3, float, 32>(out, "wgmma 64x8x32 e4m3", tiles);
  compare<U, f8e5m2, float, 32>(out, "wgmma 64x8x32 e5m2", tiles);
  compare<U, std::int8_t, int, 32>(out, "wgmma 64x8x32 s8", tiles);
  compare<U, std::uint8_t, int, 32>(out, "wgmma 64x8x32 u8", tiles);
  return out;
}

}  // namespace tessera::testing
