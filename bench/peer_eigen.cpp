// Eigen's product as two functions of CBLAS, so that `tessera bench` can load it like any peer.
// scripts/peers compiles it for this processor; no part of the build.
#include <Eigen/Core>

namespace {

template <class T>
using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stride = Eigen::OuterStride<>;
template <class T>
using In = Eigen::Map<const Rows<T>, 0, Stride>;

/// C = A * B, by rows, alpha = 1 and beta = 0: all that the benchmark asks for.
template <class T>
void multiply(int trans_a, int trans_b, int m, int n, int k, const T* a, int lda, const T* b,
              int ldb, T* c, int ldc) {
  constexpr int transposed = 112;
  const bool ta = trans_a == transposed, tb = trans_b == transposed;
  const In<T> A(a, ta ? k : m, ta ? m : k, Stride(lda));   // (M,K), or (K,M)
  const In<T> B(b, tb ? n : k, tb ? k : n, Stride(ldb));   // (K,N), or (N,K)
  Eigen::Map<Rows<T>, 0, Stride> C(c, m, n, Stride(ldc));  // (M,N)
  if (ta && tb) C.noalias() = A.transpose() * B.transpose();
  else if (ta) C.noalias() = A.transpose() * B;
  else if (tb) C.noalias() = A * B.transpose();
  else C.noalias() = A * B;
}

#define TESSERA_TEXT(x) #x
#define TESSERA_VERSION_TEXT(a, b, c) TESSERA_TEXT(a) "." TESSERA_TEXT(b) "." TESSERA_TEXT(c)

}  // namespace

extern "C" {

const char* tessera_peer_version() {
  return "Eigen " TESSERA_VERSION_TEXT(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
                                       EIGEN_MINOR_VERSION);
}
void cblas_sgemm(int, int trans_a, int trans_b, int m, int n, int k, float, const float* a, int lda,
                 const float* b, int ldb, float, float* c, int ldc) {
  multiply(trans_a, trans_b, m, n, k, a, lda, b, ldb, c, ldc);
}
void cblas_dgemm(int, int trans_a, int trans_b, int m, int n, int k, double, const double* a,
                 int lda, const double* b, int ldb, double, double* c, int ldc) {
  multiply(trans_a, trans_b, m, n, k, a, lda, b, ldb, c, ldc);
}
}
