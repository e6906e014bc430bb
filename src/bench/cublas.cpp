// See cublas.hpp. The types of functions and the numbers are those of cublas_api.h and
// library_types.h, written down so that no header of CUDA is needed.
#include "cublas.hpp"

#include <dlfcn.h>

#include <climits>
#include <cstdlib>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

constexpr int kPlain = 0, kTransposed = 1;                                 // cublasOperation_t
constexpr int kComputeF32 = 68, kComputeF32AsTf32 = 77, kComputeF64 = 70;  // cublasComputeType_t
constexpr int kDefaultAlgorithm = -1;                                      // cublasGemmAlgo_t
constexpr int kMajor = 0, kMinor = 1, kPatch = 2;                          // libraryPropertyType
constexpr float kOneF32 = 1, kZeroF32 = 0;
constexpr double kOneF64 = 1, kZeroF64 = 0;

/// cudaDataType_t
int data_type(DType type) {
  switch (type) {
    case DType::f64: return 1;
    case DType::f16: return 2;
    case DType::bf16: return 14;
    default: return 0;  // f32
  }
}

using GemmEx = int(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                   const void* A, int a_type, int lda, const void* B, int b_type, int ldb,
                   const void* beta, void* C, int c_type, int ldc, int compute, int algorithm);
using GemmBatchedEx = int(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                          const void* A, int a_type, int lda, long long a_step, const void* B,
                          int b_type, int ldb, long long b_step, const void* beta, void* C,
                          int c_type, int ldc, long long c_step, int count, int compute,
                          int algorithm);

}  // namespace

std::vector<std::string> cublas_candidates() {
  std::vector<std::string> out;
  if (const char* named = std::getenv("TESSERA_CUBLAS")) out.emplace_back(named);
  for (const char* file : {"libcublas.so.13", "libcublas.so.12"}) out.emplace_back(file);
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(variable)) folders.emplace_back(value);
  }
  folders.emplace_back("/usr/local/cuda");
  for (const auto& folder : folders) {
    for (const char* file : {"libcublas.so.13", "libcublas.so.12"})
      out.push_back(cat(folder, "/lib64/", file));
  }
  return out;
}

template <class F>
F* Cublas::function(const char* name) const {
  void* const found = dlsym(library_, name);
  if (found == nullptr)
    throw Error(Category::unavailable, cat("'", path_, "' has no ", name), "cuBLAS 12 or 13");
  return reinterpret_cast<F*>(found);
}

Cublas::Cublas(CUstream_st* stream, const std::vector<std::string>& candidates) {
  std::string reason;
  for (const auto& each : candidates) {
    path_ = each;
    library_ = dlopen(each.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) break;
    const char* why = dlerror();
    if (reason.empty() && why != nullptr) reason = why;
  }
  if (library_ == nullptr)
    throw Error(Category::unavailable, cat("cuBLAS cannot be loaded: ", reason), {}, {},
                "install libcublas of CUDA 13 or name its folder in LD_LIBRARY_PATH");
  (void)function<GemmEx>("cublasGemmEx");
  (void)function<GemmBatchedEx>("cublasGemmStridedBatchedEx");
  require(function<int(void**)>("cublasCreate_v2")(&handle_), "starting");
  require(function<int(void*, CUstream_st*)>("cublasSetStream_v2")(handle_, stream),
          "taking the stream");
}

/// The library stays loaded: it has state of its own in the driver.
Cublas::~Cublas() {
  if (auto* destroy = reinterpret_cast<int (*)(void*)>(dlsym(library_, "cublasDestroy_v2")))
    (void)destroy(handle_);
}

void Cublas::require(int status, const char* what) const {
  if (status == 0) return;
  auto* text = reinterpret_cast<const char* (*)(int)>(dlsym(library_, "cublasGetStatusString"));
  throw Error(Category::failed,
              cat("cuBLAS, ", what, ": ", text == nullptr ? cat("status ", status) : text(status)));
}

std::string Cublas::version() const {
  auto* property = function<int(int, int*)>("cublasGetProperty");
  int numbers[3] = {};
  for (const int which : {kMajor, kMinor, kPatch}) (void)property(which, &numbers[which]);
  return cat("cuBLAS ", numbers[0], ".", numbers[1], ".", numbers[2]);
}

bool Cublas::multiplies(const Types& types, F32 f32) {
  const bool of_f32 = types.in == DType::f32 && types.out == DType::f32;
  if (f32 == F32::tf32) return of_f32;
  const bool half = types.in == DType::f16 || types.in == DType::bf16;
  return of_f32 || (types.in == DType::f64 && types.out == DType::f64) ||
         (half && (types.out == types.in || types.out == DType::f32));
}

/// cuBLAS counts by columns: the same memory holds the transposed matrices, and C' = B' A'.
void Cublas::multiply(const BenchCase& now, F32 f32, const void* A, const void* B, void* C) const {
  const Shape& s = now.shape;
  const int m = as_int(s.N), n = as_int(s.M), k = as_int(s.K);
  const int op_b = s.b_transposed ? kTransposed : kPlain;
  const int op_a = s.a_transposed ? kTransposed : kPlain;
  const int ldb = as_int(s.b_transposed ? s.K : s.N), lda = as_int(s.a_transposed ? s.M : s.K);
  const int in = data_type(now.types.in), out = data_type(now.types.out);
  const bool f64 = now.types.in == DType::f64;
  const int compute = f64 ? kComputeF64 : f32 == F32::tf32 ? kComputeF32AsTf32 : kComputeF32;
  const void* const one = f64 ? static_cast<const void*>(&kOneF64) : &kOneF32;
  const void* const zero = f64 ? static_cast<const void*>(&kZeroF64) : &kZeroF32;
  const int status =
      s.batch == 1
          ? function<GemmEx>("cublasGemmEx")(handle_, op_b, op_a, m, n, k, one, B, in, ldb, A, in,
                                             lda, zero, C, out, m, compute, kDefaultAlgorithm)
          : function<GemmBatchedEx>("cublasGemmStridedBatchedEx")(
                handle_, op_b, op_a, m, n, k, one, B, in, ldb, s.K * s.N, A, in, lda, s.M * s.K,
                zero, C, out, m, s.M * s.N, as_int(s.batch), compute, kDefaultAlgorithm);
  require(status, "multiplying");
}

}  // namespace tessera::cli
