// The overloads of mathematical functions that CUDA has in the global namespace.
#include <cstdio>
#include <type_traits>

__global__ void evaluate(const float* x, float* y, int* is_special) {
  const int i = threadIdx.x;
  static_assert(std::is_same_v<decltype(sqrt(1.0f)), float> &&
                std::is_same_v<decltype(exp(1.0)), double>);
  y[i] = abs(x[i]) + min(1.0f, 2) * floor(1.5f) + max(0.25, 0.5f);
  is_special[i] = isnan(x[i]) + 2 * isinf(x[i]) + 4 * isfinite(x[i]) + 8 * signbit(x[i]);
}

int main() {
  const float x[4] = {-1.5f, NAN, -INFINITY, 0.25f};
  float y[4], *device_x, *device_y;
  int special[4], *device_special;
  cudaMalloc(&device_x, sizeof x);
  cudaMalloc(&device_y, sizeof y);
  cudaMalloc(&device_special, sizeof special);
  cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice);
  evaluate<<<1, 4>>>(device_x, device_y, device_special);
  cudaMemcpy(y, device_y, sizeof y, cudaMemcpyDeviceToHost);
  cudaMemcpy(special, device_special, sizeof special, cudaMemcpyDeviceToHost);
  cudaFree(device_x);
  cudaFree(device_y);
  cudaFree(device_special);
  printf("%g %g %d %d %d %d\n", y[0], y[3], special[0], special[1], special[2], special[3]);
  const bool right =
      y[0] == 3.0f && y[3] == 1.75f && special[0] == 12 && special[2] == 10 && special[3] == 4;
  return right && special[1] % 8 == 1 ? 0 : 1;
}
