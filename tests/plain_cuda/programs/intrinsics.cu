// Intrinsics of whole numbers, of halves and bytes of words, and functions that the C library does
// not have.
#include <cuComplex.h>
#include <cuda_fp8.h>
#include <device_launch_parameters.h>
#include <math_constants.h>
#include <sm_61_intrinsics.h>
#include <vector_functions.h>

#include <cstdio>
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/latch>
#include <cuda/semaphore>

__device__ bool near(double a, double b) { return fabs(a - b) <= 1e-6 * fabs(b); }

__device__ int wrong_words() {
  int wrong = 0;
  wrong += __vadd4(0x01ff7f80, 0x01010101) != 0x02008081;
  wrong += __vaddss4(0x01ff7f80, 0x01010181) != 0x02007f80;
  wrong += __vaddus2(0xffff0001, 0x00010001) != 0xffff0002;
  wrong += __vsub2(0x00010000, 0x00020001) != 0xffffffff;
  wrong += __vsubus4(0x01020304, 0x02020202) != 0x00000102;
  wrong += __vabsdiffu4(0x01ff0005, 0x0201ff05) != 0x01feff00;
  wrong += __vabs2(0xffff8000) != 0x00018000 || __vabsss2(0xffff8000) != 0x00017fff;
  wrong += __vmaxs4(0x80017fff, 0x00000000) != 0x00017f00 ||
           __vminu2(0x00018000, 0xffff0001) != 0x00010001;
  wrong += __vcmpeq4(0x01020304, 0x01000300) != 0xff00ff00 ||
           __vsetgts2(0x0001ffff, 0x00000000) != 0x00010000;
  wrong += __vavgs2(0xfffe0001, 0xffff0002) != 0xfffe0002 ||
           __vavgu4(0xff000001, 0xff010002) != 0xff010002;
  wrong += __vhaddu4(0xff000001, 0xff010002) != 0xff000001 || __vneg4(0x01ff8000) != 0xff018000;
  wrong += __vsads2(0xffff0003, 0x00010001) != 4 || __vsadu4(0x01020304, 0x04030201) != 8;
  wrong += __hadd(-3, 0) != -2 || __rhadd(-3, 0) != -1 || __uhadd(0xffffffffu, 1) != 0x80000000u;
  wrong += __dp2a_lo(0x0002ffff, 0x01020304, 10) != 10 + 2 * 3 - 4 ||
           __dp2a_hi(0x0002ffff, 0x01020304, 10) != 10 + 2 * 1 - 2;
  wrong += __dp4a(0x01ff0203u, 0x01010101u, 0u) != 1 + 255 + 2 + 3 ||
           __dp4a(0x01ff0203, 0x01010101, 0) != 1 - 1 + 2 + 3;
  wrong += __funnelshift_lc(1, 2, 40) != 1 || __funnelshift_l(1, 2, 40) != 0x200 ||
           __funnelshift_rc(1, 2, 32) != 2;
  wrong += __vimax3_s32(-3, -2, -5) != -2 || __vimax3_s32_relu(-3, -2, -5) != 0 ||
           __viaddmin_s32(2, 3, 4) != 4;
  wrong += __viaddmax_s16x2(0x00010002, 0x00010001, 0x00050000) != 0x00050003;
  bool is_first;
  wrong += __vibmax_s32(3, 2, &is_first) != 3 || !is_first;
  wrong += umin(1u, 2u) != 1 || llmax(-1, 2) != 2;
  wrong += __float2int_rn(2.5f) != 2 || __float2int_rz(3e9f) != 0x7fffffff ||
           __double2uint_rz(-1.0) != 0;
  return wrong;
}

__device__ int wrong_functions(const double* of_three) {
  int wrong = 0;
  wrong += !near(norm4df(1, 2, 2, 4), 5) || !near(rnorm3d(2, 3, 6), 1.0 / 7) ||
           !near(norm(3, of_three), 7);
  wrong += !near(erfinv(erf(0.3)), 0.3) || !near(erfcinv(erfc(3.0)), 3.0) ||
           !near(erfinvf(0.5f), 0.47693628);
  wrong += !near(normcdfinv(normcdf(-5.0)), -5.0) || !near(normcdfinvf(0.975f), 1.959964);
  wrong +=
      !near(cyl_bessel_i0f(1.0f), 1.2660659) || !near(cyl_bessel_i1(-1.0), -0.5651591039924851);
  wrong += sinpi(3.0) != 0 || cospi(0.5) != 0 || !near(erfcx(30.0), 0.018795888861416751);
  float s, c;
  sincospif(0.25f, &s, &c);
  wrong += !near(s, CUDART_SQRT_HALF_F) || s != c;
  const cuDoubleComplex z = cuCdiv(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, 4));
  wrong += !near(z.x, 0.44) || !near(z.y, 0.08) || !near(cuCabs(make_cuDoubleComplex(3, 4)), 5);
  const float4 four = float4(__nv_fp8x4_e4m3(make_float4(1, -2, 0.5f, 448)));
  wrong += four.x != 1 || four.y != -2 || four.z != 0.5f || four.w != 448;
  wrong += float2(__nv_fp8x2_e5m2(make_float2(3, 4))).y != 4;
  wrong += cuda::ceil_div(7, 2) != 4 || cuda::maximum<int>{}(2, 3) != 3;
  return wrong;
}

__global__ void count(int* wrong, const double* of_three) {
  if (threadIdx.x == 0) wrong[0] = wrong_words();
  if (threadIdx.x == 1) wrong[1] = wrong_functions(of_three);
}

/// One thread at a time adds: the semaphore orders them.
__global__ void in_turns(int* sum, cuda::binary_semaphore<cuda::thread_scope_device>* free,
                         cuda::latch<cuda::thread_scope_device>* all) {
  free->acquire();
  *sum += 1;
  free->release();
  all->arrive_and_wait();
}

int main() {
  const double host[3] = {2, 3, 6};
  int wrong[2], sum, *device_wrong, *device_sum;
  double* three;
  cudaMalloc(&device_wrong, sizeof wrong);
  cudaMalloc(&device_sum, sizeof sum);
  cudaMalloc(&three, sizeof host);
  cudaMemcpy(three, host, sizeof host, cudaMemcpyHostToDevice);
  count<<<1, 32>>>(device_wrong, three);
  cudaMemcpy(wrong, device_wrong, sizeof wrong, cudaMemcpyDeviceToHost);
  cuda::binary_semaphore<cuda::thread_scope_device>* turn;
  cuda::latch<cuda::thread_scope_device>* all;
  cudaMallocManaged(&turn, sizeof *turn);
  cudaMallocManaged(&all, sizeof *all);
  new (turn) cuda::binary_semaphore<cuda::thread_scope_device>(1);
  new (all) cuda::latch<cuda::thread_scope_device>(4);
  cudaMemset(device_sum, 0, sizeof sum);
  in_turns<<<4, 1>>>(device_sum, turn, all);
  cudaMemcpy(&sum, device_sum, sizeof sum, cudaMemcpyDeviceToHost);
  cudaFree(device_wrong);
  cudaFree(device_sum);
  cudaFree(three);
  cudaFree(turn);
  cudaFree(all);
  printf("%d %d %d\n", wrong[0], wrong[1], sum);
  return wrong[0] + wrong[1] + (sum != 4);
}
