// Atomic updates with an order and a scope: fences around relaxed ones.
#pragma once

#include "atomics.h"
#include "thread.h"

namespace tessera::plain_cuda {

/// change(old) is stored; returns old. `order` is the number of a std::memory_order; `of_block`:
/// the scope is no larger than the block.
template <class T, class Change>
T update_ordered(T* at, int order, bool is_of_block, Place place, Change change) {
  constexpr int kRelaxed = 0, kRelease = 3, kAcqRel = 4;
  const Fence scope = is_of_block ? Fence::block : Fence::device;
  if (is_of_block) of_block(place);
  if (order >= kRelease) fence(scope, place);
  const T old = update(at, place, change);
  if (order != kRelaxed && (order < kRelease || order >= kAcqRel)) fence(scope, place);
  return old;
}

}  // namespace tessera::plain_cuda
