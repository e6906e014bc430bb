// The instructions of unit_bits.hpp on a GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "support/unit_operands.hpp"
#include "tessera/ops/tensor_core.hpp"
#include "tessera/ops/unit_arithmetic.hpp"
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
    if constexpr (sizeof(In) == 8) detail::mma_sync(d.value, a.value, b.value);
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

template <class T>
unsigned long long bits_of(T value) {
  unsigned long long bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
bool same(T a, T b) {  // the bits of a NaN of f64 are not known
  return bits_of(a) == bits_of(b) || (sizeof(T) == 8 && a != a && b != b);
}

/// What other rules would give: a number of fraction bits, of products at once, products with a
/// zero that take part in the alignment.
template <MatrixUnit U, class In, int K, int Fraction, int Depth>
float other_sum(float c, const In* a, const In* b, bool aligns_zeros = false) {
  std::int16_t parts[4][K]{};
  for (int k = 0; k < K; ++k) {
    auto x = detail::unit_operand<U>(a[k]), y = detail::unit_operand<U>(b[k]);
    if (aligns_zeros && x.significand == 0) x.exponent = -126;
    if (aligns_zeros && y.significand == 0) y.exponent = -126;
    parts[0][k] = x.significand, parts[1][k] = x.exponent;
    parts[2][k] = y.significand, parts[3][k] = y.exponent;
  }
  constexpr int mantissa = detail::unit_mantissa<detail::UnitInput<U, In>>();
  for (int k = 0; k < K; k += Depth)
    c = detail::fused_sum<Fraction, detail::unit_rules<U, In>().result_bits, mantissa, Depth>(
        c, {parts[0] + k, parts[1] + k}, {parts[2] + k, parts[3] + k});
  return c;
}

/// One instruction on tiles of `rows` x 8.
template <MatrixUnit U, class In, class Out, int K>
struct Comparison {
  std::vector<In> a, b;
  std::vector<Out> c, d;
  int rows;
  std::array<int, 6> explained{};

  Comparison(Operands kind, int rows_, int tiles) : rows(rows_) {
    const auto count = static_cast<std::size_t>(tiles);
    a.resize(count * static_cast<std::size_t>(rows * K)), b.resize(count * 8 * K);
    c.resize(count * static_cast<std::size_t>(rows * 8)), d.resize(c.size());
    DrawOperands draw(kind, 1 + static_cast<std::uint64_t>(kind));
    draw.fill(a, false), draw.fill(b, true);
    for (auto& each : c) each = draw.template addend<In, Out>();
  }
  template <class Kernel>
  void run(Kernel kernel, int tiles) {
    const OnDevice<In> A(a), B(b);
    const OnDevice<Out> C(c), D(d);
    kernel<<<static_cast<unsigned>(tiles), static_cast<unsigned>(rows * 2)>>>(A.data, B.data,
                                                                              C.data, D.data);
    require(cudaGetLastError());
    require(cudaMemcpy(d.data(), D.data, d.size() * sizeof(Out), cudaMemcpyDeviceToHost));
  }
  UnitReport report() {
    UnitReport out;
    for (std::size_t i = 0; i < d.size(); ++i, ++out.compared) {
      const In* row = a.data() + i / 8 * K;
      const In* column = b.data() + (i / static_cast<std::size_t>(rows * 8) * 8 + i % 8) * K;
      const Out expected = sum_of_products<U, K>(c[i], row, column);
      if (same(d[i], expected)) continue;
      if (++out.different <= 3) out.text += line(i, row, column, expected);
      if constexpr (detail::kIsFusedInput<In>) explain(d[i], c[i], row, column);
    }
    if (out.different != 0 && detail::kIsFusedInput<In>) {
      constexpr const char* names[] = {"one bit less",  "one bit more",
                                       "halves",        "one bit less and halves",
                                       "zeros aligned", "-0 for +0"};
      out.text += "    as many of them are right by other rules:";
      for (std::size_t j = 0; j < explained.size(); ++j)
        out.text +=
            std::string(" ") + names[j] + " " + std::to_string(explained[j]) + (j < 5 ? "," : "\n");
    }
    return out;
  }

 private:
  void explain(Out got, Out addend, const In* a, const In* b) {
    constexpr int F = detail::unit_rules<U, In>().fraction_bits;
    const Out others[] = {other_sum<U, In, K, F - 1, K>(addend, a, b),
                          other_sum<U, In, K, F + 1, K>(addend, a, b),
                          other_sum<U, In, K, F, K / 2>(addend, a, b),
                          other_sum<U, In, K, F - 1, K / 2>(addend, a, b),
                          other_sum<U, In, K, F, K>(addend, a, b, true),
                          -0.0f};
    for (std::size_t j = 0; j < explained.size(); ++j) explained[j] += same(got, others[j]) ? 1 : 0;
  }
  std::string line(std::size_t i, const In* row, const In* column, Out expected) const {
    char text[160];
    std::snprintf(text, sizeof text, "    element %zu: got %llx, expected %llx, c %llx\n      a", i,
                  bits_of(d[i]), bits_of(expected), bits_of(c[i]));
    std::string out = text;
    const auto add = [&](const In* values, const char* end) {
      for (int k = 0; k < K; ++k) {
        std::snprintf(text, sizeof text, " %llx", bits_of(values[k]));
        out += text;
      }
      out += end;
    };
    add(row, "\n      b"), add(column, "\n");
    return out;
  }
};

template <MatrixUnit U, class In, class Out, int K>
void compare(std::vector<UnitReport>& out, const char* name, int tiles) {
  const int kinds = std::is_integral_v<In> ? 1 : static_cast<int>(kOperandNames.size());
  for (int kind = 0; kind < kinds; ++kind) {
    const auto operands = static_cast<Operands>(kind);
    constexpr bool is_warp = U != MatrixUnit::sm_90_warpgroup;
    const int count = is_warp ? tiles : tiles / 4;
    Comparison<U, In, Out, K> comparison(operands, is_warp ? 16 : 64, count);
    if constexpr (is_warp) comparison.run(multiply_by_warp<In, Out, K>, count);
    else comparison.run(multiply_by_warpgroup<In, Out, K>, count);
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
