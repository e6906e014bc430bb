// See cublas.hpp. The function types and constants are copied from cublas_api.h and
// library_types.h, so that no header of CUDA is needed.
#include "cublas.hpp"

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {

namespace {

constexpr int kDefaultAlgorithm = -1;  // cublasGemmAlgo_t
constexpr float kOneF32 = 1, kZeroF32 = 0;
constexpr double kOneF64 = 1, kZeroF64 = 0;

using GemmEx = int(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                   const void* A, int a_type, int lda, const void* B, int b_type, int ldb,
                   const void* beta, void* C, int c_type, int ldc, int compute, int algorithm);
using GemmBatchedEx = int(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                          const void* A, int a_type, int lda, long long a_step, const void* B,
                          int b_type, int ldb, long long b_step, const void* beta, void* C,
                          int c_type, int ldc, long long c_step, int count, int compute,
                          int algorithm);

}  // namespace

Cublas::Cublas(CUstream_st* stream, const std::vector<std::string>& candidates)
    : library_("cublas", candidates) {
  (void)library_.function<GemmEx>("cublasGemmEx");
  (void)library_.function<GemmBatchedEx>("cublasGemmStridedBatchedEx");
  (void)library_.function<int(void*)>("cublasDestroy_v2");
  auto* create = library_.function<int(void**)>("cublasCreate_v2");
  auto* take = library_.function<int(void*, CUstream_st*)>("cublasSetStream_v2");
  library_.require(create(&handle_), "starting");
  library_.require(take(handle_, stream), "setting the stream");
}

Cublas::~Cublas() { (void)library_.function<int(void*)>("cublasDestroy_v2")(handle_); }

bool Cublas::multiplies(const shell::Types& types, F32 f32) {
  const bool of_f32 = types.in == DType::f32 && types.out == DType::f32;
  if (f32 == F32::tf32) return of_f32;
  const bool half = types.in == DType::f16 || types.in == DType::bf16;
  return of_f32 || (types.in == DType::f64 && types.out == DType::f64) ||
         (half && (types.out == types.in || types.out == DType::f32));
}

/// cuBLAS is column-major: the same memory holds the transposed matrices, and C' = B' A'.
void Cublas::multiply(const BenchCase& now, F32 f32, const void* A, const void* B, void* C) const {
  const Shape& s = now.shape;
  const int m = as_int(s.N), n = as_int(s.M), k = as_int(s.K);
  const int op_b = s.b_transposed ? kTransposed : kPlain;
  const int op_a = s.a_transposed ? kTransposed : kPlain;
  const int ldb = as_int(s.b_transposed ? s.K : s.N), lda = as_int(s.a_transposed ? s.M : s.K);
  const int in = cuda_data_type(now.types.in), out = cuda_data_type(now.types.out);
  const bool f64 = now.types.in == DType::f64;
  const int compute = f64 ? kComputeF64 : f32 == F32::tf32 ? kComputeF32AsTf32 : kComputeF32;
  const void* const one = f64 ? static_cast<const void*>(&kOneF64) : &kOneF32;
  const void* const zero = f64 ? static_cast<const void*>(&kZeroF64) : &kZeroF32;
  const int status = s.batch == 1 ? library_.function<GemmEx>("cublasGemmEx")(
                                        handle_, op_b, op_a, m, n, k, one, B, in, ldb, A, in, lda,
                                        zero, C, out, m, compute, kDefaultAlgorithm)
                                  : library_.function<GemmBatchedEx>("cublasGemmStridedBatchedEx")(
                                        handle_, op_b, op_a, m, n, k, one, B, in, ldb, s.K * s.N, A,
                                        in, lda, s.M * s.K, zero, C, out, m, s.M * s.N,
                                        as_int(s.batch), compute, kDefaultAlgorithm);
  library_.require(status, "multiplying");
}

}  // namespace tessera::bench
