// The edge of a tile is not filled with zero, and the first tile is the edge: what is read was
// never written.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::edge_not_zeroed {

template <bool kBroken>
struct Kernel : StagedBy<16> {
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x, y = t.thread.y;
    float acc = 0;
    for (index_t k = 0; k < tiles<1>(A, T); ++k) {
      const auto gA = tile<T, T>(A, t.block.y, k);
      const auto gB = tile<T, T>(B, k, t.block.x);
      if (gA.contains(y, x)) s.a(y, x) = gA(y, x);
      else if constexpr (!kBroken) s.a(y, x) = 0;
      if (gB.contains(y, x)) s.b(y, x) = gB(y, x);
      else s.b(y, x) = 0;
      t.barrier();
      for (int i = 0; i < T; ++i) acc = fma(s.a(y, i), s.b(i, x), acc);  // here
      t.barrier();
    }
    store(tile<T, T>(C, t.block.y, t.block.x), y, x, acc);
  }
};

inline const Case kCase{"edge_not_zeroed",
                        __FILE__,
                        check::Kind::uninitialized_read,
                        check::Severity::error,
                        [] { return product<Kernel<true>>(17, 31, 9); },
                        [] { return product<Kernel<false>>(17, 31, 9); }};

}  // namespace tessera::broken::edge_not_zeroed
