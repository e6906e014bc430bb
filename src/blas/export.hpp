// Macros for the names of the exported functions: four types times two integer widths times the
// conventions of several libraries.
#pragma once

#include <complex>
#include <cstdint>

#define TESSERA_EXPORT extern "C" [[gnu::visibility("default")]] void
#define TESSERA_EXPORT_ALIAS(of) extern "C" [[gnu::visibility("default"), gnu::alias(#of)]] void

namespace tessera::blas {

using c32 = std::complex<float>;
using c64 = std::complex<double>;
using i64 = std::int64_t;

}  // namespace tessera::blas
