// Half precision, bfloat16 and 8-bit formats: every conversion and sum of narrow numbers against a
// search of the nearest one, and the functions on the device.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_fp8.h"

static int failures = 0;
static void expect(bool holds, const char* what, double a = 0, double b = 0) {
  if (holds) return;
  if (++failures < 20) std::printf("wrong: %s (%a, %a)\n", what, a, b);
}

// The nearest of all finite positive numbers, ties to the even one, found by bisection.
template <class T>
static unsigned short nearest(double x, unsigned short (*bits)(T), T (*of)(unsigned short),
                              unsigned short last) {
  const unsigned short sign = std::signbit(x) ? 0x8000 : 0;
  const double magnitude = std::fabs(x);
  unsigned low = 0, high = last;
  while (low + 1 < high) {
    const unsigned middle = (low + high) / 2;
    (static_cast<double>(static_cast<float>(of(middle))) <= magnitude ? low : high) = middle;
  }
  const double below = static_cast<float>(of(low)), above = static_cast<float>(of(high));
  const double down = magnitude - below, up = above - magnitude;
  const unsigned out = down < up ? low : up < down ? high : low % 2 == 0 ? low : high;
  return static_cast<unsigned short>(sign | out);
}

static void conversions() {
  unsigned seed = 1;
  const auto random = [&] { return seed = seed * 1664525u + 1013904223u; };
  for (int i = 0; i < 20000; ++i) {
    const auto a = static_cast<unsigned short>(random() >> 16 & 0xf7ff);
    const auto b = static_cast<unsigned short>(random() >> 16 & 0xf7ff);
    const __half x = __ushort_as_half(a), y = __ushort_as_half(b);
    if (__hisnan(x) || __hisinf(x) || __hisnan(y) || __hisinf(y)) continue;
    const double exact = static_cast<double>(__half2float(x)) + __half2float(y);
    if (std::fabs(exact) < 65504)
      expect(__heq(x + y, __ushort_as_half(
                              nearest<__half>(exact, __half_as_ushort, __ushort_as_half, 0x7bff))),
             "half + half", __half2float(x), __half2float(y));
    const double product = static_cast<double>(__half2float(x)) * __half2float(y);
    if (std::fabs(product) < 65504)
      expect(__half_as_ushort(x * y) ==
                 nearest<__half>(product, __half_as_ushort, __ushort_as_half, 0x7bff),
             "half * half", __half2float(x), __half2float(y));
  }
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const __half x = __ushort_as_half(static_cast<unsigned short>(bits));
    expect(__half_as_ushort(__float2half(__half2float(x))) == bits, "half to float and back");
    const __half next = __ushort_as_half(static_cast<unsigned short>(bits + 1));
    if (bits + 1 >= 0x7c00) continue;
    const double middle = (static_cast<double>(__half2float(x)) + __half2float(next)) / 2;
    expect(__half_as_ushort(__double2half(middle)) == (bits % 2 == 0 ? bits : bits + 1), "a tie");
    expect(__half_as_ushort(__double2half(std::nextafter(middle, 1e9))) == bits + 1, "above a tie");
    expect(__half_as_ushort(__float2half_rz(static_cast<float>(middle))) == bits,
           "rounded to zero");
    expect(__half_as_ushort(__float2half_ru(static_cast<float>(middle))) == bits + 1, "rounded up");
    expect(__half_as_ushort(__float2half_rd(static_cast<float>(-middle))) == (0x8000 | (bits + 1)),
           "rounded down");
  }
  expect(__half_as_ushort(__float2half(65519.0f)) == 0x7bff, "the largest half");
  expect(__half_as_ushort(__float2half(65520.0f)) == 0x7c00, "infinity");
  expect(__half_as_ushort(__float2half_rz(1e6f)) == 0x7bff, "rounded to zero from beyond");
  expect(__hisnan(__float2half(NAN)), "NaN");
  expect(__half_as_ushort(__float2half(-0.0f)) == 0x8000, "minus zero");
  expect(__bfloat16_as_ushort(__float2bfloat16(1.00390625f)) == 0x3f80, "a tie of bfloat16");
  expect(__bfloat16_as_ushort(__float2bfloat16(1.01171875f)) == 0x3f82, "another tie of bfloat16");
  expect(__bfloat162float(__float2bfloat16(3.0e38f)) < 3.02e38f, "a large bfloat16");
  expect(__half2int_rn(__float2half(2.5f)) == 2 && __half2int_rz(__float2half(-2.5f)) == -2 &&
             __half2int_ru(__float2half(2.25f)) == 3 && __half2int_rd(__float2half(-2.25f)) == -3,
         "half to int");
  expect(__half2float(__int2half_rn(2049)) == 2048.0f, "int to half");
  // The exact sum is just above the middle between two: a product in float would lose that.
  expect(__half_as_ushort(__hfma(__ushort_as_half(0x3c01), __ushort_as_half(0x3c01),
                                 __ushort_as_half(0x6800))) ==
             nearest<__half>(1.0009765625 * 1.0009765625 + 2048, __half_as_ushort, __ushort_as_half,
                             0x7bff),
         "fma of halves");
}

