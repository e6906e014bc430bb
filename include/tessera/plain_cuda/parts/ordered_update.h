// Atomic updates and loads with an order and a scope: fences around relaxed ones.
#pragma once

#include "atomics.h"
#include "thread.h"

namespace tessera::plain_cuda {

/// Returns what `access` does. `order` is the number of a std::memory_order; `is_of_block`: the
/// scope is no larger than the block.
template <class Access>
auto in_order(int order, bool is_of_block, Place place, Access access) {
  constexpr int kRelaxed = 0, kRelease = 3, kAcqRel = 4;
  const Fence scope = is_of_block ? Fence::block : Fence::device;
  if (is_of_block) of_block(place);
  if (order >= kRelease) fence(scope, place);
  const auto old = access();
  if (order != kRelaxed && (order < kRelease || order >= kAcqRel)) fence(scope, place);
  return old;
}

/// change(old) is stored; returns old.
template <class T, class Change>
T update_ordered(T* at, int order, bool is_of_block, Place place, Change change) {
  return in_order(order, is_of_block, place, [&] { return update(at, place, change); });
}

template <class T>
T load_ordered(const T* at, int order, bool is_of_block, Place place) {
  return in_order(order, is_of_block, place, [&] { return poll(at, place); });
}

}  // namespace tessera::plain_cuda
