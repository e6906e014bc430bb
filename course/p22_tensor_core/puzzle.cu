// Puzzle 22 in plain CUDA: fragments of a tensor core.
// C = A * B: (16,16) times (16,8), one warp, two matrix instructions of 16 x 8 x 8.

// sum (16,8) += a (16,8) times b (8,8), all spread over the lanes of the warp; a and b are f32, of
// which the instruction uses the bits of TF32.
__device__ void mma(float (&sum)[4], const float (&a)[4], const float (&b)[2]) {
  const auto bits = [](float x) { return __float_as_uint(x); };
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(bits(a[0])), "r"(bits(a[1])), "r"(bits(a[2])), "r"(bits(a[3])), "r"(bits(b[0])),
        "r"(bits(b[1])));
}

__global__ void one_warp(const float* A, const float* B, float* C) {
  const int row = threadIdx.x / 4, part = threadIdx.x % 4;
  float sum[4] = {};  // of C: (row, 2 part), (row, 2 part + 1), and the same of row + 8
  for (int k = 0; k < 16; k += 8) {
    //> FILL ME IN (about 4 lines): a holds (row, part), (row + 8, part), (row, part + 4), (row + 8, part + 4) of the tile of A, b holds (part, row), (part + 4, row) of the tile of B; mma
    const float* const at = A + row * 16 + k + part;
    const float a[4] = {at[0], at[8 * 16], at[4], at[8 * 16 + 4]};
    const float b[2] = {B[(k + part) * 8 + row], B[(k + part + 4) * 8 + row]};
    mma(sum, a, b);
    //> end
  }
  //> FILL ME IN (about 2 lines): store the four sums
  for (int i = 0; i < 4; ++i) C[(row + i / 2 * 8) * 8 + 2 * part + i % 2] = sum[i];
  //> end
}
