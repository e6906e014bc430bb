// The kernel ends while its asynchronous copies may still write.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::async_never_waited {

template <bool kBroken>
struct Kernel : Staged {
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x, y = t.thread.y;
    copy_async(t, tile<T, T>(A, 0, 0), s.a.view());  // here
    commit(t);
    if constexpr (!kBroken) wait<0>(t);
    if (C.contains(y, x)) C(y, x) = B(y, x);
  }
};

inline const Case kCase{"async_never_waited",
                        __FILE__,
                        check::Kind::async_never_waited,
                        check::Severity::error,
                        [] { return product<Kernel<true>>(8, 8, 8); },
                        [] { return product<Kernel<false>>(8, 8, 8); }};

}  // namespace tessera::broken::async_never_waited
