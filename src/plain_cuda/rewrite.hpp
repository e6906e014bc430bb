// Makes plain C++ of preprocessed CUDA C++: the few words that are no C++ become calls of the
// run-time (include/tessera/plain_cuda/parts). Nothing else is touched, and all that the user wrote
// keeps its line and column.
//
//   __global__ void K(P p) {...}  the body becomes a closure that K launches, as nvcc's stub does
//   K<<<grid, block>>>(a)         (configure(place, grid, block), K(a))
//   __shared__ T x[8];            static thread_local T x[8];
//   extern __shared__ T x[];      extern __thread T x[], all of them at one address
//   asm("...": ...)               ptx(place, "...", ...), in the user's files
#pragma once

#include <string>
#include <string_view>

namespace tessera::plain_cuda {

/// Throws Error(argument) with file and line where the text is no CUDA C++: brackets that nobody
/// closes, a launch without arguments. Time linear in the length of the text.
std::string rewrite(std::string_view preprocessed);

}  // namespace tessera::plain_cuda
