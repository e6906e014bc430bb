// What `tessera check FILE.cu` changes between the compiler and the assembler, where the source has
// no words for it.
#pragma once

#include <string>

namespace tessera::plain_cuda {

/// Behind each variable in shared memory comes a rim that no variable has, so that what goes over
/// its end is seen; no bank conflict comes or goes by it, since a warp's instruction accesses one
/// variable. And new and delete are the run-time's: GCC 12 does not survive other names of them in
/// the source.
std::string as_checked(const std::string& assembly);

}  // namespace tessera::plain_cuda
