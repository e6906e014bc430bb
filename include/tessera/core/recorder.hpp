// What the threads of a kernel tell the checker, in files compiled with TESSERA_CHECK=1: each
// access to an element, each multiply-add, each step of asynchronous copies. A tensor's element is
// then no reference but a Recorded: it converts to its value, is assigned, and tells of both. Where
// no recorder listens nothing is told, and the same code runs as it would without the macro.
//
// Called by tensors, copies and the CPU thread's context; implemented in src/check.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tessera/core/here.hpp"

namespace tessera {

namespace detail {

/// Does this file tell a recorder?
constexpr bool kRecorded = TESSERA_CHECK != 0;

enum class Access : std::uint8_t { load, store, atomic, atomic_load };

/// What a place's atomics and fences are besides.
enum class Trait : std::uint8_t {
  of_block,    ///< other blocks are beyond their scope
  is_volatile  ///< a volatile access, which is a relaxed atomic
};

/// Why a shuffle's source gives no value.
enum class NoValue : std::uint8_t { not_there, not_in_mask, has_ended };

/// A tile of shared memory or registers: its shape and the position of its elements.
struct TileInfo {
  static constexpr int kMaxRank = 8;
  int rank;
  index_t extents[kMaxRank];
  std::size_t element_bytes, bytes;
  /// The coordinates of the element at a distance of `offset` elements from the first.
  bool (*locate)(index_t offset, index_t* coordinates);
};

/// `here` is passed by value, and no call has more arguments than there are registers: a place that
/// was just written in parts and is read as a whole costs more than all else that an access does.
class Recorder {
 public:
  /// A thread accesses `bytes` at `address`. False: it must not be done. `unwritten`: what the
  /// kernel's compiler fills variables without a value with, as this type has it; `bits`: the
  /// value.
  virtual bool load(const void* address, std::size_t bytes, std::uint64_t unwritten, Here here) = 0;
  virtual bool store(const void* address, std::size_t bytes, std::uint64_t bits, Here here) = 0;
  /// An atomic update.
  virtual bool update(const void* address, std::size_t bytes, Here here) = 0;
  /// An atomic load.
  virtual bool poll(const void* address, std::size_t bytes, Here here) = 0;
  /// A memory fence of the running thread.
  virtual void fence(Here here) = 0;
  /// The running thread has met others of its block at a barrier of some of them.
  virtual void follow(Here here) = 0;
  /// It is about to update an atomic, and has read it: nothing to do before somebody fences.
  void before_atomic(const void* address, Here here) {
    if (fences_->load(std::memory_order_relaxed)) releases(address, here);
  }
  void after_atomic(const void* address, Here here) {
    if (fences_->load(std::memory_order_relaxed)) acquires(address, here);
  }
  /// The next access at `here` names an element that its view does not have. `view`: where the
  /// view's first element is; null: nobody knows.
  virtual void outside(const void* view, const index_t* position, int count,
                       const index_t* existing, int rank, Here here) = 0;
  /// The next accesses there belong to this tile of shared storage; of others nothing is told.
  void tile(const void* base, const TileInfo& info) {
    if (is_shared(base)) shared_tile(reinterpret_cast<std::uint64_t>(base) - shared_begin_, info);
  }
  bool is_shared(const void* address) const {
    return reinterpret_cast<std::uint64_t>(address) - shared_begin_ < shared_bytes_;
  }
  /// acc + a * b; `has_value`: acc does not look like a variable that was never given one.
  virtual void multiply_add(bool has_value, Here here) = 0;
  /// A lane's share of a matrix instruction's operations.
  virtual void matrix_flops(std::int64_t flops, Here here) = 0;
  /// A lane uses a fragment of a matrix that has a register without a value.
  virtual void empty_fragment(Here here) = 0;
  /// A lane asks for the value of one that its warp, which has this many, does not have.
  virtual void missing_lane(int source, int lanes, Here here) = 0;
  /// Until the end, accesses are those of an asynchronous copy.
  virtual void async_copies(bool begin) = 0;
  virtual void commit(Here here) = 0;
  /// At most `pending` of the newest groups are still in flight.
  virtual void wait(int pending, Here here) = 0;
  /// The running thread ends here, since an access cannot be done.
  virtual void leaves() = 0;
  /// The thread enters this superstep.
  virtual void superstep(const char* name, Here here) = 0;

