// What a product with nothing to sum does, K = 0 or alpha = 0: C = beta * C, where beta = 0 writes
// zeros without reading C.
#include "blas_product.hpp"

namespace tessera::blas {

template <class T>
void scale(const Product<T>& p) {
  for (index_t i = 0; i < p.M; ++i) {
    T* row = p.C + i * p.ldc;
    if (p.beta == T{0}) {
      for (index_t j = 0; j < p.N; ++j) row[j] = T{0};
    } else {
      for (index_t j = 0; j < p.N; ++j) row[j] = scaled(p.beta, row[j]);
    }
  }
}

template void scale(const Product<float>&);
template void scale(const Product<double>&);
template void scale(const Product<std::complex<float>>&);
template void scale(const Product<std::complex<double>>&);

}  // namespace tessera::blas
