// Each thread waits for its own copies only: without a barrier those of the others may be missing.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::async_without_barrier {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const auto sA = s.a.view(), sB = s.b.view();
    const int x = t.thread.x, y = t.thread.y;
    float acc = 0;
    for (index_t k = 0; k < tiles<1>(A, T); ++k) {
      copy_async(t, tile<T, T>(A, t.block.y, k), sA);
      copy_async(t, tile<T, T>(B, k, t.block.x), sB);  // here
      commit(t);
      wait<0>(t);
      if constexpr (!kBroken) t.barrier();
      for (int i = 0; i < T; ++i) acc = fma(sA(y, i), sB(i, x), acc);  // other
      t.barrier();
    }
    store(tile<T, T>(C, t.block.y, t.block.x), y, x, acc);
  }
};

inline const Case kCase{"async_without_barrier",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return product<Kernel<true>>(17, 31, 9); },
                        [] { return product<Kernel<false>>(17, 31, 9); }};

}  // namespace tessera::broken::async_without_barrier
