// A digest of the results of a program that is not checked: of what it copies to the host, and of
// the device's memory when it is freed. Two runs with the same results have the same digest.
// Private to the runtime.
#pragma once

#include <cstddef>

namespace tessera::plain_cuda {

/// Adds a copy to the host. Does nothing unless TESSERA_CUDA_DIGEST names a file for the digest.
void digest_copied(const void* from, std::size_t bytes);
/// Adds an allocation that is about to be freed; those that are left are added at the end.
void digest_freed(const void* from, std::size_t bytes);

}  // namespace tessera::plain_cuda
