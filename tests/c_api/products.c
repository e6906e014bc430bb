/* Every function of the C interface, as a program in C calls them. Prints what is wrong; exit code 0 is good. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera/tessera.h>

static int wrong = 0;
#define EXPECT(condition)                                                       \
  do {                                                                          \
    if (!(condition)) {                                                         \
      printf("%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, tessera_error()); \
      ++wrong;                                                                  \
    }                                                                           \
  } while (0)

static tessera_matrix f32(float* data, int64_t rows, int64_t cols) {
  tessera_matrix m = {data, TESSERA_F32, rows, cols, cols, 1};
  return m;
}

enum { M = 37, N = 53, K = 41 };
static float a[M * K], b[K * N], c[M * N], want[M * N], bias[N];

static void fill(float* data, int count, unsigned seed) {
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = (float)(seed >> 8) / (1 << 24) - 0.5f;
  }
}

static void reference(float alpha, float beta, const float* before) {
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum = fmaf(a[i * K + k], b[k * N + j], sum);
      want[i * N + j] = beta != 0 ? fmaf(beta, before[i * N + j], alpha * sum) : alpha * sum;
    }
}

static void products(void) {
  const tessera_matrix A = f32(a, M, K), B = f32(b, K, N), C = f32(c, M, N);
  reference(1, 0, NULL);
  EXPECT(tessera_matmul(&A, &B, &C, NULL, NULL) == TESSERA_OK);
  EXPECT(memcmp(c, want, sizeof c) == 0);

  /* A transposed B is a stride. */
  static float bt[N * K];
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < N; ++j) bt[j * K + k] = b[k * N + j];
  const tessera_matrix Bt = {bt, TESSERA_F32, K, N, 1, K};
  memset(c, 0, sizeof c);
  EXPECT(tessera_matmul(&A, &Bt, &C, NULL, NULL) == TESSERA_OK);
  EXPECT(memcmp(c, want, sizeof c) == 0);

  /* beta = 0 does not read C. */
  tessera_options options = TESSERA_OPTIONS;
  for (int i = 0; i < M * N; ++i) c[i] = NAN;
  EXPECT(tessera_matmul(&A, &B, &C, NULL, &options) == TESSERA_OK);
  EXPECT(memcmp(c, want, sizeof c) == 0);

  options.alpha = 2, options.beta = 0.5;
  static float before[M * N];
  memcpy(before, c, sizeof c);
  reference(2, 0.5f, before);
  EXPECT(tessera_matmul(&A, &B, &C, NULL, &options) == TESSERA_OK);
  EXPECT(memcmp(c, want, sizeof c) == 0);

  tessera_options relu = TESSERA_OPTIONS;
  relu.bias = TESSERA_BIAS_PER_COLUMN, relu.activation = TESSERA_RELU, relu.algorithm = "tiled";
  reference(1, 0, NULL);
  EXPECT(tessera_matmul(&A, &B, &C, bias, &relu) == TESSERA_OK);
  for (int i = 0; i < M * N; ++i) EXPECT(c[i] == fmaxf(want[i] + bias[i % N], 0));

  /* An older program's structure is shorter: what it does not have keeps its default. */
  tessera_options old = TESSERA_OPTIONS;
  old.size = offsetof(tessera_options, bias);
  old.threads = -5;
  EXPECT(tessera_matmul(&A, &B, &C, NULL, &old) == TESSERA_OK);

  int8_t left[2] = {-128, 127}, right[2] = {127, -128};
  int32_t dot = 0;
  const tessera_matrix L = {left, TESSERA_I8, 1, 2, 2, 1}, R = {right, TESSERA_I8, 2, 1, 1, 1}, D = {&dot, TESSERA_I32, 1, 1, 1, 1};
  EXPECT(tessera_matmul(&L, &R, &D, NULL, NULL) == TESSERA_OK);
  EXPECT(dot == -2 * 128 * 127);

  const tessera_matrix empty = f32(NULL, 0, K), none = f32(NULL, 0, N);
  EXPECT(tessera_matmul(&empty, &B, &none, NULL, NULL) == TESSERA_OK);
}

static void plans(void) {
  const tessera_matrix A = f32(a, M, K), B = f32(b, K, N), C = f32(c, M, N), nowhere = f32(NULL, M, K);
  tessera_plan* plan = NULL;
  EXPECT(tessera_plan_make(&plan, &nowhere, &B, &C, NULL) == TESSERA_OK);
  EXPECT(strstr(tessera_plan_text(plan), "m=37 n=53 k=41") == tessera_plan_text(plan));
  reference(1, 0, NULL);
  memset(c, 0, sizeof c);
  EXPECT(tessera_plan_run(plan, &A, &B, &C, NULL) == TESSERA_OK);
  EXPECT(memcmp(c, want, sizeof c) == 0);
  EXPECT(tessera_plan_run(plan, &A, &A, &C, NULL) == TESSERA_INVALID);
  tessera_plan_free(plan);
  tessera_plan_free(NULL);

  tessera_packed* packed = NULL;
  EXPECT(tessera_pack(&packed, &B, TESSERA_F32) == TESSERA_OK);
  EXPECT(tessera_packed_bytes(packed) >= sizeof b);
  memset(c, 0, sizeof c);
  EXPECT(tessera_packed_matmul(&A, packed, &C, NULL, NULL) == TESSERA_OK);
  EXPECT(memcmp(c, want, sizeof c) == 0);
  tessera_packed_free(packed);
  tessera_packed_free(NULL);
}

