// shared<S>(t): the block's shared storage as an object of type S. Works with every engine's
// context.
#pragma once

#include <type_traits>

#include "tessera/core/config.hpp"

namespace tessera {

namespace detail {

/// An S in shared storage. Copying is deleted: a copy would be private to one thread, and comes
/// from a forgotten `&`.
template <class S>
struct Placed : S {
  TESSERA_HD Placed(const Placed& other) : S(other) {
    static_assert(sizeof(S) == 0,
                  "shared<S>(t) is storage of the whole block, and this would be a copy for one "
                  "thread: write auto& s = shared<Shared>(t), capture s by reference ([&]) and "
                  "pass it on as auto&");
  }
  using S::operator=;
};

template <class S>
using InPlace = std::conditional_t<std::is_class_v<S> && !std::is_final_v<S>, Placed<S>, S>;

}  // namespace detail

/// The block's shared storage as an S: `auto& s = shared<Shared>(t)`. Not initialised: every
/// element must be written before it is read. On the CPU Error(kernel) where S is larger than what
/// the kernel declares as its Shared.
template <class S, class Thread>
TESSERA_KERNEL detail::InPlace<S>& shared(Thread& t) {
  return *static_cast<detail::InPlace<S>*>(t.shared_memory(sizeof(S)));
}

}  // namespace tessera
