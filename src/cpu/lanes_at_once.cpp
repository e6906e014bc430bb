// Small products in the order `lanes`: see lanes_at_once.hpp.
#include "lanes_at_once.hpp"

#include "lane_sums.hpp"

namespace tessera::cpu {

template <class T>
bool lanes_at_once(index_t M, index_t N, index_t K, const T* A, index_t a_row, const T* B,
                   index_t b_col, T* C, index_t c_row) {
  if (bounded_product(M, N, K) > kTiny * kTiny * kTiny) return false;
  if (M == 1) a_row = c_row = 0;  // they may be anything
  if (N == 1) b_col = 0;
  const auto& kernels = plain_kernels<T>();
  if (M <= N) kernels.lane_sums({K, A, a_row, 1, B, 1, b_col, C, c_row}, M, N);
  else if (c_row == 1) kernels.lane_sums({K, B, b_col, 1, A, 1, a_row, C, 0}, N, M);  // a column
  else transposed_lane_sums<T>({K, B, b_col, 1, A, 1, a_row, nullptr, 0}, kernels, N, M, C, c_row);
  return true;
}

template bool lanes_at_once(index_t, index_t, index_t, const double*, index_t, const double*,
                            index_t, double*, index_t);
template bool lanes_at_once(index_t, index_t, index_t, const float*, index_t, const float*, index_t,
                            float*, index_t);

}  // namespace tessera::cpu
