// Objects whose members are written one by one and copied whole, in and between memories.
struct Best {
  float v;
  long long i;
};
struct Small {
  char c;
  short s;
};
struct Mixed {
  char c;
  double d;
};
struct alignas(16) Point {
  float x, y, z;
};
__global__ void argmax(const float* x, Best* out, int n) {
  __shared__ Best s[64];
  const int t = threadIdx.x;
  s[t].v = -1e30f;
  s[t].i = -1;
  for (int k = t; k < n; k += 64)
    if (x[k] > s[t].v) s[t].v = x[k], s[t].i = k;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d && s[t + d].v > s[t].v) s[t] = s[t + d];
    __syncthreads();
  }
  if (t == 0) *out = s[0];
}
__global__ void write(Mixed* m, Point* p, Small* s) {
  const int t = threadIdx.x;
  m[t].c = 1, m[t].d = t;
  p[t].x = t, p[t].y = 1, p[t].z = 2;
  s[t].c = 1, s[t].s = t;
}
__global__ void exchange(Mixed* m, Point* p, Small* s, Mixed* mixed, Point* points, Small* smalls) {
  __shared__ Mixed ms[32];
  __shared__ Point ps[32];
  __shared__ Small ss[32];
  const int t = threadIdx.x;
  ms[t] = m[31 - t], ps[t] = p[31 - t], ss[t] = s[31 - t];
  __syncthreads();
  mixed[t] = ms[(t + 1) % 32], points[t] = ps[(t + 1) % 32], smalls[t] = ss[(t + 1) % 32];
}
int main() {
  float h[200], *d;
  for (int i = 0; i < 200; ++i) h[i] = (i * 37) % 199;
  Best *b, best;
  cudaMalloc(&d, sizeof h);
  cudaMalloc(&b, sizeof best);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  argmax<<<1, 64>>>(d, b, 200);
  cudaMemcpy(&best, b, sizeof best, cudaMemcpyDeviceToHost);
  cudaFree(d);
  cudaFree(b);
  Mixed *m, *mixed, hm[32];
  Point *p, *points, hp[32];
  Small *s, *smalls, hs[32];
  cudaMalloc(&m, sizeof hm), cudaMalloc(&mixed, sizeof hm);
  cudaMalloc(&p, sizeof hp), cudaMalloc(&points, sizeof hp);
  cudaMalloc(&s, sizeof hs), cudaMalloc(&smalls, sizeof hs);
  write<<<1, 32>>>(m, p, s);
  cudaMemcpy(hm, m, sizeof hm, cudaMemcpyDeviceToHost);
  exchange<<<1, 32>>>(m, p, s, mixed, points, smalls);
  cudaMemcpy(hm, mixed, sizeof hm, cudaMemcpyDeviceToHost);
  cudaMemcpy(hp, points, sizeof hp, cudaMemcpyDeviceToHost);
  cudaMemcpy(hs, smalls, sizeof hs, cudaMemcpyDeviceToHost);
  cudaFree(m), cudaFree(mixed), cudaFree(p), cudaFree(points), cudaFree(s), cudaFree(smalls);
  const bool right = h[best.i] == 198 && hm[0].d == 30 && hp[0].x == 30 && hs[0].s == 30;
  return right ? 0 : 1;
}
