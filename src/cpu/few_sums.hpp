// Products with few elements of C and a long K, as chains: see chains.hpp. Called by gemm.cpp.
#pragma once

#include "small/forms.hpp"

namespace tessera::cpu {

template <class T>
[[gnu::noinline]] void multiply_chains(const Gemm<T>& call, const Kernels<T, T, T>& kernels) {
  alignas(64) T sums[kFewSums * kFewSums];
  const bool plain = is_plain(call);
  T* const to = plain ? call.C : sums;
  const index_t to_row = plain ? call.c_row : kFewSums;
  int rows = static_cast<int>(call.M), cols = static_cast<int>(call.N);
  if (rows > 8 || cols > 8 || rows * cols > kMostChains) {
    int& longer = rows >= cols ? rows : cols;
    longer = (longer + 1) / 2;
  }
  for (index_t i = 0; i < call.M; i += rows)
    for (index_t j = 0; j < call.N; j += cols)
      kernels.chains({call.K, call.A + i * call.a_row, call.a_row, call.a_col,
                      call.B + j * call.b_col, call.b_row, call.b_col, to + i * to_row + j, to_row},
                     static_cast<int>(std::min<index_t>(rows, call.M - i)),
                     static_cast<int>(std::min<index_t>(cols, call.N - j)));
  if (!plain)
    finish_tile(call, call.C, kernels, sums, kFewSums, 0, 0, static_cast<int>(call.M),
                static_cast<int>(call.N));
}

}  // namespace tessera::cpu
