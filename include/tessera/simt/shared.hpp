// shared<S>(t): the block's shared storage, with a type. Works with every engine's context.
#pragma once

#include "tessera/core/config.hpp"

namespace tessera {

/// The block's shared storage as an S. Not initialised: every element must be written before it is
/// read. On the CPU Error(kernel) where S is larger than what the kernel declares as its Shared.
template <class S, class Thread>
TESSERA_KERNEL S& shared(Thread& t) {
  return *static_cast<S*>(t.shared_memory(sizeof(S)));
}

}  // namespace tessera
