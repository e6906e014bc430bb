// Makes C++ of preprocessed CUDA C++: the few words that are not C++ become calls of the runtime
// (include/tessera/plain_cuda/parts/launch.h). All that the user wrote keeps its line and column.
//
//   __global__ void K(P p) { body }   void K(P p) { run_kernel(__func__, launch_bounds(),
//                                       [=]() mutable -> void { body }); }
//   __launch_bounds__(256, 2)         launch_bounds(256, 2)
//   __cluster_dims__(2, 1, 1)         one more argument before the closure: cluster_dims(2, 1, 1)
//   K<<<grid, block>>>(a)             (configure(Place{file, line, column}, grid, block), K(a))
//   __shared__ T x[8];                static thread_local T x[8];
//   extern __shared__ T x[];          T (&x)[] = dynamic_shared();
//     outside of functions            extern __thread T x[] __asm__("tessera_dynamic_shared");
//   asm("add %0, %1;" : "=r"(x) : [in] "r"(y) : "memory");
//                                     ptx(Place{...}, "add %0, %1;", ptx_out("=r", (x)),
//                                       ptx_in("in", "r", (y)));   in functions of the user's files
//
// All these names are in ::tessera::plain_cuda.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tessera::plain_cuda {

/// The text of a file that a line marker names; nullptr if it cannot be read.
using Originals = std::function<const std::string*(const std::string& file)>;

/// With `originals`, tokens that a compiler's preprocessor moved within their line, by expanding
/// macros or joining blanks, get the columns of the user's text; the expansion of a macro gets the
/// column of its use. Throws Error(argument) with file, line and column if brackets are unpaired or
/// a launch has no kernel or no arguments. Time is linear in the length of the text.
std::string rewrite(std::string_view preprocessed, const Originals& originals = {});

}  // namespace tessera::plain_cuda
