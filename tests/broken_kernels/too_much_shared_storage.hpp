// More shared storage than any device gives to one block.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::too_much_shared_storage {

template <bool kBroken>
struct Kernel : Staged {
  struct Shared {
    Tile<float, kBroken ? 1024 : 8, 64> a;
  };
  TESSERA_KERNEL void operator()(auto t, auto C) const { C(t.thread.y, t.thread.x) = 1; }
};

inline const Case kCase{"too_much_shared_storage",
                        __FILE__,
                        check::Kind::impossible_launch,
                        check::Severity::error,
                        [] { return on_output<float, Kernel<true>>(8, 8, Dim3{1}); },
                        [] { return on_output<float, Kernel<false>>(8, 8, Dim3{1}); }};

}  // namespace tessera::broken::too_much_shared_storage
