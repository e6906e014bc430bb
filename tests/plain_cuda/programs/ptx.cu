// Inline PTX: arithmetic, votes, loads and stores, asynchronous copies, barriers, control flow.
#include <cstdint>
#include <cstdio>

#include "cuda_fp16.h"

__device__ inline uint32_t lane_id() {
  uint32_t lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

__device__ inline void copy16(void* to, const void* from, bool whole) {
  const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = whole ? 16 : 0;
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2, %3;\n" ::"r"(at), "l"(from),
               "n"(16), "r"(bytes)
               : "memory");
}

__global__ void words(const int* in, int* out) {
  const int i = threadIdx.x;
  int* mine = out + i * 24;
  int x = in[i], y;
  asm("add.s32 %0, %1, 5;" : "=r"(mine[0]) : "r"(x));
  asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(mine[1]) : "r"(x), "r"(3), "r"(-7));
  asm("{\n\t.reg .pred p;\n\t.reg .b32 t<2>;\n\tsetp.gt.s32 p, %1, 10;\n\tmov.b32 t0, "
      "1;\n\tmov.b32 t1, -1;\n\t"
      "selp.b32 %0, t0, t1, p;\n\t@!p add.s32 %0, %0, -9;\n\t}"
      : "=r"(y)
      : "r"(x));
  mine[2] = y;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(mine[3]) : "r"(x), "r"(0xf0), "r"(0xff));
  asm("prmt.b32 %0, %1, %2, 0x5140;" : "=r"(mine[4]) : "r"(0x03020100), "r"(0x07060504));
  asm("bfe.u32 %0, %1, 2, 3;" : "=r"(mine[5]) : "r"(x));
  asm("bfi.b32 %0, %1, 0, 8, 4;" : "=r"(mine[6]) : "r"(x));
  asm("shl.b32 %0, %1, 4; shr.s32 %0, %0, 2;" : "=r"(mine[7]) : "r"(x));
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(mine[8]) : "r"(x));
  asm volatile("{ .reg .pred q; setp.ne.u32 q, %1, 0; vote.sync.ballot.b32 %0, q, 0xffffffff; }"
               : "=r"(mine[9])
               : "r"(i % 2));
  asm("popc.b32 %0, %1; // a comment ; in it\n clz.b32 %2, %1;"
      : "=r"(mine[10]), "+r"(x), "=r"(mine[11]));
  float f = x, g;
  asm("fma.rn.f32 %[d], %[a], %[b], 0f3F000000;" : [d] "=f"(g) : [a] "f"(f), [b] "f"(2.0f));
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(mine[12]) : "f"(g));
  uint64_t wide;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(0x80000000u), "r"(6));
  mine[13] = static_cast<int>(wide >> 32);
  uint32_t low, high;
  asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(0x0000000500000007ull));
  mine[14] = low * 10 + high;
  asm volatile("ld.global.nc.L1::no_allocate.s32 %0, [%1+4];" : "=r"(mine[15]) : "l"(in + i));
  asm volatile(
      "{ .reg .u32 n; .reg .pred p; mov.u32 n, 0; mov.u32 %0, 0;\nAGAIN_%=:\n add.u32 n, n, 1; "
      "add.u32 %0, %0, n; setp.lt.u32 p, n, 4; @p bra AGAIN_%=; }"
      : "=r"(mine[16]));
  unsigned short h;
  asm("{ .reg .f16 a, b; mov.b16 a, %1; mov.b16 b, %1; add.f16 %0, a, b; }"
      : "=h"(h)
      : "h"(static_cast<unsigned short>(0x3c00)));
  mine[17] = h;
  uint32_t two;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(2.0f), "f"(1.0f));
  mine[18] = static_cast<int>(two);
  asm("max.s32 %0, %1, %2;" : "=r"(mine[19]) : "r"(-3), "r"(-4));
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(mine + 20), "r"(1), "r"(2), "r"(3),
               "r"(lane_id()));
}

