// How the exported functions are spelled. Their names are made by macros: four types times two
// widths of integer times the habits of several libraries.
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
