// The store is guarded by the wrong extents: rows are compared with columns. Here they leave C
// altogether; in a C with more rows than columns they would stay inside it
// (column_guard_one_too_far).
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::store_guard_wrong_dimension {

template <bool kBroken>
struct Kernel : StagedBy<16> {
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x, y = t.thread.y;
    float acc = 0;
    for (index_t k = 0; k < tiles<1>(A, T); ++k) {
      const auto gA = tile<T, T>(A, t.block.y, k);
      const auto gB = tile<T, T>(B, k, t.block.x);
      s.a(y, x) = gA.contains(y, x) ? gA(y, x) : 0.0f;
      s.b(y, x) = gB.contains(y, x) ? gB(y, x) : 0.0f;
      t.barrier();
      for (int i = 0; i < T; ++i) acc = fma(s.a(y, i), s.b(i, x), acc);
      t.barrier();
    }
    const index_t row = index_t{t.block.y} * T + y, col = index_t{t.block.x} * T + x;
    const index_t M = extent<0>(C), N = extent<1>(C);
    if (kBroken ? row < N && col < M : row < M && col < N) C(row, col) = acc;  // here
  }
};

inline const Case kCase{"store_guard_wrong_dimension",
                        __FILE__,
                        check::Kind::out_of_bounds,
                        check::Severity::error,
                        [] { return product<Kernel<true>>(17, 31, 9); },
                        [] { return product<Kernel<false>>(17, 31, 9); }};

}  // namespace tessera::broken::store_guard_wrong_dimension
