/* The C interface: products of matrices, plans, packed matrices, checks of results, layouts,
 * devices. For C, and for every language that calls C: bindings/ has modules for Fortran and Rust.
 * Link with -ltessera_c.
 *
 * Every function that can fail returns a status; tessera_error() then says in one line what was
 * expected, what was there and what to do. No function throws, exits or prints. All may be called
 * from several threads at once; an object may be used by several threads while none frees it.
 * Structures may grow at their end: `size` says which one the caller was compiled with.
 */
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  TESSERA_OK = 0,
  TESSERA_FAILED = 1,     /* a kernel failed, or memory ran out */
  TESSERA_INVALID = 2,    /* an argument, a shape or a type that is not allowed */
  TESSERA_UNAVAILABLE = 4 /* a device or feature that is not there */
} tessera_status;

typedef enum {
  TESSERA_F64 = 0,
  TESSERA_F32 = 1,
  TESSERA_F16 = 2,
  TESSERA_BF16 = 3,
  TESSERA_I32 = 4,
  TESSERA_I8 = 5,
  TESSERA_U8 = 6
} tessera_dtype;

/* Element (i, j) is at data[i * row_stride + j * col_stride]; strides in elements, of any sign.
 * Transposition is a stride. */
typedef struct {
  void* data;
  tessera_dtype dtype;
  int64_t rows, cols;
  int64_t row_stride, col_stride;
} tessera_matrix;

typedef enum {
  TESSERA_NO_BIAS = 0,
  TESSERA_BIAS_PER_ROW = 1,
  TESSERA_BIAS_PER_COLUMN = 2
} tessera_bias;
typedef enum {
  TESSERA_NO_ACTIVATION = 0,
  TESSERA_RELU = 1,
  TESSERA_GELU = 2,
  TESSERA_SILU = 3
} tessera_activation;

/* Initialize it with TESSERA_OPTIONS. */
typedef struct {
  size_t size;        /* sizeof(tessera_options) */
  double alpha, beta; /* C = activation(alpha * A * B + beta * C + bias); beta = 0: C is not read */
  tessera_bias
      bias; /* which elements of `bias` are added, of the type of the sums: f64, f32 or i32 */
  tessera_activation activation;
  const char* algorithm;  /* NULL: auto */
  const char* arithmetic; /* NULL: chain; or lanes */
  int threads; /* of the CPU; 0: all cores of the process, or what the environment says */
} tessera_options;
#define TESSERA_OPTIONS \
  { sizeof(tessera_options), 1.0, 0.0, TESSERA_NO_BIAS, TESSERA_NO_ACTIVATION, NULL, NULL, 0 }

/* The version of the library, "0.1.0". */
const char* tessera_version(void);

/* Why the last call of this thread that did not return TESSERA_OK failed; "" before. Valid until
 * this thread's next call. */
const char* tessera_error(void);

/* C = activation(alpha * A * B + beta * C + bias). A is (M,K), B is (K,N), C is (M,N); C overlaps
 * neither. `bias` has M or N elements, or is NULL; `options` may be NULL. Types: f64, f32, f16,
 * bf16, i32 into the same type; f16, bf16 into f32; f32 into f16, bf16; i8, u8 and one of each into
 * i32 or f32. After TESSERA_FAILED the content of C is unspecified, otherwise C is as it was. */
tessera_status tessera_matmul(const tessera_matrix* a, const tessera_matrix* b,
                              const tessera_matrix* c, const void* bias,
                              const tessera_options* options);

/* A decision that is made once for many products of the same shapes, strides and types; `data` of
 * a, b and c is not read. */
typedef struct tessera_plan tessera_plan;
tessera_status tessera_plan_make(tessera_plan** plan, const tessera_matrix* a,
                                 const tessera_matrix* b, const tessera_matrix* c,
                                 const tessera_options* options);
/* One line: algorithm, tile, threads, reason. Valid as long as the plan. */
const char* tessera_plan_text(const tessera_plan* plan);
tessera_status tessera_plan_run(const tessera_plan* plan, const tessera_matrix* a,
                                const tessera_matrix* b, const tessera_matrix* c, const void* bias);
void tessera_plan_free(tessera_plan* plan); /* NULL is allowed */

/* A matrix B that many products share, packed once; a copy. dtype_of_a: the type of A; it differs
 * from that of B only where one is i8, the other u8. */
typedef struct tessera_packed tessera_packed;
tessera_status tessera_pack(tessera_packed** packed, const tessera_matrix* b,
                            tessera_dtype dtype_of_a);
size_t tessera_packed_bytes(const tessera_packed* packed);
tessera_status tessera_packed_matmul(const tessera_matrix* a, const tessera_packed* packed,
                                     const tessera_matrix* c, const void* bias,
                                     const tessera_options* options);
void tessera_packed_free(tessera_packed* packed); /* NULL is allowed */

/* How far a result is from the exact product, in its componentwise error bound (Higham, Accuracy
 * and Stability of Numerical Algorithms, section 3.5). */
typedef struct {
  size_t size;            /* sizeof(tessera_check) */
  int within_bound;       /* 1: every element is; NaN and infinities are where they must be */
  int same_bits;          /* 1: every element is one chain of fused multiply-adds in order of k */
  double max_error_ratio; /* the largest error as a part of its bound */
  int64_t outside;        /* elements beyond the bound */
  int64_t row, col;       /* the first of them, or -1 */
  double expected, got;   /* there */
} tessera_check;
/* Compares `c` with the product of a and b. `c_before`: C before the product, NULL if beta is 0.
 * Takes the time of some plain products. */
tessera_status tessera_check_product(tessera_check* check, const tessera_matrix* a,
                                     const tessera_matrix* b, const tessera_matrix* c,
                                     const tessera_matrix* c_before, const void* bias,
                                     const tessera_options* options);

/* A layout from an expression of the layout algebra, such as
 * "logical_divide((8,8):(8,1),<2:1,4:1>)": a function from coordinates to offsets. */
typedef struct tessera_layout tessera_layout;
tessera_status tessera_layout_make(tessera_layout** layout, const char* expression);
const char* tessera_layout_text(
    const tessera_layout* layout); /* "((2,4),(4,2)):..."; valid as long as the layout */
int64_t tessera_layout_size(const tessera_layout* layout); /* of its domain */
/* The offset of the element with a linear index, counted with the leftmost mode fastest. */
tessera_status tessera_layout_offset(const tessera_layout* layout, int64_t index, int64_t* offset);
void tessera_layout_free(tessera_layout* layout); /* NULL is allowed */

typedef struct {
  size_t size;   /* sizeof(tessera_device), in the first of an array */
  char name[16]; /* "cpu", "cuda:0", "opencl:0" */
  char full_name[128];
  uint64_t bytes; /* of memory */
} tessera_device;
/* The number of devices, the CPU included; the first `most` of them into `devices`, which may be
 * NULL where most is 0. */
tessera_status tessera_devices(tessera_device* devices, int most, int* count);

#ifdef __cplusplus
}
#endif

#endif
