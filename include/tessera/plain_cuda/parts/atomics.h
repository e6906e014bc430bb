// CUDA's atomic functions (CUDA C++ Programming Guide, "Atomic Functions"): relaxed, each returns
// the value before. Those of the system are as those of the device.
#pragma once

#include <bit>
#include <type_traits>

#include "../vector_types.h"
#include "place.h"

namespace tessera::plain_cuda {

/// The thread is about to update `bytes` at `address` atomically; false: it must not.
/// `uses_value`: what is stored depends on the value before.
bool begin_update(void* address, std::size_t bytes, Place place, bool uses_value = false);
/// The same for an atomic load; end_update() follows it.
bool begin_poll(const void* address, std::size_t bytes, Place place);
/// Other blocks are beyond the scope of the atomic at this place.
void of_block(Place place);
/// The update is done: it read these bits; `changed`: and stored others.
void end_update(const void* address, std::uint64_t bits, bool changed, Place place);
/// A compare-and-swap follows, which stores only if the value is still the one that was read.
void test_guess(const void* address);

template <class T>
struct Word {
  using type = std::conditional_t<
      sizeof(T) == 1, std::uint8_t,
      std::conditional_t<sizeof(T) == 2, std::uint16_t,
                         std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                            std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                                               unsigned __int128>>>>;
};

/// The update or load at this place of the code may show in which order threads come: the command
/// looks for such places in the assembly (src/plain_cuda/assembly.hpp).
#define TESSERA_KEEPS_ORDER asm volatile("# tessera_keeps_order")

/// Does after(old) depend on `old`? Told from three values: minima and maxima keep some.
template <class W, class After>
constexpr bool uses_value(const After& after) {
  return after(W{0}) != after(static_cast<W>(0x7fff7fff7fff7fff)) ||
         after(W{0}) != after(static_cast<W>(~W{0}));
}

/// change(old) is stored, which commutes with all other updates; returns old, which nobody uses.
template <class T, class Change>
TESSERA_UNSEEN T update_in_any_order(T* at, Place place, Change change) {
  using W = typename Word<T>::type;
  static_assert(sizeof(T) == sizeof(W), "CUDA has atomics of 1, 2, 4, 8 and 16 bytes");
  const auto after = [&](W value) { return std::bit_cast<W>(change(std::bit_cast<T>(value))); };
  if (!begin_update(at, sizeof(T), place, uses_value<W>(after))) return T{};
  W* const word = reinterpret_cast<W*>(at);
  W found = *word;
  T old, next;
  do {
    old = std::bit_cast<T>(found);
    next = change(old);
  } while (!__sync_bool_compare_and_swap(word, found, std::bit_cast<W>(next)) &&
           ((found = *word), true));
  const bool changed = std::bit_cast<W>(next) != found;
  end_update(at, static_cast<std::uint64_t>(found), changed, place);
  return old;
}

/// change(old) is stored; returns old.
template <class T, class Change>
TESSERA_UNSEEN T update(T* at, Place place, Change change) {
  TESSERA_KEEPS_ORDER;
  return update_in_any_order(at, place, change);
}

/// The last argument of an update whose result nobody uses.
struct Unused {
  Place place;
};

template <class T>
TESSERA_UNSEEN T poll(const T* at, Place place) {
  TESSERA_KEEPS_ORDER;
  using W = typename Word<T>::type;
  if (!begin_poll(at, sizeof(T), place)) return T{};
  const W found = *reinterpret_cast<const volatile W*>(at);
  end_update(at, static_cast<std::uint64_t>(found), false, place);
  return std::bit_cast<T>(found);
}

}  // namespace tessera::plain_cuda

#define TESSERA_ATOMIC_1(name, T, expression, scope)                                              \
  inline T name(T* address, T value, TESSERA_PLACE) {                                             \
    scope;                                                                                        \
    return tessera::plain_cuda::update(                                                           \
        address, place, [=]([[maybe_unused]] T old) -> T { return static_cast<T>(expression); }); \
  }
