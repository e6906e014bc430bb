// One stack and the switch between stacks: Boost.Context's assembly behind our own five functions,
// with the annotations that the address and thread sanitizers need. Private to src/simt.
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

/// A memory region of fiber stacks, each with an inaccessible page below it. Pages are touched only
/// when used.
class StackArena {
 public:
  static constexpr std::size_t kStackBytes = 64 * 1024;

  /// Throws Error(resource) when the system gives no address space.
  explicit StackArena(int count);
  ~StackArena();
  StackArena(const StackArena&) = delete;
  StackArena& operator=(const StackArena&) = delete;

  /// First usable byte of stack i.
  std::byte* low(int i) const { return base_ + static_cast<std::size_t>(i) * stride_ + page_; }
  int count() const { return count_; }
  /// Which stack's guard page holds this address, or -1.
  int guard_of(const void* address) const;

 private:
  int count_;
  std::size_t page_, stride_, bytes_;
  std::byte* base_;
};

struct Fiber {
  boost::context::detail::fcontext_t context = nullptr;
  Fiber* next = nullptr;  ///< who was switched to when this one stopped
  std::byte* stack_low = nullptr;
  std::size_t stack_bytes = 0;
  int thread = -1;  ///< the kernel thread that runs on it
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
/// What the sanitizers must be told around a switch; nothing in other builds.
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
