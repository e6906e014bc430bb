// One stack and the switch between stacks: Boost.Context's assembly, called by our own five
// functions, with the annotations that the address and thread sanitizers need. Private to src/simt.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define TESSERA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TESSERA_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TESSERA_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TESSERA_TSAN 1
#endif
#endif

namespace tessera::detail {

/// A memory region of fiber stacks with an inaccessible guard below each. Pages are touched only
/// when used.
class StackArena {
 public:
  /// As large as a GPU's local memory of one thread (CUDA C++ Programming Guide, "Technical
  /// Specifications per Compute Capability": 512 KB): no frame of a kernel that also runs there
  /// reaches past it into the next stack.
  static constexpr std::size_t kGuardBytes = 512 * 1024;
  /// Below the first stack, where every thread of a kernel without barriers runs.
  static constexpr std::size_t kFirstGuardBytes = 16 * 1024 * 1024;

  /// `stack_bytes` is rounded up to whole pages. Where the address space is too small for the
  /// guards, they are one page each. Throws Error(resource) where even that does not fit.
  StackArena(int count, std::size_t stack_bytes);
  ~StackArena();
  StackArena(const StackArena&) = delete;
  StackArena& operator=(const StackArena&) = delete;

  /// First usable byte of stack i.
  std::byte* low(int i) const {
    return base_ + first_guard_ + static_cast<std::size_t>(i) * (guard_ + stack_bytes_);
  }
  int count() const { return count_; }
  std::size_t stack_bytes() const { return stack_bytes_; }
  std::size_t wanted_bytes() const { return wanted_bytes_; }
  /// Is the address in the region? A fault there is a fault in one of the guards: the stacks
  /// themselves are accessible.
  bool contains(const void* address) const {
    const auto* byte = static_cast<const std::byte*>(address);
    return byte >= base_ && byte < base_ + bytes_;
  }

 private:
  bool map(std::size_t guard, std::size_t first_guard);

  int count_;
  std::size_t wanted_bytes_, stack_bytes_;
  std::size_t guard_ = 0, first_guard_ = 0, bytes_ = 0;
  std::byte* base_ = nullptr;
};

/// What the C++ runtime keeps for each OS thread (Itanium C++ ABI: Exception Handling, 2.2.2) and
/// each fiber needs for itself: the exceptions that are being handled and those in flight.
struct Exceptions {
  void* caught = nullptr;
  unsigned uncaught = 0;
  bool any() const { return caught != nullptr || uncaught != 0; }
};
/// Those of the calling OS thread, hence of the fiber that runs on it.
Exceptions& current_exceptions();
/// Ends the handling of all exceptions of the running fiber, whose handlers will not return.
void drop_caught_exceptions();

struct Fiber {
  boost::context::detail::fcontext_t context = nullptr;
  Fiber* next = nullptr;  ///< the fiber that ran next when this one stopped
  std::byte* stack_low = nullptr;
  std::size_t stack_bytes = 0;
  int thread = -1;        ///< the kernel thread that runs on it
  Exceptions exceptions;  ///< while it does not run
#if defined(TESSERA_TSAN)
  void* tsan = nullptr;
#endif
#if defined(TESSERA_ASAN)
  void* fake_stack = nullptr;
#endif
};

/// Describes the stack that the calling OS thread runs on, so that fibers can switch back to it.
void adopt_current_stack(Fiber& fiber);
/// Prepares `fiber` to call entry(argument) on its own stack, `colour` bytes below the top.
void prepare(Fiber& fiber, std::size_t colour, void (*entry)(void*), void* argument);
/// Annotations for the sanitizers around a switch; empty in other builds.
#if defined(TESSERA_ASAN) || defined(TESSERA_TSAN)
void before_switch(Fiber& from, Fiber& to, bool for_good);
void after_switch(Fiber& self);
#else
inline void before_switch(Fiber&, Fiber&, bool) {}
inline void after_switch(Fiber&) {}
#endif

/// Continues `to`; returns when somebody switches back to `from`.
inline void switch_fiber(Fiber& from, Fiber& to) {
  from.next = &to;
  before_switch(from, to, false);
  const auto transfer = boost::context::detail::jump_fcontext(to.context, &from);
  static_cast<Fiber*>(transfer.data)->context = transfer.fctx;
  after_switch(from);
}

/// Continues `to` and never returns to `from`, whose stack may be prepared again.
[[noreturn]] inline void leave_fiber(Fiber& from, Fiber& to) {
  from.next = &to;
  before_switch(from, to, true);
  boost::context::detail::jump_fcontext(to.context, &from);
  __builtin_unreachable();
}
void release(Fiber& fiber);

}  // namespace tessera::detail
