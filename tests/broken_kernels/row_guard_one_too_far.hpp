// The guard lets one row too many through: it is past the end of C.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::row_guard_one_too_far {

template <bool kBroken>
struct Kernel : Staged {
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
    if ((kBroken ? row <= M : row < M) && col < N) C(row, col) = acc;  // here
  }
};

inline const Case kCase{"row_guard_one_too_far",
                        __FILE__,
                        check::Kind::out_of_bounds,
                        check::Severity::error,
                        [] { return product<Kernel<true>>(17, 31, 9); },
                        [] { return product<Kernel<false>>(17, 31, 9); }};

}  // namespace tessera::broken::row_guard_one_too_far
