// What libtessera_blas offers beyond <cblas.h>, for C and C++: batched products as MKL defines
// them, and the number of threads. Illegal arguments call cblas_xerbla and leave C alone.
//
// order: 101 by rows, 102 by columns; trans: 111 none, 112 transposed, 113 conjugate transposed,
// 114 conjugate (OpenBLAS's CblasConjNoTrans). After a <cblas.h> arrays of trans are of its
// enumeration; where that one declares batches itself, as BLIS's and newer ones of OpenBLAS and MKL
// do, define TESSERA_BLAS_NO_BATCH before this. The functions with 64-bit integers add _64 to the
// name. Complex matrices and scalars are pairs of real and imaginary part.
#ifndef TESSERA_BLAS_H
#define TESSERA_BLAS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TESSERA_BLAS_NO_BATCH
#ifdef CBLAS_H
#define TESSERA_TRANSPOSE enum CBLAS_TRANSPOSE
#else
#define TESSERA_TRANSPOSE int
#endif
/* Products in groups of one shape each: arguments from trans_a to ldc have one value for each
   group; A, B and C one pointer for each product. */
#define TESSERA_GEMM_BATCH(name, Int, T)                                                   \
  void name(int order, const TESSERA_TRANSPOSE* trans_a, const TESSERA_TRANSPOSE* trans_b, \
            const Int* m, const Int* n, const Int* k, const T* alpha, const T* const* A,   \
            const Int* lda, const T* const* B, const Int* ldb, const T* beta, T* const* C, \
            const Int* ldc, Int group_count, const Int* group_size)
/* Products of one shape, the matrices `stride` elements apart; with stride 0 one A or B for all.
   A negative stride is illegal, and one of C below the size of a C. */
#define TESSERA_GEMM_BATCH_STRIDED(name, Int, T, Scalar)                                          \
  void name(int order, int trans_a, int trans_b, Int m, Int n, Int k, Scalar alpha, const T* A,   \
            Int lda, Int stride_a, const T* B, Int ldb, Int stride_b, Scalar beta, T* C, Int ldc, \
            Int stride_c, Int batch_size)

TESSERA_GEMM_BATCH(cblas_sgemm_batch, int, float);
TESSERA_GEMM_BATCH(cblas_dgemm_batch, int, double);
TESSERA_GEMM_BATCH(cblas_cgemm_batch, int, void);
TESSERA_GEMM_BATCH(cblas_zgemm_batch, int, void);
TESSERA_GEMM_BATCH(cblas_sgemm_batch_64, int64_t, float);
TESSERA_GEMM_BATCH(cblas_dgemm_batch_64, int64_t, double);
TESSERA_GEMM_BATCH(cblas_cgemm_batch_64, int64_t, void);
TESSERA_GEMM_BATCH(cblas_zgemm_batch_64, int64_t, void);

TESSERA_GEMM_BATCH_STRIDED(cblas_sgemm_batch_strided, int, float, float);
TESSERA_GEMM_BATCH_STRIDED(cblas_dgemm_batch_strided, int, double, double);
TESSERA_GEMM_BATCH_STRIDED(cblas_cgemm_batch_strided, int, void, const void*);
TESSERA_GEMM_BATCH_STRIDED(cblas_zgemm_batch_strided, int, void, const void*);
TESSERA_GEMM_BATCH_STRIDED(cblas_sgemm_batch_strided_64, int64_t, float, float);
TESSERA_GEMM_BATCH_STRIDED(cblas_dgemm_batch_strided_64, int64_t, double, double);
TESSERA_GEMM_BATCH_STRIDED(cblas_cgemm_batch_strided_64, int64_t, void, const void*);
TESSERA_GEMM_BATCH_STRIDED(cblas_zgemm_batch_strided_64, int64_t, void, const void*);

#undef TESSERA_GEMM_BATCH
#undef TESSERA_GEMM_BATCH_STRIDED
#undef TESSERA_TRANSPOSE
#endif

/* Threads that a product may use, at most, up to 4096; 0 or less: TESSERA_NUM_THREADS, else
   OMP_NUM_THREADS, else the cores of the process; where that is more than there are cores, as many
   as these work. For the process, and for the calling thread alone, which goes first. */
void tessera_set_num_threads(int threads);
int tessera_set_num_threads_local(int threads); /* returns what was set before */
int tessera_get_num_threads(void);

const char* tessera_get_corename(void); /* the instruction set that runs: "avx512" */
const char* tessera_get_config(void);   /* version and what the CPU offers, in one line */

#ifdef __cplusplus
}
#endif

#endif
