// Pipelines of threads and blocks, barriers that count arrivals, atomics with orders.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/array>

namespace cg = cooperative_groups;

__global__ void primitives(const float4* in, float4* out) {
  __shared__ float4 tile[2][32];
  const int i = threadIdx.x;
  for (int stage = 0; stage < 2; ++stage) {
    __pipeline_memcpy_async(&tile[stage][i], in + stage * 32 + i, sizeof(float4));
    __pipeline_commit();
  }
  for (int stage = 0; stage < 2; ++stage) {
    __pipeline_wait_prior(1 - stage);
    __syncthreads();
    out[stage * 32 + i] = tile[stage][31 - i];
  }
}

__global__ void of_block(const int* in, int* out, int rounds) {
  constexpr int stages = 2;
  __shared__ int tile[stages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int next = 0;
  for (int round = 0; round < rounds; ++round) {
    for (; next < rounds && next < round + stages; ++next) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, tile[next % stages], in + next * 64, sizeof(int) * 64, pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    out[round * 64 + threadIdx.x] = tile[round % stages][63 - threadIdx.x];
    pipeline.consumer_release();
  }
}

__global__ void by_barrier(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int box[64];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::std::array<int, 2> seen{};
  for (int round = 0; round < 2; ++round) {
    box[threadIdx.x] = round * 1000 + threadIdx.x;
    bar.arrive_and_wait();
    seen[round] = box[63 - threadIdx.x];
    auto token = bar.arrive();
    bar.wait(std::move(token));
  }
  out[threadIdx.x] = seen[0] + seen[1];
}

// Block 0 produces, block 1 consumes.
__global__ void flags(int* data, int* flag, int* out, unsigned* total) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> sum(*total);
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *data = 42;
      ready.store(1, cuda::memory_order_release);
    }
  } else if (threadIdx.x == 0) {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    *out = *data;
  }
  sum.fetch_add(threadIdx.x, cuda::std::memory_order_relaxed);
}

static int failures = 0;
static void expect(bool holds, const char* what, int i, double got) {
  if (!holds && ++failures < 20) std::printf("wrong: %s %d: %g\n", what, i, got);
}

int main() {
  nvtxRangePushA("all");
  int in[256], out[256];
  for (int i = 0; i < 256; ++i) in[i] = i;
  int *din, *dout;
  cudaMalloc(&din, sizeof in), cudaMalloc(&dout, sizeof out);
  cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice);
  primitives<<<1, 32>>>(reinterpret_cast<float4*>(din), reinterpret_cast<float4*>(dout));
  cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 256; ++i)
    expect(out[i] == i / 128 * 128 + (31 - i % 128 / 4) * 4 + i % 4, "primitives", i, out[i]);
  of_block<<<1, 64>>>(din, dout, 4);
  cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 256; ++i) expect(out[i] == i / 64 * 64 + 63 - i % 64, "pipeline", i, out[i]);
  by_barrier<<<1, 64>>>(dout);
  cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) expect(out[i] == 1000 + 2 * (63 - i), "barrier", i, out[i]);
  cudaMemset(dout, 0, 16);
  flags<<<2, 32>>>(dout, dout + 1, dout + 2, reinterpret_cast<unsigned*>(dout + 3));
  cudaMemcpy(out, dout, 16, cudaMemcpyDeviceToHost);
  expect(out[2] == 42 && out[3] == 992, "flags", out[2], out[3]);
  cudaFree(din), cudaFree(dout);
  nvtxRangePop();
  return failures != 0;
}
