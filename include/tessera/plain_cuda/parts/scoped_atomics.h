// The atomic functions with orders and scopes of CUDA 12.8 (CUDA C++ Programming Guide, "Built-in
// atomic functions").
#pragma once

#include "ordered_update.h"

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

#define TESSERA_SCOPE int scope = __NV_THREAD_SCOPE_SYSTEM, TESSERA_PLACE
template <class T>
inline T __nv_atomic_load_n(const T* address, int order, TESSERA_SCOPE) {
  return tessera::plain_cuda::load_ordered(address, order, scope <= __NV_THREAD_SCOPE_BLOCK, place);
}
template <class T>
inline void __nv_atomic_store_n(T* address, std::type_identity_t<T> value, int order,
                                TESSERA_SCOPE) {
  tessera::plain_cuda::update_ordered(address, order, scope <= __NV_THREAD_SCOPE_BLOCK, place,
                                      [=](T) { return value; });
}
template <class T>
inline T __nv_atomic_exchange_n(T* address, std::type_identity_t<T> value, int order,
                                TESSERA_SCOPE) {
  return tessera::plain_cuda::update_ordered(address, order, scope <= __NV_THREAD_SCOPE_BLOCK,
                                             place, [=](T) { return value; });
}
template <class T>
TESSERA_AT_CALL bool __nv_atomic_compare_exchange_n(T* address, T* expected,
                                                    std::type_identity_t<T> desired, bool /*weak*/,
                                                    int success, int /*failure*/, TESSERA_SCOPE) {
  const T wanted = *expected;
  tessera::plain_cuda::test_guess(address);
  const T old =
      tessera::plain_cuda::update_ordered(address, success, scope <= __NV_THREAD_SCOPE_BLOCK, place,
                                          [=](T was) { return was == wanted ? desired : was; });
  if (old == wanted) return true;
  *expected = old;
  return false;
}
#define TESSERA_FETCH(ignored, name, expression)                                                   \
  template <class T>                                                                               \
  inline T __nv_atomic_fetch_##name(T* address, std::type_identity_t<T> value, int order,          \
                                    TESSERA_SCOPE) {                                               \
    return tessera::plain_cuda::update_ordered(address, order, scope <= __NV_THREAD_SCOPE_BLOCK,   \
                                               place,                                              \
                                               [=](T old) { return static_cast<T>(expression); }); \
  }
TESSERA_EACH_COMMUTING(TESSERA_FETCH)
#undef TESSERA_FETCH
#undef TESSERA_SCOPE
