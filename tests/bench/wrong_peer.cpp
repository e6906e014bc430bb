// A BLAS whose products are wrong in one element; with WRONG_PEER=crash in the environment it
// crashes instead, with WRONG_PEER=right it is right. Loaded by the benchmark as a peer.
#include <cstdlib>
#include <cstring>

namespace {

template <class T>
void multiply(int m, int n, int k, const T* a, int lda, const T* b, int ldb, T* c, int ldc) {
  const char* mode = std::getenv("WRONG_PEER");
  if (mode != nullptr && std::strcmp(mode, "crash") == 0) std::abort();
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      T sum = 0;
      for (int p = 0; p < k; ++p) sum += a[i * lda + p] * b[p * ldb + j];
      c[i * ldc + j] = sum;
    }
  }
  if (mode == nullptr) c[(m - 1) * ldc + (n - 1)] += T(1);
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) void cblas_sgemm(int, int, int, int m, int n, int k, float,
                                                        const float* a, int lda, const float* b,
                                                        int ldb, float, float* c, int ldc) {
  multiply(m, n, k, a, lda, b, ldb, c, ldc);
}
__attribute__((visibility("default"))) void cblas_dgemm(int, int, int, int m, int n, int k, double,
                                                        const double* a, int lda, const double* b,
                                                        int ldb, double, double* c, int ldc) {
  multiply(m, n, k, a, lda, b, ldb, c, ldc);
}
}
