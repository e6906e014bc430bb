// expect: misaligned at 9
// Its last bytes are past the end as well; a GPU checks the alignment first.
__global__ void k(float2* out, int at) {
  __shared__ float s[4];
  for (int i = 0; i < 4; ++i) s[i] = i;
#ifdef FIXED
  *out = *(float2*)(s + at - 1);
#else
  *out = *(float2*)(s + at);
#endif
}
int main() {
  float2* out;
  cudaMalloc(&out, sizeof(float2));
  k<<<1, 1>>>(out, 3);
  cudaFree(out);
}