 protected:
  ~Recorder() = default;
  virtual void shared_tile(std::uint64_t offset, const TileInfo& info) = 0;
  virtual void releases(const void* address, Here here) = 0;
  virtual void acquires(const void* address, Here here) = 0;
  const std::atomic<bool>* fences_ = nullptr;          ///< has any thread of the launch fenced?
  std::uint64_t shared_begin_ = 0, shared_bytes_ = 0;  ///< of the block at hand

 public:
  /// Before the first access or fence of this place.
  virtual void mark(Here here, Trait trait) = 0;
  /// A lane has asked one for a value, which has none for it, in plain CUDA.
  virtual void no_value(int source, NoValue why, Here here) = 0;
};

#if !defined(__CUDACC__)
/// Who listens to the kernels on this OS thread; null: nobody.
extern constinit thread_local Recorder* recorder;
#endif

/// May its bytes be moved in place of the value? Tiles may (tensor/storage.hpp).
template <class T>
inline constexpr bool kIsPlain = std::is_trivially_copyable_v<T>;

/// The first eight bytes of a value, or a mixture of all.
template <class T>
TESSERA_HD std::uint64_t bits_of(const T& value) {
  std::uint64_t bits = 0;
  const auto* from = reinterpret_cast<const unsigned char*>(&value);
  for (std::size_t i = 0; i < sizeof(T); i += sizeof bits) {
    std::uint64_t part = 0;
    std::memcpy(&part, from + i, sizeof(T) - i < sizeof part ? sizeof(T) - i : sizeof part);
    bits = bits * 0x9e3779b97f4a7c15u + part;
  }
  return bits;
}

template <class T>
struct ElementOf {
  using type = T;
};
template <class T>
requires requires { typename T::element; }
struct ElementOf<T> {
  using type = typename T::element;
};

/// The first eight bytes of a T that -ftrivial-auto-var-init=pattern has filled, by the compiler of
/// this file: GCC fills with 0xfe, Clang floats with ones (a NaN) and all else with 0xaa.
template <class T>
constexpr std::uint64_t unwritten_bits() {
#if defined(__clang__)
  constexpr bool is_float = std::is_floating_point_v<typename ElementOf<T>::type>;
  constexpr std::uint64_t pattern = is_float ? ~std::uint64_t{0} : 0xaaaaaaaaaaaaaaaau;
#else
  constexpr std::uint64_t pattern = 0xfefefefefefefefeu;
#endif
  return sizeof(T) >= 8 ? pattern : pattern & ((std::uint64_t{1} << sizeof(T) % 8 * 8) - 1);
}

/// Tells of a load or an atomic update; false: it must not be done.
template <class T>
TESSERA_CHECKED_SYMBOL TESSERA_HD bool touch([[maybe_unused]] const T* at,
                                             [[maybe_unused]] Access access,
                                             [[maybe_unused]] Here here) {
#if TESSERA_CHECK
  if (recorder != nullptr)
    return access == Access::load ? recorder->load(at, sizeof(T), unwritten_bits<T>(), here)
           : access == Access::atomic_load ? recorder->poll(at, sizeof(T), here)
                                           : recorder->update(at, sizeof(T), here);
#endif
  return true;
}

/// Tells of a store of this value; false: it must not be done.
template <class T>
TESSERA_CHECKED_SYMBOL TESSERA_HD bool may_store([[maybe_unused]] const T* at,
                                                 [[maybe_unused]] const T& value,
                                                 [[maybe_unused]] Here here) {
#if TESSERA_CHECK
  if (recorder != nullptr) return recorder->store(at, sizeof(T), bits_of(value), here);
#endif
  return true;
}

/// While one lives, copies of this thread are asynchronous.
class TESSERA_CHECKED_SYMBOL AsyncCopies {
 public:
#if TESSERA_CHECK
  constexpr AsyncCopies() : recorder_(std::is_constant_evaluated() ? nullptr : recorder) {
    if (recorder_ != nullptr) recorder_->async_copies(true);
  }
  constexpr ~AsyncCopies() {
    if (recorder_ != nullptr) recorder_->async_copies(false);
  }
  AsyncCopies(const AsyncCopies&) = delete;
  AsyncCopies& operator=(const AsyncCopies&) = delete;