#define TESSERA_OF_BLOCK tessera::plain_cuda::of_block(place)
#define TESSERA_ATOMIC(name, T, expression)                       \
  TESSERA_ATOMIC_1(name, T, expression, )                         \
  TESSERA_ATOMIC_1(name##_block, T, expression, TESSERA_OF_BLOCK) \
  TESSERA_ATOMIC_1(name##_system, T, expression, )
#define TESSERA_ATOMIC_INTS(name, expression)    \
  TESSERA_ATOMIC(name, int, expression)          \
  TESSERA_ATOMIC(name, unsigned int, expression) \
  TESSERA_ATOMIC(name, unsigned long long, expression)
TESSERA_ATOMIC_INTS(atomicAdd, old + value)
TESSERA_ATOMIC(atomicAdd, float, old + value)
TESSERA_ATOMIC(atomicAdd, double, old + value)
TESSERA_ATOMIC(atomicAdd, float2, (float2{old.x + value.x, old.y + value.y}))
TESSERA_ATOMIC(atomicAdd, float4,
               (float4{old.x + value.x, old.y + value.y, old.z + value.z, old.w + value.w}))
TESSERA_ATOMIC(atomicSub, int, old - value)
TESSERA_ATOMIC(atomicSub, unsigned int, old - value)
TESSERA_ATOMIC_INTS(atomicExch, value)
TESSERA_ATOMIC(atomicExch, float, value)
TESSERA_ATOMIC_INTS(atomicMin, value < old ? value : old)
TESSERA_ATOMIC(atomicMin, long long, value < old ? value : old)
TESSERA_ATOMIC_INTS(atomicMax, old < value ? value : old)
TESSERA_ATOMIC(atomicMax, long long, old < value ? value : old)
TESSERA_ATOMIC_INTS(atomicAnd, old& value)
TESSERA_ATOMIC_INTS(atomicOr, old | value)
TESSERA_ATOMIC_INTS(atomicXor, old ^ value)
TESSERA_ATOMIC(atomicInc, unsigned int, old >= value ? 0 : old + 1)
TESSERA_ATOMIC(atomicDec, unsigned int, old == 0 || old > value ? value : old - 1)
#undef TESSERA_ATOMIC_INTS
#undef TESSERA_ATOMIC
#undef TESSERA_ATOMIC_1

/// Updates that commute, where T is an integer: CUDA's name, libcu++'s, the new value.
#define TESSERA_EACH_COMMUTING(EACH)              \
  EACH(atomicAdd, add, old + value)               \
  EACH(atomicSub, sub, old - value)               \
  EACH(atomicMin, min, value < old ? value : old) \
  EACH(atomicMax, max, old < value ? value : old) \
  EACH(atomicAnd, and, old& value)                \
  EACH(atomicOr, or, old | value)                 \
  EACH(atomicXor, xor, old ^ value)

#define TESSERA_COMMUTES(name, ignored, expression)                                       \
  template <class T, class V>                                                             \
  inline void name(T* address, V given, tessera::plain_cuda::Unused unused) {             \
    if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) {                              \
      const T value = static_cast<T>(given);                                              \
      tessera::plain_cuda::update_in_any_order(                                           \
          address, unused.place, [=](T old) -> T { return static_cast<T>(expression); }); \
    } else {                                                                              \
      name(address, given, unused.place);                                                 \
    }                                                                                     \
  }
TESSERA_EACH_COMMUTING(TESSERA_COMMUTES)
#undef TESSERA_COMMUTES

#define TESSERA_COMPARE_1(name, T, scope)                                             \
  inline T name(T* address, T expected, T desired, TESSERA_PLACE) {                   \
    scope;                                                                            \
    tessera::plain_cuda::test_guess(address);                                         \
    return tessera::plain_cuda::update(                                               \
        address, place, [=](T old) -> T { return old == expected ? desired : old; }); \
  }
#define TESSERA_COMPARE(T)                                \
  TESSERA_COMPARE_1(atomicCAS, T, )                       \
  TESSERA_COMPARE_1(atomicCAS_block, T, TESSERA_OF_BLOCK) \
  TESSERA_COMPARE_1(atomicCAS_system, T, )
TESSERA_COMPARE(int)
TESSERA_COMPARE(unsigned int)
TESSERA_COMPARE(unsigned long long)
TESSERA_COMPARE(unsigned short)
#undef TESSERA_COMPARE
#undef TESSERA_COMPARE_1
#undef TESSERA_OF_BLOCK
