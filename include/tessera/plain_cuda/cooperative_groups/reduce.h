// Reductions of a group: CUDA C++ Programming Guide, "Collective Operations".
#pragma once
#include "../parts/letters_begin.h"
// Up to letters_end.h a program's macros of one capital letter do not matter.

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define TESSERA_GROUP_OPERATION(name, expression)                     \
  template <class T = void>                                           \
  struct name {                                                       \
    T operator()(const T& a, const T& b) const { return expression; } \
  };                                                                  \
  template <>                                                         \
  struct name<void> {                                                 \
    template <class T>                                                \
    T operator()(const T& a, const T& b) const {                      \
      return expression;                                              \
    }                                                                 \
  };
TESSERA_GROUP_OPERATION(plus, a + b)
TESSERA_GROUP_OPERATION(less, b < a ? b : a)
TESSERA_GROUP_OPERATION(greater, a < b ? b : a)
TESSERA_GROUP_OPERATION(bit_and, a& b)
TESSERA_GROUP_OPERATION(bit_or, a | b)
TESSERA_GROUP_OPERATION(bit_xor, a ^ b)
#undef TESSERA_GROUP_OPERATION

/// Every thread of the group gets the result. `operation` is associative; the order is a tree's.
template <class Group, class T, class Operation>
inline T reduce(const Group& group, T value, Operation&& operation, TESSERA_PLACE) {
  const unsigned size = group.size(), rank = group.thread_rank();
  unsigned reach = 1;
  while (reach < size) reach *= 2;
  for (unsigned by = reach / 2; by > 0; by /= 2) {
    const T other = group.shfl_down(value, by, place);
    if (rank + by < size) value = operation(value, other);
  }
  return group.shfl(value, 0, place);
}

/// The first thread stores the result.
template <class Group, class T, class Operation>
inline void reduce_store_async(const Group& group, T* to, T value, Operation&& operation,
                               TESSERA_PLACE) {
  const T out = reduce(group, value, operation, place);
  if (group.thread_rank() == 0) *to = out;
}
/// The first thread joins the result to an element, atomically.
template <class Group, class A, class T, class Operation>
inline void reduce_update_async(const Group& group, A& atomic, T value, Operation&& operation,
                                TESSERA_PLACE) {
  const T out = reduce(group, value, operation, place);
  if (group.thread_rank() != 0) return;
  T old = atomic.load();
  while (!atomic.compare_exchange_weak(old, operation(old, out))) {
  }
}

}  // namespace cooperative_groups
#include "../parts/letters_end.h"
