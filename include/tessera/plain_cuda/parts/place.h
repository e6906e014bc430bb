// Where in the source a call of plain CUDA is: the last, defaulted parameter of all that a
// program calls. These headers are read by programs that define __CUDACC__, so they include none of
// the library's own.
#pragma once

#include <cstddef>
#include <cstdint>
#if !defined(__clang__)
#include <source_location>
#endif

/// Of functions that the checker must not see: what they do is recorded by what they call.
#define TESSERA_UNSEEN __attribute__((no_sanitize("thread")))
/// Of functions that read or write what a program gives by address: their accesses are reported
/// at the line of the call, which only inlined code knows.
#define TESSERA_AT_CALL __attribute__((always_inline)) inline

namespace tessera::plain_cuda {

/// The column in what a std::source_location leads to. Where nothing is optimised that is a
/// variable, and the class's own functions would record a read of it.
TESSERA_UNSEEN inline int column_of(const void* location) noexcept {
  struct Contents {
    const char *file, *function;
    unsigned line, column;
  };
  return static_cast<int>(static_cast<const Contents*>(location)->column);
}

#if defined(__clang__)
#define TESSERA_PLACE_COLUMN __builtin_COLUMN()
#else
#define TESSERA_PLACE_COLUMN ::tessera::plain_cuda::column_of(__builtin_source_location())
#endif

/// As tessera::Here.
struct Place {
  const char* file = "";
  int line = 0;
  int column = 0;
  static constexpr Place current(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                                 int column = TESSERA_PLACE_COLUMN) {
    return {file, line, column};
  }
};

}  // namespace tessera::plain_cuda

/// The last parameter of what programs call.
#define TESSERA_PLACE ::tessera::plain_cuda::Place place = ::tessera::plain_cuda::Place::current()
