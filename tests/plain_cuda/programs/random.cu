// cuRAND's numbers: mean, variance, bounds, and that sequences differ.
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>

__global__ void draw(float* uniform, float* normal, int each, unsigned long long seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandState state;
  curand_init(seed, i, 0, &state);
  for (int j = 0; j < each; ++j) {
    uniform[i * each + j] = curand_uniform(&state);
    normal[i * each + j] = curand_normal(&state);
  }
}

int main() {
  constexpr int threads = 128, each = 64, n = threads * each;
  static float u[n], g[n];
  float *du, *dg;
  cudaMalloc(&du, sizeof u), cudaMalloc(&dg, sizeof g);
  draw<<<2, threads / 2>>>(du, dg, each, 1234);
  cudaMemcpy(u, du, sizeof u, cudaMemcpyDeviceToHost);
  cudaMemcpy(g, dg, sizeof g, cudaMemcpyDeviceToHost);
  cudaFree(du), cudaFree(dg);
  double mean = 0, mean_normal = 0, square = 0;
  bool inside = true;
  for (int i = 0; i < n; ++i) {
    mean += u[i] / n, mean_normal += g[i] / n, square += g[i] * g[i] / n;
    inside = inside && u[i] > 0 && u[i] <= 1;
  }
  std::printf("%g %g %g\n", mean, mean_normal, square);
  const bool good = inside && std::fabs(mean - 0.5) < 0.02 && std::fabs(mean_normal) < 0.06 &&
                    std::fabs(square - 1) < 0.1 && u[0] != u[each];
  return good ? 0 : 1;
}
