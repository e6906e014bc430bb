#!/usr/bin/env python3
"""`tessera cuda-run`: thread orders, the program that it writes, threads that wait by plain reads, failed assertions."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

LAST = """#include <cstdio>
__global__ void last(int* x) { x[0] = threadIdx.x; }
int main() {
  int *x, y = -1;
  cudaMalloc(&x, sizeof *x);
  cudaMemcpy(x, &y, sizeof y, cudaMemcpyHostToDevice);
  last<<<1, 64>>>(x);
  cudaMemcpy(&y, x, sizeof y, cudaMemcpyDeviceToHost);
  cudaFree(x);
  printf("%d\\n", y);
}
"""
WAITS = """#include <cstdio>
__global__ void of_threads(int* x) {
  __shared__ volatile int turn;
  if (threadIdx.x == 0) turn = 7;
  __syncthreads();
  while (turn != threadIdx.x) {}
  x[threadIdx.x] = 8 - turn--;
}
__global__ void of_blocks(volatile int* turn, int* x) {
  while (*turn != blockIdx.x) {}
  x[8 + blockIdx.x] = 1;
  *turn = *turn - 1;
}
int main() {
  int* x;
  cudaMallocManaged(&x, 80 * sizeof *x);
  of_threads<<<1, 8>>>(x);
  x[79] = 3;
  of_blocks<<<4, 1>>>(x + 79, x);
  cudaDeviceSynchronize();
  int sum = 0;
  for (int i = 0; i < 12; ++i) sum += x[i];
  printf("%d\\n", sum);
}
"""
ASSERTS = """#include <cassert>
#include <cstdio>
__global__ void asserts(int n) { assert(threadIdx.x < n); }
int main() {
  asserts<<<1, 32>>>(16);
  printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
"""
# The lanes of a warp rotate structs, add up different numbers of values, and reduce the sums.
MEET = """#include <cstdio>
struct Three { float x, y, z; };
__device__ int several(volatile int* s, int n) {
  int sum = 0;
  for (int i = 0; i <= n; ++i) sum += s[i];
  return sum;
}
__global__ void meet(int* x) {
  __shared__ Three threes[32];
  __shared__ int2 pairs[32];
  __shared__ volatile int s[32], ones[32];
  const int lane = threadIdx.x;
  threes[lane] = {float(lane), 0, 1};
  pairs[lane] = {lane, 1};
  ones[lane] = lane;
  __syncthreads();
  threes[(lane + 1) % 32] = threes[lane];
  pairs[(lane + 1) % 32] = pairs[lane];
  s[lane] = 0;
  if (lane & 1) s[lane] = several(ones, lane); else s[lane] += several(ones, lane);
  for (int half = 16; half > 0; half /= 2) {
    if (lane < half) s[lane] += s[lane + half];
  }
  if (lane == 0) x[3] = s[0];
  __syncthreads();
  atomicAdd(&x[0], int(threes[lane].x));
  if (lane == 0) x[1] = int(threes[0].x), x[2] = pairs[31].x;
}
int main() {
  int* x;
  cudaMallocManaged(&x, 4 * sizeof *x);
  cudaMemset(x, 0, 4 * sizeof *x);
  meet<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  printf("%d %d %d %d\\n", x[0], x[1], x[2], x[3]);
}
"""

# Functions that return structs by value, of which GCC 12 loses stores.
STRUCTS = """#include <cstdio>
struct Four { unsigned long x, y, z, w; };
inline __device__ Four operator-(const Four& a, const Four& b) { return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w}; }
inline __device__ Four operator*(const Four& a, const Four& b) { return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w}; }
inline __device__ Four operator>>(const Four& a, int n) { return {a.x >> n, a.y >> n, a.z >> n, a.w >> n}; }
inline __device__ Four operator<(const Four& a, const Four& b) {
  return {a.x < b.x ? ~0UL : 0, a.y < b.y ? ~0UL : 0, a.z < b.z ? ~0UL : 0, a.w < b.w ? ~0UL : 0};
}
__device__ Four mix(Four a, Four b) {
  Four product = a * b;
  Four high = product >> 2;
  Four less = product < high;
  return product - less;
}
__device__ void mix_all(const Four* a, const Four* b, Four* const c) {
  *(c + 0) = mix(*(a + 0), *(b + 0));
  *(c + 1) = mix(*(a + 1), *(b + 1));
  *(c + 2) = mix(*(a + 2), *(b + 2));
}
__device__ void chain(const Four* in, Four* const out) {
  Four a[3] = {}, b[3] = {}, c[3] = {};
  mix_all(in, in, a);
  mix_all(a, a, b);
  mix_all(b, a, c);
  mix_all(c, b, out);
}
__global__ void power(Four* all) { chain(all, all + 3); }
int main() {
  Four* all;
  cudaMallocManaged(&all, 6 * sizeof *all);
  for (unsigned i = 0; i < 3; ++i) all[i] = {1, i + 1, 2, i};
  power<<<1, 1>>>(all);
  cudaDeviceSynchronize();
  printf("%lu %lu %lu\\n", all[3].x, all[4].y, all[5].w);
}
"""

# The compiler reports no loads of arguments and no stores of results: a function like this one is to be inlined.
VALUES = """#include <cstdio>
__device__ float4 sum(float4 a, float4 b, float4 c, float4 d, float4 e, float4 f) {
  return make_float4(a.x + b.x + c.x + d.x + e.x + f.x, a.y + b.y + c.y + d.y + e.y + f.y,
                     a.z + b.z + c.z + d.z + e.z + f.z, a.w + b.w + c.w + d.w + e.w + f.w);
}
__global__ void sums(float4* out) {
  __shared__ float4 s[192];
  const int i = threadIdx.x;
  for (int k = 0; k < 6; ++k) s[i + 32 * k] = make_float4(k, 1, 2, 3);
  __syncthreads();
  out[i] = sum(s[i], s[i + 32], s[i + 64], s[i + 96], s[i + 128], s[i + 160]);
}
int main() {
  float4 *d, h[32];
  cudaMalloc(&d, sizeof h);
  sums<<<1, 32>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%g %g\\n", h[0].x, h[31].w);
  cudaFree(d);
}
"""

# Results that go to memory, of functions that are not inlined: the compiler tells no stores.
RESULTS = """#include <cstdio>
struct Mark { float v; int next; };
__device__ __noinline__ Mark mark(int i) { return {1.f * i, -1}; }
__global__ void fill(Mark* p, int n) { if (threadIdx.x < n) p[threadIdx.x] = mark(threadIdx.x); }
__global__ void take(const Mark* p, float* y) { y[threadIdx.x] = p[threadIdx.x].v + p[threadIdx.x].next; }
int main() {
  Mark *p, *q, all[32];
  float *y, last;
  cudaMalloc(&p, sizeof all), cudaMalloc(&q, sizeof all), cudaMalloc(&y, 32 * sizeof(float));
  fill<<<1, 32>>>(p, N);
  take<<<1, 32>>>(p, y);
  cudaMemcpy(q, p, sizeof all, cudaMemcpyDeviceToDevice);
  cudaMemcpy(all, q, sizeof all, cudaMemcpyDeviceToHost);
  cudaMemcpy(&last, y + 20, sizeof last, cudaMemcpyDeviceToHost);
  printf("%g %g\\n", all[19].v, last);
  cudaFree(p), cudaFree(q), cudaFree(y);
}
"""

# The same, read in the launch that stores them, also in shared memory.
SAME_LAUNCH = """#include <cstdio>
struct Mark { float v; int next, more; };
__device__ __noinline__ Mark mark(int i) { return {1.f * i, i + 1, -i}; }
__global__ void fill(Mark* p, int n) {
  extern __shared__ Mark s[];
  const int i = threadIdx.x;
  if (i < n) p[i] = mark(i);
  p[i].v += 1;
  if (i < n) s[i] = mark(2 * i);
  __syncthreads();
  if (i < n - 1) p[i].next = s[i + 1].more + s[i].next;
}
int main() {
  Mark *p, all[40];
  cudaMalloc(&p, sizeof all);
  fill<<<1, 40, sizeof all>>>(p, N);
  cudaMemcpy(all, p, N * sizeof *p, cudaMemcpyDeviceToHost);
  printf("%g %d\\n", all[19].v, all[18].next);
  cudaFree(p);
}
"""

# A lane that has the lock waits for its turn, and one that polls for the lock gives way.
LOCK = """#include <cstdio>
__device__ int lock;
__global__ void add(int* sum) {
  for (bool done = false; !done;) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      *sum = *sum + 1;
      __threadfence();
      atomicExch(&lock, 0);
      done = true;
    }
  }
}
int main() {
  int *sum, host;
  cudaMalloc(&sum, sizeof host);
  cudaMemset(sum, 0, sizeof host);
  add<<<2, 40>>>(sum);
  cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d\\n", host);
  cudaFree(sum);
}
"""

STEPS = """#include <cstdio>
__global__ void sum(int* x) {
  __shared__ volatile int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 32) {
    s[threadIdx.x] += s[threadIdx.x + 32];
    s[threadIdx.x] += s[threadIdx.x + 16];
    s[threadIdx.x] += s[threadIdx.x + 8];
    s[threadIdx.x] += s[threadIdx.x + 4];
    s[threadIdx.x] += s[threadIdx.x + 2];
    s[threadIdx.x] += s[threadIdx.x + 1];
  }
  if (threadIdx.x == 0) x[0] = s[0];
}
int main() {
  int* x;
  cudaMallocManaged(&x, sizeof *x);
  sum<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  printf("%d\\n", *x);
}
"""
MACROS = """#define m 3
#define i 4
__global__ void set(int* x, int a) { x[threadIdx.x] = a; }
"""


class Run(unittest.TestCase):
    longMessage = True

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def tessera(self, code, *words):
        run = subprocess.run([cases.options.build / "bin/tessera", *words], cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run

    def test_an_order_of_the_threads(self):
        (self.folder / "last.cu").write_text(LAST)
        self.assertEqual(self.tessera(0, "cuda-run", "last.cu").stdout, "63\n")
        self.assertEqual(self.tessera(0, "cuda-run", "last.cu", "--order", "backward").stdout, "0\n")
        self.assertIn("forward, backward, shuffled", self.tessera(2, "cuda-run", "last.cu", "--order", "late").stderr)

    def test_the_program_is_written(self):
        (self.folder / "last.cu").write_text(LAST)
        self.assertEqual(self.tessera(0, "cuda-run", "last.cu", "-o", "last").stdout, "")
        for option in ("--order", "backward"), ("--args", "3"):
            self.assertIn(f"{option[0]}: -o does not run", self.tessera(2, "cuda-run", "last.cu", "-o", "last", *option).stderr)
        self.assertIn("cannot write none/last", self.tessera(3, "cuda-run", "last.cu", "-o", "none/last").stderr)

        def last(**environment):
            return subprocess.run(["./last"], cwd=self.folder, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})

        self.assertEqual(last().stdout, "63\n")
        self.assertEqual(last(TESSERA_CUDA_ORDER="backward").stdout, "0\n")
        self.assertEqual(last(TESSERA_CUDA_SKIP="1").stdout, "-1\n")
        digests = []
        for each in ("forward", "backward", "forward"):
            last(TESSERA_CUDA_ORDER=each, TESSERA_CUDA_DIGEST="digest")
            digests.append((self.folder / "digest").read_text())
        self.assertRegex(digests[0], r"^copied 4 [0-9a-f]{16}\nfreed 4 [0-9a-f]{16}\n$")
        self.assertEqual(digests[0], digests[2])
        self.assertNotEqual(digests[0], digests[1])

    def test_threads_wait_by_plain_reads(self):
        (self.folder / "waits.cu").write_text(WAITS)
        self.assertEqual(self.tessera(0, "cuda-run", "waits.cu").stdout, "40\n")

    def test_lanes_in_step(self):
        (self.folder / "steps.cu").write_text(STEPS)
        self.assertEqual(self.tessera(0, "cuda-run", "steps.cu", "--lockstep").stdout, "2016\n")
        self.assertNotEqual(self.tessera(0, "cuda-run", "steps.cu").stdout, "2016\n")

    def test_lanes_in_step_copy_structs_and_meet_after_loops(self):
        (self.folder / "meet.cu").write_text(MEET)
        self.assertEqual(self.tessera(0, "cuda-run", "meet.cu", "--lockstep").stdout, "496 31 30 5456\n")

    def test_structs_are_returned_by_value(self):
        (self.folder / "structs.cu").write_text(STRUCTS)
        self.assertEqual(self.tessera(0, "cuda-run", "structs.cu").stdout, "1 1024 1024\n")

    def test_structs_that_are_arguments_and_results_are_accesses(self):
        (self.folder / "values.cu").write_text(VALUES)
        out = self.tessera(0, "check", "values.cu").stdout
        self.assertIn("clean:", out)
        self.assertRegex(out, r"(?m)^ +global store +1 +16 ")
        self.assertRegex(out, r"(?m)^ +shared load +6 ")

    def test_results_of_functions_that_are_not_inlined_are_values(self):
        (self.folder / "results.cu").write_text(RESULTS)
        self.assertIn("clean:", self.tessera(0, "check", "results.cu", "-D", "N=32").stdout)
        out = self.tessera(1, "check", "results.cu", "-D", "N=20").stdout
        self.assertRegex(out, r"results\.cu:5")
        self.assertIn("copies 96 of 256 bytes of q that nobody has written, the first at element 20", out)

    def test_such_results_have_values_in_their_launch(self):
        (self.folder / "same.cu").write_text(SAME_LAUNCH)
        self.assertIn("clean:", self.tessera(0, "check", "same.cu", "-D", "N=40").stdout)
        out = self.tessera(1, "check", "same.cu", "-D", "N=20").stdout
        self.assertRegex(out, r"uninitialized-read|nobody has written")
        self.assertIn("same.cu:8", out)

    def test_stores_of_results_may_race(self):
        (self.folder / "same.cu").write_text(SAME_LAUNCH.replace("p[i] = mark(i)", "p[i / 2] = mark(i)"))
        out = self.tessera(1, "check", "same.cu", "-D", "N=20").stdout
        self.assertRegex(out, r"error: race, global memory.*\n  at \S*same\.cu:7, with \S*same\.cu:7")

    def test_lanes_in_step_take_a_lock_in_each_order(self):
        (self.folder / "lock.cu").write_text(LOCK)
        for order in "forward", "backward", "shuffled":
            self.assertEqual(self.tessera(0, "cuda-run", "lock.cu", "--lockstep", "--order", order).stdout, "80\n", order)

    def test_a_failed_assertion_is_an_error_of_the_next_call(self):
        (self.folder / "asserts.cu").write_text(ASSERTS)
        run = self.tessera(0, "cuda-run", "asserts.cu")
        self.assertEqual(run.stdout, "cudaErrorAssert\n")
        self.assertIn("assertion `threadIdx.x < n' failed at asserts.cu:3", run.stderr)

    def test_a_file_may_define_the_names_of_a_launch(self):
        (self.folder / "macros.cu").write_text(MACROS)
        out = self.tessera(0, "check", "macros.cu", "--launch", "set<<<1, 8>>>(x: i32[m] = 2 * i + m, m)", "-m", "8").stdout
        self.assertIn("clean:", out)


if __name__ == "__main__":
    cases.main()
