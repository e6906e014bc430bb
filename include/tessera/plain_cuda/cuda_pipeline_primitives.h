// Asynchronous copies of one thread: CUDA C++ Programming Guide, "Pipeline Primitives Interface".
#pragma once
#include "parts/letters_begin.h"
// Up to letters_end.h a program's macros of one capital letter do not matter.

#include "cuda_runtime.h"
#include "parts/async.h"

/// 4, 8 or 16 bytes, of which the last `zeros` are filled with zeros.
inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes,
                                    std::size_t zeros = 0, TESSERA_PLACE) {
  if (bytes != 4 && bytes != 8 && bytes != 16)
    tessera::plain_cuda::trap("copies neither 4, 8 nor 16 bytes asynchronously", place);
  tessera::plain_cuda::copy_async(to, from, bytes, bytes - zeros, place);
}
inline void __pipeline_commit(TESSERA_PLACE) { tessera::plain_cuda::commit_async(place); }
inline void __pipeline_wait_prior(std::size_t pending, TESSERA_PLACE) {
  tessera::plain_cuda::wait_async(static_cast<int>(pending), place);
}
#include "parts/letters_end.h"
