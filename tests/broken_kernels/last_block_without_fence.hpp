// Each block leaves a part and counts itself; the last one adds the parts up. Without a fence the
// atomic update orders nothing, and the last block may read what is not there yet.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::last_block_without_fence {

/// C (1,9): the parts of 8 blocks, and their sum. count (1,1).
template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{64};
  static constexpr int blocks = 8;
  struct Shared {
    Tile<int, 1, 1> is_last;
  };
  TESSERA_KERNEL void operator()(auto t, auto count, auto C) const {
    auto& s = shared<Shared>(t);
    if (t.thread == 0) {
      C(0, t.block.x) = 1;  // here
      if constexpr (!kBroken) t.fence();
      s.is_last(0, 0) = t.atomic_add(count(0, 0), 1) == blocks - 1 ? 1 : 0;
      if constexpr (!kBroken) t.fence();
    }
    t.barrier();
    const int is_last = s.is_last(0, 0);
    if (is_last == 0 || t.thread != 33) return;
    float sum = 0;
    for (int i = 0; i < blocks; ++i) sum = fma(1.0f, C(0, i), sum);  // other
    C(0, blocks) = sum;
  }
};

template <bool kBroken>
check::Report run() {
  std::vector<float> c(9, NAN);
  int count = 0;
  return check::check({.threads = 1, .fresh_outputs = true}, Dim3{Kernel<kBroken>::blocks},
                      Kernel<kBroken>{}, tensor<kRowMajorMatrix>(&count, 1, 1, 1),
                      tensor<kRowMajorMatrix>(c.data(), 1, 9, 9));
}

inline const Case kCase{"last_block_without_fence", __FILE__,  check::Kind::race,
                        check::Severity::error,     run<true>, run<false>};

}  // namespace tessera::broken::last_block_without_fence
