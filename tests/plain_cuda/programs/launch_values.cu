// expect: out-of-bounds at 10
// launch: gather<<<(n + 31) / 32, 32>>>(from: f32[m] = i - m / 2, at: i32[n] = (7 * i + 3) % m,
//   to: f32[n], n: n)
// flags: -m 50 -n 64
// Arrays whose elements are an expression of their number, as indices must be.
__global__ void gather(const float* from, const int* at, float* to, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
#ifndef FIXED
  to[i] = from[at[i] + 1];
#else
  if (from[at[i]] != static_cast<float>((7 * i + 3) % 50 - 25)) __trap();
  to[i] = from[at[i]];
#endif
}
