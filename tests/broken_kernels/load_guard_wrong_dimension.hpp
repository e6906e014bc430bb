// The load of A is guarded by the extents of B.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::load_guard_wrong_dimension {

template <bool kBroken>
struct Kernel : StagedBy<16> {
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x, y = t.thread.y;
    float acc = 0;
    for (index_t k = 0; k < tiles<1>(A, T); ++k) {
      const auto gB = tile<T, T>(B, k, t.block.x);
      const index_t row = index_t{t.block.y} * T + y, a_col = k * T + x;
      const index_t M = extent<0>(A), K = extent<1>(A), N = extent<1>(B);
      const bool exists = row < M && (kBroken ? a_col < N : a_col < K);
      s.a(y, x) = exists ? A(row, a_col) : 0.0f;  // here
      s.b(y, x) = gB.contains(y, x) ? gB(y, x) : 0.0f;
      t.barrier();
      for (int i = 0; i < T; ++i) acc = fma(s.a(y, i), s.b(i, x), acc);
      t.barrier();
    }
    store(tile<T, T>(C, t.block.y, t.block.x), y, x, acc);
  }
};

inline const Case kCase{"load_guard_wrong_dimension",
                        __FILE__,
                        check::Kind::outside_view,
                        check::Severity::error,
                        [] { return product<Kernel<true>>(17, 31, 9); },
                        [] { return product<Kernel<false>>(17, 31, 9); }};

}  // namespace tessera::broken::load_guard_wrong_dimension
