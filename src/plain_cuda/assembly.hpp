// The changes of `tessera check FILE.cu` to the compiler's assembly that C++ source cannot express.
#pragma once

#include <string>
#include <string_view>

namespace tessera::plain_cuda {

/// After each variable in shared memory it adds a rim that belongs to no variable, so that an
/// access past the end is found. This does not change bank conflicts, since an instruction of a
/// warp accesses one variable. It also replaces new and delete by the runtime's functions: GCC 12
/// crashes if the source gives them other names. The inline functions of the standard library and
/// of Tessera get names of their own: the runtime must not call instrumented ones.
std::string as_checked(const std::string& assembly);

/// May it matter in which order blocks carry out the program's atomic updates? Not if all of them
/// commute and nobody uses their results: see parts/atomics.h.
bool keeps_order(std::string_view assembly);

}  // namespace tessera::plain_cuda
