// The tiled kernel as Sarek's page prints it: only the load is a superstep.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::sarek_page {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "sarek_page";
  static constexpr Dim3 block{16, 16};
  struct Shared {
    Tile<float, 16, 16> a, b;
  };
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int tx = t.thread.x, ty = t.thread.y;
    const index_t M = extent<0>(A), K = extent<1>(A), N = extent<1>(B);
    const index_t row = index_t{t.block.y} * 16 + ty, col = index_t{t.block.x} * 16 + tx;
    float sum = 0;
    for (index_t k = 0; k < ceil_div(K, 16); ++k) {
      t.superstep("load", [&] {
        const index_t a_col = k * 16 + tx, b_row = k * 16 + ty;
        s.a(ty, tx) = row < M && a_col < K ? A(row, a_col) : 0.0f;
        s.b(ty, tx) = b_row < K && col < N ? B(b_row, col) : 0.0f;  // here
      });
      for (int i = 0; i < 16; ++i) sum = fma(s.a(ty, i), s.b(i, tx), sum);  // other
      if constexpr (!kBroken) t.barrier();
    }
    if (row < M && col < N) C(row, col) = sum;
  }
};

inline const Case kCase{"sarek_page",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return product<Kernel<true>>(40, 33, 50); },
                        [] { return product<Kernel<false>>(40, 33, 50); }};

}  // namespace tessera::broken::sarek_page
