// wait<1> does not wait for the newest group, which is the one that is read.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::async_waits_for_too_few {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const auto sA = s.a.view(), sB = s.b.view();
    const int x = t.thread.x, y = t.thread.y;
    float acc = 0;
    for (index_t k = 0; k < tiles<1>(A, T); ++k) {
      copy_async(t, tile<T, T>(A, t.block.y, k), sA);  // other
      copy_async(t, tile<T, T>(B, k, t.block.x), sB);
      commit(t);
      wait<kBroken ? 1 : 0>(t);
      t.barrier();
      for (int i = 0; i < T; ++i) acc = fma(sA(y, i), sB(i, x), acc);  // here
      t.barrier();
    }
    wait<0>(t);
    store(tile<T, T>(C, t.block.y, t.block.x), y, x, acc);
  }
};

inline const Case kCase{"async_waits_for_too_few",
                        __FILE__,
                        check::Kind::async_not_waited,
                        check::Severity::error,
                        [] { return product<Kernel<true>>(17, 31, 9); },
                        [] { return product<Kernel<false>>(17, 31, 9); }};

}  // namespace tessera::broken::async_waits_for_too_few
