// The barriers are inside the guard of the rows: threads past the edge never come.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::barrier_in_row_guard {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x, y = t.thread.y;
    const auto gC = tile<T, T>(C, t.block.y, t.block.x);
    float acc = 0;
    for (index_t k = 0; k < tiles<1>(A, T); ++k) {
      if (kBroken && !gC.contains(y, 0)) continue;
      copy(t, tile<T, T>(A, t.block.y, k), s.a.view());
      copy(t, tile<T, T>(B, k, t.block.x), s.b.view());
      t.barrier();  // here
      for (int i = 0; i < T; ++i) acc = fma(s.a(y, i), s.b(i, x), acc);
      t.barrier();
    }
    store(gC, y, x, acc);
  }
};

inline const Case kCase{"barrier_in_row_guard",
                        __FILE__,
                        check::Kind::early_return,
                        check::Severity::warning,
                        [] { return product<Kernel<true>>(17, 31, 9); },
                        [] { return product<Kernel<false>>(17, 31, 9); }};

}  // namespace tessera::broken::barrier_in_row_guard
