// Prefix sums of a group: CUDA C++ Programming Guide, "Collective Operations".
#pragma once
#include "../parts/letters_begin.h"
// Up to letters_end.h a program's macros of one capital letter do not matter.

#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Operation>
inline T inclusive_scan(const Group& group, T value, Operation&& operation, TESSERA_PLACE) {
  const unsigned size = group.size(), rank = group.thread_rank();
  for (unsigned by = 1; by < size; by *= 2) {
    const T other = group.shfl_up(value, by, place);
    if (rank >= by) value = operation(other, value);
  }
  return value;
}
template <class Group, class T>
inline T inclusive_scan(const Group& group, T value, TESSERA_PLACE) {
  return inclusive_scan(group, value, plus<T>(), place);
}

/// The first thread gets T{}.
template <class Group, class T, class Operation>
inline T exclusive_scan(const Group& group, T value, Operation&& operation, TESSERA_PLACE) {
  const T all = inclusive_scan(group, value, operation, place);
  const T before = group.shfl_up(all, 1, place);
  return group.thread_rank() == 0 ? T{} : before;
}
template <class Group, class T>
inline T exclusive_scan(const Group& group, T value, TESSERA_PLACE) {
  return exclusive_scan(group, value, plus<T>(), place);
}

}  // namespace cooperative_groups
#include "../parts/letters_end.h"
