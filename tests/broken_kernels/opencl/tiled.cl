// The tiled product of tests/broken_kernels again in OpenCL C, for Oclgrind as an independent opinion: one macro
// plants one defect, without any the kernel is clean. C (M,N) = A (M,K) * B (K,N), row after row, by groups of T x T
// items. M, N, K and T come from the build options.
#if defined(LAST_K_TILE_DROPPED)
#define TILES (K / T)
#else
#define TILES ((K + T - 1) / T)
#endif

#if defined(ROW_GUARD_ONE_TOO_FAR)
#define STORED (row <= M && col < N)
#elif defined(COLUMN_GUARD_ONE_TOO_FAR)
#define STORED (row < M && col <= N)
#elif defined(STORE_GUARD_WRONG_DIMENSION)
#define STORED (row < N && col < M)
#else
#define STORED (row < M && col < N)
#endif

#if defined(LOAD_GUARD_WRONG_DIMENSION)
#define A_EXISTS (row < M && k * T + x < N)
#else
#define A_EXISTS (row < M && k * T + x < K)
#endif

__kernel void product(__global const float* A, __global const float* B, __global float* C) {
  __local float a[T][T], b[T][T];  // (T,T) each
  const int x = get_local_id(0), y = get_local_id(1);
  const int row = get_group_id(1) * T + y, col = get_group_id(0) * T + x;
#if defined(EARLY_RETURN)
  if (row >= M || col >= N) return;
#endif
#if defined(ACCUMULATOR_WITHOUT_VALUE)
  float acc;
#else
  float acc = 0;
#endif
  for (int k = 0; k < TILES; ++k) {
    if (A_EXISTS) a[y][x] = A[row * K + k * T + x];
#if defined(EDGE_LEFT_STALE)
    else if (k == 0) a[y][x] = 0;
#elif !defined(EDGE_NOT_ZEROED)
    else a[y][x] = 0;
#endif
    b[y][x] = k * T + y < K && col < N ? B[(k * T + y) * N + col] : 0;
#if defined(BARRIER_IN_ROW_GUARD)
    if (row < M) barrier(CLK_LOCAL_MEM_FENCE);
#elif !defined(NO_BARRIER_AFTER_LOAD)
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (int i = 0; i < T; ++i) acc += a[y][i] * b[i][x];
#if !defined(NO_BARRIER_BEFORE_NEXT_LOAD)
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
  }
#if defined(ROWS_ADDED_INTO_ONE)
  if (STORED) C[col] += acc;
#elif defined(TWO_BLOCKS_ONE_ELEMENT)
  if (STORED) C[row % T * N + col] = get_group_id(1);  // as blocks of other rows do
#else
  if (STORED) C[row * N + col] = acc;
#endif
}
