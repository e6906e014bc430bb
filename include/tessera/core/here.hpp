// The source location of an access or a barrier. Under nvcc it is an empty struct and costs
// nothing. Used as a defaulted last parameter: `void barrier(Here here = Here::current())`.
#pragma once

#include "tessera/core/config.hpp"

namespace tessera {

#if TESSERA_GPU_CODE
struct Here {
  static constexpr Here current() { return {}; }
};
#else
struct Here {
  const char* file = "";
  int line = 0;
  int column = 0;
  static constexpr Here current(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                                int column = TESSERA_COLUMN) {
    return {file, line, column};
  }
};
#endif

}  // namespace tessera