static void checks(void) {
  const tessera_matrix A = f32(a, M, K), B = f32(b, K, N), C = f32(c, M, N);
  EXPECT(tessera_matmul(&A, &B, &C, NULL, NULL) == TESSERA_OK);
  tessera_check check = {sizeof check, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT(tessera_check_product(&check, &A, &B, &C, NULL, NULL, NULL) == TESSERA_OK);
  EXPECT(check.within_bound == 1 && check.same_bits == 1 && check.outside == 0 && check.row == -1);
  c[5 * N + 7] += 1;
  EXPECT(tessera_check_product(&check, &A, &B, &C, NULL, NULL, NULL) == TESSERA_OK);
  EXPECT(check.within_bound == 0 && check.outside == 1 && check.row == 5 && check.col == 7 && check.max_error_ratio > 1);
  tessera_options adds = TESSERA_OPTIONS;
  adds.beta = 1;
  EXPECT(tessera_check_product(&check, &A, &B, &C, NULL, NULL, &adds) == TESSERA_INVALID);
}

static void layouts(void) {
  tessera_layout* layout = NULL;
  EXPECT(tessera_layout_make(&layout, "composition(<3:3>,(8,8):(8,1))") != TESSERA_OK);
  EXPECT(layout == NULL);
  EXPECT(tessera_layout_make(&layout, "((2,4),(4,2)):((1,16),(2,8))") == TESSERA_OK);
  EXPECT(tessera_layout_size(layout) == 64);
  EXPECT(strcmp(tessera_layout_text(layout), "((2,4),(4,2)):((1,16),(2,8))") == 0);
  int64_t offset = -1;
  EXPECT(tessera_layout_offset(layout, 3, &offset) == TESSERA_OK);
  EXPECT(offset == 17);
  EXPECT(tessera_layout_offset(layout, 64, &offset) == TESSERA_INVALID);
  EXPECT(strstr(tessera_error(), "from 0 to 63") != NULL);
  tessera_layout_free(layout);
}

static void devices(void) {
  int count = 0;
  EXPECT(tessera_devices(NULL, 0, &count) == TESSERA_OK);
  EXPECT(count >= 1);
  tessera_device* all = calloc((size_t)count, sizeof *all);
  EXPECT(tessera_devices(all, count, &count) == TESSERA_INVALID); /* size is not set */
  all->size = sizeof *all;
  EXPECT(tessera_devices(all, count, &count) == TESSERA_OK);
  EXPECT(strcmp(all->name, "cpu") == 0);
  free(all);
}

static void refusals(void) {
  const tessera_matrix A = f32(a, M, K), B = f32(b, K, N), C = f32(c, M, N);
  static float kept[M * N];
  memcpy(kept, c, sizeof c);
  tessera_matrix other = B;
  other.rows = K + 1;
  EXPECT(tessera_matmul(&A, &other, &C, NULL, NULL) == TESSERA_INVALID);
  EXPECT(strstr(tessera_error(), "41") != NULL && strstr(tessera_error(), "42") != NULL);
  EXPECT(tessera_matmul(NULL, &B, &C, NULL, NULL) == TESSERA_INVALID);
  EXPECT(strcmp(tessera_error(), "a is NULL: expected an object") == 0);
  other = B;
  other.dtype = (tessera_dtype)99;
  EXPECT(tessera_matmul(&A, &other, &C, NULL, NULL) == TESSERA_INVALID);
  other = f32(NULL, K, N);
  EXPECT(tessera_matmul(&A, &other, &C, NULL, NULL) == TESSERA_INVALID);
  tessera_options options = TESSERA_OPTIONS;
  options.algorithm = "fastest";
  EXPECT(tessera_matmul(&A, &B, &C, NULL, &options) == TESSERA_INVALID);
  options = (tessera_options)TESSERA_OPTIONS;
  options.bias = TESSERA_BIAS_PER_ROW;
  EXPECT(tessera_matmul(&A, &B, &C, NULL, &options) == TESSERA_INVALID); /* no vector */
  options.size = 0;
  EXPECT(tessera_matmul(&A, &B, &C, NULL, &options) == TESSERA_INVALID);
  EXPECT(tessera_plan_make(NULL, &A, &B, &C, NULL) == TESSERA_INVALID);
  tessera_plan* plan = NULL;
  EXPECT(tessera_plan_make(&plan, NULL, &B, &C, NULL) == TESSERA_INVALID && plan == NULL);
  EXPECT(memcmp(kept, c, sizeof c) == 0);
}

int main(void) {
  fill(a, M * K, 1), fill(b, K * N, 2), fill(bias, N, 3);
  EXPECT(strcmp(tessera_error(), "") == 0);
  EXPECT(strlen(tessera_version()) >= 5);
  products(), plans(), checks(), layouts(), devices(), refusals();
  return wrong > 0;
}