static void eight_bits() {
  expect(static_cast<float>(__nv_fp8_e4m3(448.0f)) == 448.0f, "the largest e4m3");
  expect(static_cast<float>(__nv_fp8_e4m3(1e6f)) == 448.0f, "e4m3 saturates");
  expect(__nv_cvt_float_to_fp8(1e6f, __NV_NOSAT, __NV_E4M3) == 0x7f, "e4m3 without saturation");
  expect(static_cast<float>(__nv_fp8_e5m2(57344.0f)) == 57344.0f, "the largest e5m2");
  expect(static_cast<float>(__nv_fp8_e4m3(0.001953125f)) == 0.001953125f, "the least e4m3");
  expect(static_cast<float>(__nv_fp8_e4m3(1.0625f)) == 1.0f, "a tie of e4m3");
  for (unsigned bits = 0; bits < 0x7f; ++bits) {
    __nv_fp8_e4m3 x;
    x.__x = static_cast<unsigned char>(bits);
    expect(__nv_fp8_e4m3(static_cast<float>(x)).__x == bits, "e4m3 to float and back");
  }
}

__global__ void on_device(const __half* a, const __half2* pairs, __half* out, __half2* sums,
                          __nv_bfloat16* b, float* f) {
  __shared__ __half tile[64];
  const int i = threadIdx.x;
  tile[i] = a[i];
  __syncthreads();
  out[i] = __hadd(tile[63 - i], __float2half(1.0f)) * __half(0.5f);
  sums[i] = __hfma2(pairs[i], __float2half2_rn(2.0f), __floats2half2_rn(1.0f, 3.0f));
  b[i] = __float2bfloat16(static_cast<float>(i) * 0.37f);
  f[i] = __bfloat162float(b[i]) + __low2float(sums[i]) + __half2float(__hmax(tile[i], tile[0]));
  atomicAdd(&out[64], __float2half(1.0f));
  __half other = __shfl_xor_sync(0xffffffffu, tile[i], 1);
  if (__hgt(other, tile[i])) f[i] += 1.0f;
}

int main() {
  conversions();
  eight_bits();
  constexpr int n = 64;
  __half a[n], out[n + 1];
  __half2 pairs[n], sums[n];
  __nv_bfloat16 b[n];
  float f[n];
  for (int i = 0; i < n; ++i) a[i] = i, pairs[i] = __floats2half2_rn(i, -i);
  out[n] = 0;
  __half *da, *dout;
  __half2 *dpairs, *dsums;
  __nv_bfloat16* db;
  float* df;
  cudaMalloc(&da, sizeof a), cudaMalloc(&dout, sizeof out), cudaMalloc(&dpairs, sizeof pairs);
  cudaMalloc(&dsums, sizeof sums), cudaMalloc(&db, sizeof b), cudaMalloc(&df, sizeof f);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(dpairs, pairs, sizeof pairs, cudaMemcpyHostToDevice);
  cudaMemset(dout, 0, sizeof out);
  on_device<<<1, n>>>(da, dpairs, dout, dsums, db, df);
  cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
  cudaMemcpy(sums, dsums, sizeof sums, cudaMemcpyDeviceToHost);
  cudaMemcpy(f, df, sizeof f, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) {
    expect(static_cast<float>(out[i]) == (64 - i) * 0.5f, "sum of halves", i);
    expect(__low2float(sums[i]) == 2.0f * i + 1 && __high2float(sums[i]) == -2.0f * i + 3, "pair",
           i);
    const float wanted = __bfloat162float(__float2bfloat16(i * 0.37f)) + 2.0f * i + 1 + i +
                         (i % 2 == 0 ? 1.0f : 0.0f);
    expect(f[i] == wanted, "mixed", f[i], wanted);
  }
  expect(static_cast<float>(out[n]) == 64.0f, "atomic sum", static_cast<float>(out[n]));
  cudaFree(da), cudaFree(dout), cudaFree(dpairs), cudaFree(dsums), cudaFree(db), cudaFree(df);
  expect(__half2char_rz(__half(-3.75f)) == -3, "half to char", __half2char_rz(__half(-3.75f)));
  expect(__bfloat162uchar_rz(__nv_bfloat16(300.0f)) == 255, "bfloat16 to uchar", 255);
  const __half2 ones = __half2half2(__half(1.0f)), mixed = __floats2half2_rn(1.0f, 2.0f);
  expect(__heq2_mask(ones, mixed) == 0xffffu, "mask", __heq2_mask(ones, mixed));
  expect(__hltu2_mask(ones, mixed) == 0xffff0000u, "mask", __hltu2_mask(ones, mixed));
  expect(static_cast<__half>(__nv_bfloat16(1.5f)) == __half(1.5f), "bfloat16 to half");
  expect(static_cast<__nv_bfloat16>(__half(1.5f)) == __nv_bfloat16(1.5f), "half to bfloat16");
  return failures != 0;
}
