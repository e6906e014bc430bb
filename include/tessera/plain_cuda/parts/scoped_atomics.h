// The atomic functions with orders and scopes of CUDA 12.8 (CUDA C++ Programming Guide, "Built-in
// atomic functions"): each has the strongest order and the widest scope here.
#pragma once

#include "atomics.h"

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

template <class T>
TESSERA_AT_CALL T __nv_atomic_load_n(const T* address, int /*order*/,
                                     int /*scope*/ = __NV_THREAD_SCOPE_SYSTEM) {
  return __atomic_load_n(address, __ATOMIC_SEQ_CST);
}
template <class T>
TESSERA_AT_CALL void __nv_atomic_store_n(T* address, std::type_identity_t<T> value, int /*order*/,
                                         int /*scope*/ = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
}
template <class T>
TESSERA_AT_CALL T __nv_atomic_exchange_n(T* address, std::type_identity_t<T> value, int /*order*/,
                                         int /*scope*/ = __NV_THREAD_SCOPE_SYSTEM) {
  return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);
}
template <class T>
TESSERA_AT_CALL bool __nv_atomic_compare_exchange_n(T* address, T* expected,
                                                    std::type_identity_t<T> desired, bool /*weak*/,
                                                    int /*success*/, int /*failure*/,
                                                    int /*scope*/ = __NV_THREAD_SCOPE_SYSTEM) {
  return __atomic_compare_exchange_n(address, expected, desired, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}
#define TESSERA_FETCH(name, function)                                                \
  template <class T>                                                                 \
  inline T __nv_atomic_fetch_##name(T* address, std::type_identity_t<T> value, int,  \
                                    int = __NV_THREAD_SCOPE_SYSTEM, TESSERA_PLACE) { \
    return function(address, value, place);                                          \
  }
TESSERA_FETCH(add, atomicAdd)
TESSERA_FETCH(sub, atomicSub)
TESSERA_FETCH(min, atomicMin)
TESSERA_FETCH(max, atomicMax)
TESSERA_FETCH(and, atomicAnd)
TESSERA_FETCH(or, atomicOr)
TESSERA_FETCH(xor, atomicXor)
#undef TESSERA_FETCH
