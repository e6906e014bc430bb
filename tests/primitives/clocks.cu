// P10 and P11: what multiply-adds in four orders take, and the rates of a card. The test of the
// issue model reads the machine code of the four loops.
#include <cuda_runtime_api.h>

#include "clocks.hpp"
#include "on_gpu.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/small_float.hpp"
#include "tessera/cuda/runtime.hpp"
#include "tessera/ops/descriptor.hpp"
#include "tessera/simt/cuda_wgmma.cuh"

namespace tessera::primitives {

namespace {

void require(cudaError_t status) {
  if (status != cudaSuccess)
    throw Error(Category::kernel, "a primitive failed on the device", {},
                cudaGetErrorString(status));
}

/// Which of the 64 sums is the n-th of a step.
template <int Order>
__device__ constexpr int sum_at(int n) {
  const int slow = n / 8, fast = n % 8;
  if (Order == 0) return slow * 8 + fast;                               // rows
  if (Order == 1) return fast * 8 + slow;                               // columns
  if (Order == 2) return slow * 8 + (slow % 2 == 0 ? fast : 7 - fast);  // serpentine
  return (slow + fast) % 8 * 8 + fast;                                  // diagonals
}

/// kOrderSteps * steps outer products of 8 x 8 sums, one warp for each scheduler.
template <int Order>
__global__ void __launch_bounds__(128)
    multiply_adds(const float* in, float* out, long long* clocks, int steps) {
  float a[8], b[8], sum[64];
  for (int i = 0; i < 8; ++i) a[i] = in[threadIdx.x + i], b[i] = in[threadIdx.x + 8 + i];
#pragma unroll
  for (int i = 0; i < 64; ++i) sum[i] = in[i];
  const long long begin = clock64();
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int k = 0; k < kOrderSteps; ++k) {
#pragma unroll
      for (int n = 0; n < 64; ++n) {
        const int at = sum_at<Order>(n);
        // Volatile: in this order.
        asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum[at]) : "f"(a[at / 8]), "f"(b[at % 8]));
      }
    }
  }
  const long long end = clock64();
  float all = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) all += sum[i];
  out[threadIdx.x] = all;
  if (threadIdx.x == 0) *clocks = end - begin;
}

template <class T>
struct Memory {
  T* data = nullptr;
  explicit Memory(std::size_t count) {
    require(cudaMalloc(&data, count * sizeof(T)));
    require(cudaMemset(data, 0, count * sizeof(T)));
  }
  Memory(const Memory&) = delete;
  ~Memory() { static_cast<void>(cudaFree(data)); }
};

template <int Order>
std::uint32_t clocks_of_order() {
  constexpr int steps = 512;
  const Memory<float> in(256), out(128);
  const Memory<long long> clocks(1);
  long long least = 0;
  for (int i = 0; i < 5; ++i) {
    multiply_adds<Order><<<1, 128>>>(in.data, out.data, clocks.data, steps);
    long long now = 0;
    require(cudaMemcpy(&now, clocks.data, sizeof now, cudaMemcpyDeviceToHost));
    least = i == 0 || now < least ? now : least;
  }
  return static_cast<std::uint32_t>(1000.0 * double(least) / (64.0 * kOrderSteps * steps) + 0.5);
}

__global__ void read_all(const uint4* from, std::size_t count, int rounds, unsigned* out) {
  unsigned sum = 0;
  const std::size_t first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = first; i < count; i += step) {
      uint4 x;
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                   : "l"(from + (i + static_cast<std::size_t>(round) * 977) % count));
      sum += x.x ^ x.y ^ x.z ^ x.w;
    }
  }
  if (sum == 1) *out = sum;
}

__global__ void copy_all(const uint4* from, uint4* to, std::size_t count) {
  const std::size_t step = gridDim.x * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) to[i] = from[i];
}

__global__ void nothing() {}

/// The units of all multiprocessors at work for `steps`; the clock of the second half, in kHz.
__global__ void __launch_bounds__(128) heat(int steps, float* out, unsigned* khz) {
  __shared__ alignas(1024) unsigned char tiles[(64 + 256) * 128];
  unsigned seed = blockIdx.x * 128 + threadIdx.x;
  for (unsigned i = threadIdx.x; i < sizeof tiles / 2; i += 128) {
    seed = seed * 1664525 + 1013904223;  // bf16 between 0.5 and 2, of both signs
    reinterpret_cast<unsigned short*>(tiles)[i] =
        static_cast<unsigned short>(0x3f00u | (seed >> 16 & 0x80ffu));
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const auto at = [&](const unsigned char* tile) {
    return bits_of(UnitDescriptor{
               .start = 0, .leading = 16, .stride = 1024, .mode = SwizzleMode::bytes_128}) |
           descriptor_address(static_cast<std::uint32_t>(__cvta_generic_to_shared(tile)));
  };
  const std::uint64_t a = at(tiles), b = at(tiles + 64 * 128);
  float d[128] = {};
  unsigned long long time = 0, begin = 0;
  long long clock = 0;
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 2) {
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
      clock = clock64();
    }
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 4; ++k)
      tessera::detail::wgmma<bf16, bf16, 256, 0, 0>(d, a + 2 * k, b + 2 * k, 1);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  clock = clock64() - clock;
  float all = 0;
  for (int i = 0; i < 128; ++i) all += d[i];
  out[blockIdx.x * 128 + threadIdx.x] = all;
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *khz = static_cast<unsigned>(1e6 * double(clock) / double(time - begin));
}

/// Seconds of what `start` starts, after one call that is not timed.
template <class Start>
double seconds_of(const Start& start) {
  cudaEvent_t begin, end;
  require(cudaEventCreate(&begin));
  require(cudaEventCreate(&end));
  start();
  require(cudaEventRecord(begin));
  start();
  require(cudaEventRecord(end));
  require(cudaEventSynchronize(end));
  require(cudaGetLastError());
  float ms = 0;
  require(cudaEventElapsedTime(&ms, begin, end));
  return double(ms) * 1e-3;
}

}  // namespace

Dump record_p10() {
  return {clocks_of_order<0>(), clocks_of_order<1>(), clocks_of_order<2>(), clocks_of_order<3>()};
}

Dump record_p11() {
  const int sms = cuda::device(0).sms;
  const auto blocks = static_cast<unsigned>(sms);
  const Memory<unsigned> word(1);
  constexpr std::size_t cached = std::size_t{24} << 20, large = std::size_t{1} << 30;
  constexpr int rounds = 50, launches = 2000;
  const Memory<uint4> a(large / sizeof(uint4)), b(large / sizeof(uint4));
  const double reading = seconds_of(
      [&] { read_all<<<blocks * 2, 1024>>>(a.data, cached / sizeof(uint4), rounds, word.data); });
  const double copying =
      seconds_of([&] { copy_all<<<blocks * 2, 1024>>>(a.data, b.data, large / sizeof(uint4)); });
  const double launching = seconds_of([&] {
    for (int i = 0; i < launches; ++i) nothing<<<1, 32>>>();
  });
  const Memory<float> sums(static_cast<std::size_t>(sms) * 128);
  heat<<<blocks, 128>>>(400'000, sums.data, word.data);
  unsigned khz = 0;
  require(cudaMemcpy(&khz, word.data, sizeof khz, cudaMemcpyDeviceToHost));
  const auto whole = [](double value) { return static_cast<std::uint32_t>(value + 0.5); };
  return {whole(rounds * double(cached) / reading * 1e-9),
          whole(2 * double(large) / copying * 1e-9), whole(launching / launches * 1e9),
          whole(khz * 1e-3)};
}

}  // namespace tessera::primitives
