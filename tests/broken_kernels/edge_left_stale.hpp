// The edge of a later tile is not filled with zero: what is read is from the tile before.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::edge_left_stale {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x, y = t.thread.y;
    float acc = 0;
    for (index_t k = 0; k < tiles<1>(A, T); ++k) {
      const auto gA = tile<T, T>(A, t.block.y, k);
      const auto gB = tile<T, T>(B, k, t.block.x);
      if (gA.contains(y, x)) s.a(y, x) = gA(y, x);  // other
      else if (!kBroken || k == 0) s.a(y, x) = 0;
      s.b(y, x) = gB.contains(y, x) ? gB(y, x) : 0.0f;
      t.barrier();
      for (int i = 0; i < T; ++i) acc = fma(s.a(y, i), s.b(i, x), acc);  // here
      t.barrier();
    }
    store(tile<T, T>(C, t.block.y, t.block.x), y, x, acc);
  }
};

inline const Case kCase{"edge_left_stale",
                        __FILE__,
                        check::Kind::stale_read,
                        check::Severity::error,
                        [] { return product<Kernel<true>>(16, 24, 9, {.forget_tiles = true}); },
                        [] { return product<Kernel<false>>(16, 24, 9, {.forget_tiles = true}); }};

}  // namespace tessera::broken::edge_left_stale
