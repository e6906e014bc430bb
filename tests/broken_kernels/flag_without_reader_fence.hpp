// One block writes, fences and sets a flag; another waits for the flag and reads at once. Without a
// fence after the wait it may read what a cache still holds.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::flag_without_reader_fence {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{1};
  TESSERA_KERNEL void operator()(auto t, auto flag, auto C) const {
    if (t.block.x == 0) {
      C(0, 0) = 5;  // here
      t.fence();
      t.atomic_store(flag(0, 0), 1);
    } else {
      while (t.atomic_load(flag(0, 0)) == 0) {
      }
      if constexpr (!kBroken) t.fence();
      C(0, 1) = C(0, 0);  // other
    }
  }
};

template <bool kBroken>
check::Report run() {
  std::vector<float> c(2, NAN);
  int flag = 0;
  return check::check({.threads = 1, .fresh_outputs = true}, Dim3{2}, Kernel<kBroken>{},
                      tensor<kRowMajorMatrix>(&flag, 1, 1, 1),
                      tensor<kRowMajorMatrix>(c.data(), 1, 2, 2));
}

inline const Case kCase{"flag_without_reader_fence", __FILE__,  check::Kind::race,
                        check::Severity::warning,    run<true>, run<false>};

}  // namespace tessera::broken::flag_without_reader_fence
