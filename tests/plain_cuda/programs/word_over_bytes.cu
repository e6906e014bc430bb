// expect: race at 12
// launch: k<<<1, 64>>>(out: u8[160] = zeros)
// One thread writes a byte of the word that another one writes whole.
__global__ void k(unsigned char* out) {
  const int i = threadIdx.x;
#ifdef FIXED
  const int at = 96 + i;
#else
  const int at = (i - 32) * 4 + 3;
#endif
  if (i < 32) reinterpret_cast<uchar4*>(out)[i] = make_uchar4(1, 1, 1, 1);
  else out[at] = i;
}
