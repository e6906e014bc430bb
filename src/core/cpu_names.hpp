// The instruction sets of TESSERA_CPU as a message lists them, whether this CPU has them or not.
#pragma once

#include <string>

namespace tessera::detail {

/// "portable, neon, avx2, avx512 or amx"
std::string cpu_names();

}  // namespace tessera::detail
