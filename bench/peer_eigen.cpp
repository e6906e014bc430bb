// Eigen's product as two functions of CBLAS, so that `tessera bench` can load it like any peer.
// scripts/peers compiles it for this processor; no part of the build.
#include <Eigen/Core>

namespace {

template <class T>
using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stride = Eigen::OuterStride<>;
template <class T>
using In = Eigen::Map<const Rows<T>, 0, Stride>;

/// C = A * B, or C = C - A * B where beta is 1, by rows: all that the benchmark asks for.
template <class T>
void multiply(int trans_a, int trans_b, int m, int n, int k, const T* a, int lda, const T* b,
              int ldb, T beta, T* c, int ldc) {
  constexpr int transposed = 112;
  const bool ta = trans_a == transposed, tb = trans_b == transposed;
  const In<T> A(a, ta ? k : m, ta ? m : k, Stride(lda));   // (M,K), or (K,M)
  const In<T> B(b, tb ? n : k, tb ? k : n, Stride(ldb));   // (K,N), or (N,K)
  Eigen::Map<Rows<T>, 0, Stride> C(c, m, n, Stride(ldc));  // (M,N)
  const auto store = [&](const auto& product) {
    if (beta == T(1)) C.noalias() -= product;
    else C.noalias() = product;
  };
  if (ta && tb) store(A.transpose() * B.transpose());
  else if (ta) store(A.transpose() * B);
  else if (tb) store(A * B.transpose());
  else store(A * B);
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
                 const float* b, int ldb, float beta, float* c, int ldc) {
  multiply(trans_a, trans_b, m, n, k, a, lda, b, ldb, beta, c, ldc);
}
void cblas_dgemm(int, int trans_a, int trans_b, int m, int n, int k, double, const double* a,
                 int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  multiply(trans_a, trans_b, m, n, k, a, lda, b, ldb, beta, c, ldc);
}
}
