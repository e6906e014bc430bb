// One thread writes a byte of the word that another writes whole. Twin: the byte follows all words.
#pragma once

#include "broken_kernels/broken.hpp"

namespace tessera::broken::word_over_bytes {

template <bool kBroken>
struct Kernel {
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{64};
  TESSERA_KERNEL void operator()(auto t, auto C) const {
    const int i = t.thread;
    const auto words = vectorize<1, 4>(C);
    if (i < 32) words(0, i) = Vec<std::uint8_t, 4>::filled(1);                      // other
    else C(0, kBroken ? (i - 32) * 4 + 3 : i + 96) = static_cast<std::uint8_t>(i);  // here
  }
};

inline const Case kCase{"word_over_bytes",
                        __FILE__,
                        check::Kind::race,
                        check::Severity::error,
                        [] { return on_output<std::uint8_t, Kernel<true>>(1, 160, Dim3{1}); },
                        [] { return on_output<std::uint8_t, Kernel<false>>(1, 160, Dim3{1}); }};

}  // namespace tessera::broken::word_over_bytes
