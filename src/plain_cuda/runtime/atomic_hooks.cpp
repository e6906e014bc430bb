// The functions that the compiler calls for the standard library's atomic operations in the
// program's own files (-fsanitize=thread): on the host, and in kernels by cuda::std.
#include <atomic>
#include <cstring>

#include "context.hpp"
#include "tessera/plain_cuda/parts/atomics.h"
#include "tessera/plain_cuda/parts/thread.h"

namespace tessera::plain_cuda {

namespace {

Place place_of_call(const void* pc) {
  if (current == nullptr) return {};
  const Here& here = here_of_call(pc);
  return {here.file, here.line, here.column};
}

/// Stores change(old) and returns old. The order is always the strongest.
template <class T, class Change>
T change(volatile void* at, const void* pc, Change&& next) {
  const Place place = place_of_call(pc);
  void* const address = const_cast<void*>(at);
  if (current != nullptr && !begin_update(address, sizeof(T), place, uses_value<T>(next)))
    return T{};
  T* const word = static_cast<T*>(address);
  T old = *static_cast<volatile T*>(word);
  while (!__sync_bool_compare_and_swap(word, old, next(old))) old = *static_cast<volatile T*>(word);
  end_update(address, static_cast<std::uint64_t>(old), next(old) != old, place);
  return old;
}

template <class T>
T load(const volatile void* at, const void* pc) {
  return poll(static_cast<const T*>(const_cast<const void*>(at)), place_of_call(pc));
}

template <class T>
int exchange_if(volatile void* at, void* expected, T desired, const void* pc) {
  T wanted;
  std::memcpy(&wanted, expected, sizeof wanted);
  test_guess(const_cast<const void*>(at));
  const T old = change<T>(at, pc, [=](T was) { return was == wanted ? desired : was; });
  std::memcpy(expected, &old, sizeof old);
  return old == wanted ? 1 : 0;
}

}  // namespace

}  // namespace tessera::plain_cuda

#define TESSERA_PC __builtin_return_address(0)
#define TESSERA_CHANGE(bits, T, name, next)                                             \
  T tessera_##name##bits(volatile void* at, T value,                                    \
                         int) __asm__("__tsan_atomic" #bits "_" #name);                 \
  T tessera_##name##bits(volatile void* at, T value, int) {                             \
    return tessera::plain_cuda::change<T>(at, TESSERA_PC,                               \
                                          [=](T old) { return static_cast<T>(next); }); \
  }
#define TESSERA_EXCHANGE_IF(bits, T, name)                                                 \
  int tessera_##name##bits(volatile void* at, void* expected, T desired, int,              \
                           int) __asm__("__tsan_atomic" #bits "_compare_exchange_" #name); \
  int tessera_##name##bits(volatile void* at, void* expected, T desired, int, int) {       \
    return tessera::plain_cuda::exchange_if<T>(at, expected, desired, TESSERA_PC);         \
  }
#define TESSERA_ATOMICS(bits, T)                                                             \
  T tessera_load##bits(const volatile void* at, int) __asm__("__tsan_atomic" #bits "_load"); \
  T tessera_load##bits(const volatile void* at, int) {                                       \
    return tessera::plain_cuda::load<T>(at, TESSERA_PC);                                     \
  }                                                                                          \
  void tessera_store##bits(volatile void* at, T value,                                       \
                           int) __asm__("__tsan_atomic" #bits "_store");                     \
  void tessera_store##bits(volatile void* at, T value, int) {                                \
    tessera::plain_cuda::change<T>(at, TESSERA_PC, [=](T) { return value; });                \
  }                                                                                          \
  TESSERA_CHANGE(bits, T, exchange, (static_cast<void>(old), value))                         \
  TESSERA_CHANGE(bits, T, fetch_add, old + value)                                            \
  TESSERA_CHANGE(bits, T, fetch_sub, old - value)                                            \
  TESSERA_CHANGE(bits, T, fetch_and, old& value)                                             \
  TESSERA_CHANGE(bits, T, fetch_or, old | value)                                             \
  TESSERA_CHANGE(bits, T, fetch_xor, old ^ value)                                            \
  TESSERA_CHANGE(bits, T, fetch_nand, ~(old & value))                                        \
  TESSERA_EXCHANGE_IF(bits, T, strong)                                                       \
  TESSERA_EXCHANGE_IF(bits, T, weak)

extern "C" {
TESSERA_ATOMICS(8, std::uint8_t)
TESSERA_ATOMICS(16, std::uint16_t)
TESSERA_ATOMICS(32, std::uint32_t)
TESSERA_ATOMICS(64, std::uint64_t)
void __tsan_atomic_thread_fence(int) {
  tessera::plain_cuda::fence(tessera::plain_cuda::Fence::system,
                             tessera::plain_cuda::place_of_call(TESSERA_PC));
}
void __tsan_atomic_signal_fence(int) { std::atomic_signal_fence(std::memory_order_seq_cst); }
}
