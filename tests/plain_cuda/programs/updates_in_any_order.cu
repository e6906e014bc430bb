// expect: race at 13
// launch: count<<<40, 64>>>(x: i32[2560] = (7 * i) % 8, bins: i32[8] = zeros, most: i32[1] = zeros)
// Nobody uses the results of these updates, so blocks carry them out in any order. A plain store
// beside them races with all of them, whichever came first.
__global__ void count(const int* x, int* bins, int* most) {
  __shared__ unsigned mine[8];
  const int t = threadIdx.x;
  if (t < 8) mine[t] = 0;
  __syncthreads();
  atomicAdd(&mine[x[64 * blockIdx.x + t]], 1);
  __syncthreads();
#ifndef FIXED
  if (blockIdx.x == 39 && t == 3) bins[3] = 0;
#endif
  if (t < 8) atomicAdd(bins + t, mine[t]);
  else atomicMax(most, t);
}
