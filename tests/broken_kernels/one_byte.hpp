// Two threads write one byte. Twin: neighbouring bytes of one word, which is legal.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::one_byte {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{64};
  struct Shared {
    Tile<std::uint8_t, 1, 64> bytes;
  };
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread;
    s.bytes(0, kBroken ? i % 32 : i) = static_cast<std::uint8_t>(i);  // here
    t.barrier();
    C(0, i) = s.bytes(0, kBroken ? i % 32 : i);
  }
};

inline const Case kCase{"one_byte",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return on_output<std::uint8_t, Kernel<true>>(1, 64, Dim3{1}); },
                        [] { return on_output<std::uint8_t, Kernel<false>>(1, 64, Dim3{1}); }};

}  // namespace tessera::broken::one_byte