__global__ void copies(const float* in, float* out, int n) {
  __shared__ alignas(16) float tile[2][128];
  const int i = threadIdx.x;
  for (int stage = 0; stage < 2; ++stage) {
    copy16(&tile[stage][i * 4], in + stage * 128 + i * 4, stage * 128 + i * 4 < n);
    asm volatile("cp.async.commit_group;\n" ::);
  }
  asm volatile("cp.async.wait_group %0;\n" ::"n"(1));
  asm volatile("bar.sync 0;" ::: "memory");
  out[i] = tile[0][127 - i];
  asm volatile("cp.async.wait_all;");
  __syncthreads();
  out[32 + i] = tile[1][127 - i];
}

// One warp fills, the other reads, by two mbarriers.
__global__ void gates(int* out) {
  __shared__ uint64_t full, empty;
  __shared__ int box[32];
  const uint32_t f = __cvta_generic_to_shared(&full), e = __cvta_generic_to_shared(&empty);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(f), "r"(32));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(e), "r"(32));
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int round = 0; round < 4; ++round) {
    if (threadIdx.x < 32) {
      if (round > 0)
        asm volatile(
            "{\n.reg .pred P1;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 "
            "bra DONE;\n"
            "bra WAIT;\nDONE:\n}" ::"r"(e),
            "r"((round - 1) & 1));
      box[lane] = round * 100 + lane;
      uint64_t state;
      asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(f));
    } else {
      asm volatile(
          "{\n.reg .pred P1;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 "
          "bra DONE;\n"
          "bra WAIT;\nDONE:\n}" ::"r"(f),
          "r"(round & 1));
      out[round * 32 + lane] = box[31 - lane];
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(e));
    }
  }
}

static int failures = 0;
static void expect(bool holds, const char* what, int i, int got) {
  if (!holds && ++failures < 20) std::printf("wrong: %s %d: %d\n", what, i, got);
}

int main() {
  int in[33], out[32 * 24];
  for (int i = 0; i < 33; ++i) in[i] = i;
  int *din, *dout;
  cudaMalloc(&din, sizeof in), cudaMalloc(&dout, sizeof out);
  cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice);
  words<<<1, 32>>>(din, dout);
  cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) {
    const int wanted[24] = {i + 5,
                            i * 3 - 7,
                            i > 10 ? 1 : -10,
                            i ^ 0xf0 ^ 0xff,
                            0x05010400,
                            i >> 2 & 7,
                            (i & 15) << 8,
                            i << 4 >> 2,
                            i ^ 1,
                            -1431655766,
                            __builtin_popcount(i),
                            i == 0 ? 32 : __builtin_clz(i),
                            2 * i,
                            3,
                            75,
                            i + 1,
                            10,
                            0x4000,
                            0x40003c00,
                            -3,
                            1,
                            2,
                            3,
                            i};
    for (int j = 0; j < 24; ++j)
      expect(out[i * 24 + j] == wanted[j], "word", i * 100 + j, out[i * 24 + j]);
  }
  float floats[256];
  for (int i = 0; i < 256; ++i) floats[i] = i + 1;
  float *fin, *fout;
  cudaMalloc(&fin, sizeof floats), cudaMalloc(&fout, 64 * sizeof(float));
  cudaMemcpy(fin, floats, sizeof floats, cudaMemcpyHostToDevice);
  copies<<<1, 32>>>(fin, fout, 200);
  cudaMemcpy(floats, fout, 64 * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) {
    expect(floats[i] == 128 - i, "copy", i, static_cast<int>(floats[i]));
    const int from = 128 + 127 - i;
    expect(floats[32 + i] == (from < 200 ? from + 1 : 0), "copy", 32 + i,
           static_cast<int>(floats[32 + i]));
  }
  gates<<<1, 64>>>(dout);
  cudaMemcpy(out, dout, 128 * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 128; ++i) expect(out[i] == i / 32 * 100 + 31 - i % 32, "gate", i, out[i]);
  cudaFree(din), cudaFree(dout), cudaFree(fin), cudaFree(fout);
  return failures != 0;
}
