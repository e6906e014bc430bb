// K / T instead of its ceiling: the last tile along k is never multiplied. No rule is broken.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::last_k_tile_dropped {

template <bool kBroken>
struct Kernel : StagedBy<16> {
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x, y = t.thread.y;
    float acc = 0;
    for (index_t k = 0; k < (kBroken ? extent<1>(A) / T : tiles<1>(A, T)); ++k) {
      const auto gA = tile<T, T>(A, t.block.y, k);
      const auto gB = tile<T, T>(B, k, t.block.x);
      s.a(y, x) = gA.contains(y, x) ? gA(y, x) : 0.0f;
      s.b(y, x) = gB.contains(y, x) ? gB(y, x) : 0.0f;
      t.barrier();
      for (int i = 0; i < T; ++i) acc = fma(s.a(y, i), s.b(i, x), acc);
      t.barrier();
    }
    store(tile<T, T>(C, t.block.y, t.block.x), y, x, acc);
  }
};

inline const Case kCase{"last_k_tile_dropped",
                        __FILE__,
                        check::Kind::never_read,
                        check::Severity::error,
                        [] { return product<Kernel<true>>(17, 31, 9); },
                        [] { return product<Kernel<false>>(17, 31, 9); }};

}  // namespace tessera::broken::last_k_tile_dropped
