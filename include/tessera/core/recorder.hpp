// The events that the threads of a kernel report to the checker, in files compiled with
// TESSERA_CHECK=1: each access to an element, each multiply-add, each step of asynchronous copies.
// Indexing a tensor then gives a Recorded instead of a reference; it reports its reads and
// assignments. Without a recorder nothing is reported, and the code behaves as without the macro.
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

/// Does this file report to a recorder?
constexpr bool kRecorded = TESSERA_CHECK != 0;

enum class Access : std::uint8_t { load, store, atomic, atomic_load };

/// Further properties of an atomic access or a fence.
enum class Trait : std::uint8_t {
  of_block,     ///< other blocks are beyond their scope
  is_volatile,  ///< a volatile access, which is a relaxed atomic
  uses_value    ///< an update whose result depends on the value before
};

/// Why the source lane of a shuffle provides no value.
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

/// `here` is passed by value, and no call has more arguments than fit in registers: passed in
/// memory, it is written in parts and read as a whole, and that store-forwarding stall costs more
/// than the rest of an access.
class Recorder {
 public:
  /// A thread accesses `bytes` at `address`. Returns false if the access must be skipped.
  /// `unwritten`: the pattern, in this type, that the kernel's compiler gives uninitialized
  /// variables.
  /// `bits`: the value of the access.
  virtual bool load(const void* address, std::size_t bytes, std::uint64_t unwritten, Here here) = 0;
  virtual bool store(const void* address, std::size_t bytes, std::uint64_t bits, Here here) = 0;
  /// An atomic update.
  virtual bool update(const void* address, std::size_t bytes, Here here) = 0;
  /// An atomic load.
  virtual bool poll(const void* address, std::size_t bytes, Here here) = 0;
  /// A memory fence of the running thread.
  virtual void fence(Here here) = 0;
  /// The running thread has passed a barrier of a part of its block.
  virtual void follow(Here here) = 0;
  /// The thread is about to update, or has read, an atomic. Free until some thread fences.
  void before_atomic(const void* address, Here here) {
    if (fences_->load(std::memory_order_relaxed)) releases(address, here);
  }
  void after_atomic(const void* address, Here here) {
    if (fences_->load(std::memory_order_relaxed)) acquires(address, here);
  }
  /// The next access at `here` is outside its view. `view`: the address of the view's first
  /// element; null if unknown.
  virtual void outside(const void* view, const index_t* position, int count,
                       const index_t* existing, int rank, Here here) = 0;
  /// The next accesses at `base` belong to this tile; only tiles of shared storage are reported.
  void tile(const void* base, const TileInfo& info) {
    if (is_shared(base)) shared_tile(reinterpret_cast<std::uint64_t>(base) - shared_begin_, info);
  }
  bool is_shared(const void* address) const {
    return reinterpret_cast<std::uint64_t>(address) - shared_begin_ < shared_bytes_;
  }
  /// acc + a * b; `has_value`: false if acc looks like an uninitialized variable.
  virtual void multiply_add(bool has_value, Here here) = 0;
  /// A lane's share of a matrix instruction's operations.
  virtual void matrix_flops(std::int64_t flops, Here here) = 0;
  /// A lane uses a matrix fragment that has an uninitialised register.
  virtual void empty_fragment(Here here) = 0;
  /// A lane shuffles from a lane outside its warp, which has this many lanes.
  virtual void missing_lane(int source, int lanes, Here here) = 0;
  /// Accesses between `true` and `false` are those of an asynchronous copy.
  virtual void async_copies(bool begin) = 0;
  virtual void commit(Here here) = 0;
  /// At most `pending` of the newest groups are still in flight.
  virtual void wait(int pending, Here here) = 0;
  /// The running thread ends here, because an access cannot be performed.
  virtual void leaves() = 0;
  /// The thread enters this superstep.
  virtual void superstep(const char* name, Here here) = 0;

 protected:
  ~Recorder() = default;
  virtual void shared_tile(std::uint64_t offset, const TileInfo& info) = 0;
  virtual void releases(const void* address, Here here) = 0;
  virtual void acquires(const void* address, Here here) = 0;
  const std::atomic<bool>* fences_ = nullptr;          ///< has any thread of the launch fenced?
  std::uint64_t shared_begin_ = 0, shared_bytes_ = 0;  ///< of the current block

 public:
  /// Called before the first access or fence at this source location.
  virtual void mark(Here here, Trait trait) = 0;
  /// In plain CUDA, a lane has shuffled from a lane that provides no value.
  virtual void no_value(int source, NoValue why, Here here) = 0;
};

#if !defined(__CUDACC__)
/// The recorder of the kernels that run on this OS thread; null if there is none.
extern constinit thread_local Recorder* recorder;
#endif

/// May a T be copied as bytes? A tile may (tensor/storage.hpp).
template <class T>
inline constexpr bool kIsPlain = std::is_trivially_copyable_v<T>;

/// The first eight bytes of a value; of a larger one, a hash of all.
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

/// Reports a load or an atomic update; false: it must be skipped.
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

/// Reports a store of this value; false: it must be skipped.
template <class T>
TESSERA_CHECKED_SYMBOL TESSERA_HD bool may_store([[maybe_unused]] const T* at,
                                                 [[maybe_unused]] const T& value,
                                                 [[maybe_unused]] Here here) {
#if TESSERA_CHECK
  if (recorder != nullptr) return recorder->store(at, sizeof(T), bits_of(value), here);
#endif
  return true;
}

/// While such an object exists, this thread's copies count as asynchronous.
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

/// An element whose reads and writes are reported. Use it at once: `float x = s(i, j);`, `s(i, j)
/// += 1;`. With `auto x = s(i, j);` x is no value, and using it does not compile.
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
  /// Operands of two types follow the usual arithmetic conversions; no order of rounding is
  /// implied.
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

/// The value of a recorded element; anything else is returned unchanged.
template <class X>
TESSERA_HD constexpr decltype(auto) plain(X&& x) {
  if constexpr (kIsRecorded<std::remove_cvref_t<X>>) return x.load();
  else return static_cast<X&&>(x);
}

}  // namespace detail

}  // namespace tessera