 private:
  Recorder* recorder_;
#endif
};

}  // namespace detail

/// An element whose reads and writes are told. It is used where it is made: `float x = s(i, j);`,
/// `s(i, j) += 1;`. `auto x = s(i, j);` keeps no value, and using that x does not compile.
template <class T>
class Recorded {
 public:
  using value_type = T;

  constexpr Recorded(T* at, Here here) : at_(at), here_(here) {}
  Recorded(const Recorded&) = delete;

  constexpr T load() const {
    if (!std::is_constant_evaluated() && !detail::touch(at_, detail::Access::load, here_))
      return T{};
    return *at_;
  }
  constexpr T store(const T& value) const {
    if (std::is_constant_evaluated() || detail::may_store(at_, value, here_)) *at_ = value;
    return value;
  }
  /// The element itself, for an atomic update.
  T& atomic() const {
    static thread_local T nowhere{};
    return detail::touch(at_, detail::Access::atomic, here_) ? *at_ : nowhere;
  }
  /// The same for an atomic load.
  T& polled() const {
    static thread_local T nowhere{};
    return detail::touch(at_, detail::Access::atomic_load, here_) ? *at_ : nowhere;
  }

  constexpr operator T() && { return load(); }
  template <class U>
  requires(std::is_class_v<T> && !std::is_same_v<T, U> && std::is_convertible_v<T, U>)  //
      constexpr
      operator U() && {
    return static_cast<U>(load());
  }
  constexpr T operator=(const T& value) && { return store(value); }
  constexpr T operator=(Recorded&& other) && { return store(other.load()); }
  template <class U>
  constexpr T operator=(Recorded<U>&& other) && {
    return store(other.load());
  }
  template <class U>
  constexpr T operator+=(const U& value) && {
    return store(static_cast<T>(wide<U>(load()) + wide<U>(value)));
  }
  template <class U>
  constexpr T operator-=(const U& value) && {
    return store(static_cast<T>(wide<U>(load()) - wide<U>(value)));
  }
  template <class U>
  constexpr T operator*=(const U& value) && {
    return store(static_cast<T>(wide<U>(load()) * wide<U>(value)));
  }
  template <class U>
  constexpr T operator/=(const U& value) && {
    return store(static_cast<T>(wide<U>(load()) / wide<U>(value)));
  }
  template <class U>
  constexpr T operator+=(Recorded<U>&& value) && {
    return std::move(*this) += value.load();
  }
  template <class U>
  constexpr T operator-=(Recorded<U>&& value) && {
    return std::move(*this) -= value.load();
  }
  template <class U>
  constexpr T operator*=(Recorded<U>&& value) && {
    return std::move(*this) *= value.load();
  }
  template <class U>
  constexpr T operator/=(Recorded<U>&& value) && {
    return std::move(*this) /= value.load();
  }
  constexpr T operator++() && { return store(static_cast<T>(load() + 1)); }
  constexpr T operator--() && { return store(static_cast<T>(load() - 1)); }
  constexpr T operator++(int) && {
    const T old = load();
    store(static_cast<T>(old + 1));
    return old;
  }
  constexpr T operator--(int) && {
    const T old = load();
    store(static_cast<T>(old - 1));
    return old;
  }

 private:
  /// Numbers of two types are combined as the language does it, which says nothing of rounding.
  template <class U, class X>
  static constexpr auto wide(const X& x) {
    if constexpr (std::is_arithmetic_v<T> && std::is_arithmetic_v<U>)
      return static_cast<std::common_type_t<T, U>>(x);
    else return x;
  }

  T* at_;
  Here here_;
};

template <class T>
inline constexpr bool kIsRecorded = false;
template <class T>
inline constexpr bool kIsRecorded<Recorded<T>> = true;

namespace detail {

/// The value of an element that is recorded; anything else as it is.
template <class X>
TESSERA_HD constexpr decltype(auto) plain(X&& x) {
  if constexpr (kIsRecorded<std::remove_cvref_t<X>>) return x.load();
  else return static_cast<X&&>(x);
}

}  // namespace detail

}  // namespace tessera
