// Memory for the stacks of fibers, the first step onto a new stack, and its annotations for the
// sanitizers and the C++ runtime. The switch itself is in the header, for speed.
#include "fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

#if defined(TESSERA_ASAN)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(TESSERA_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace tessera::detail {

namespace context = boost::context::detail;

StackArena::StackArena(int count, std::size_t stack_bytes)
    : count_(count), wanted_bytes_(stack_bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  stack_bytes_ = (stack_bytes + page - 1) / page * page;
  if (!map(kGuardBytes, kFirstGuardBytes) && !map(page, page)) {
    throw Error(Category::resource,
                cat("cannot reserve ", bytes_, " bytes of stacks for the threads of a block"), {},
                {}, "raise the limit on address space (ulimit -v) or use fewer threads per block");
  }
  for (int i = 0; i < count; ++i) {
    if (mprotect(low(i), stack_bytes_, PROT_READ | PROT_WRITE) != 0) {
      munmap(base_, bytes_);
      throw Error(Category::resource, "cannot protect the stacks of a block's threads", {}, {},
                  "raise vm.max_map_count");
    }
  }
}

StackArena::~StackArena() {
#if defined(TESSERA_ASAN)
  // Frames that never returned leave the address sanitizer's poison in memory that is reused.
  for (int i = 0; i < count_; ++i) __asan_unpoison_memory_region(low(i), stack_bytes_);
#endif
  munmap(base_, bytes_);
}

bool StackArena::map(std::size_t guard, std::size_t first_guard) {
  // Stacks are an odd number of pages apart, so that their tops spread over all sets of the TLB.
  // Measured:
  // bench/results/cpu/tuning.md.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  guard_ = (stack_bytes_ + guard) / page % 2 == 0 ? guard + page : guard;
  first_guard_ = first_guard;
  bytes_ = first_guard + static_cast<std::size_t>(count_) * (stack_bytes_ + guard_);
  void* memory = mmap(nullptr, bytes_, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return false;
  base_ = static_cast<std::byte*>(memory);
  return true;
}

Exceptions& current_exceptions() {
  return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
}

void drop_caught_exceptions() {
  while (current_exceptions().caught != nullptr) abi::__cxa_end_catch();
}

namespace {

struct Start {
  void (*entry)(void*);
  void* argument;
};

void trampoline(context::transfer_t transfer) {
  auto* from = static_cast<Fiber*>(transfer.data);
  Fiber* self = from->next;
  const Start start = *reinterpret_cast<const Start*>(self->stack_low);
  from->context = transfer.fctx;
  after_switch(*self);
  start.entry(start.argument);
  std::abort();  // an entry ends with leave_fiber
}

}  // namespace

void adopt_current_stack([[maybe_unused]] Fiber& fiber) {
#if defined(TESSERA_ASAN)
  struct Bounds {
    void* low = nullptr;
    std::size_t bytes = 0;
    Bounds() {
      pthread_attr_t attributes;
      pthread_getattr_np(pthread_self(), &attributes);
      pthread_attr_getstack(&attributes, &low, &bytes);
      pthread_attr_destroy(&attributes);
    }
  };
  thread_local const Bounds bounds;
  fiber.stack_low = static_cast<std::byte*>(bounds.low);
  fiber.stack_bytes = bounds.bytes;
#endif
#if defined(TESSERA_TSAN)
  fiber.tsan = __tsan_get_current_fiber();
#endif
}

void prepare(Fiber& fiber, std::size_t colour, void (*entry)(void*), void* argument) {
  // The lowest bytes of the stack, the last a kernel would reach, hold the trampoline's arguments.
#if defined(TESSERA_ASAN)
  __asan_unpoison_memory_region(fiber.stack_low,
                                fiber.stack_bytes);  // left over from frames that never returned
  fiber.fake_stack = nullptr;
#endif
  *reinterpret_cast<Start*>(fiber.stack_low) = {entry, argument};
  fiber.exceptions = {};
  std::byte* top = fiber.stack_low + fiber.stack_bytes - colour;
  fiber.context = context::make_fcontext(top, fiber.stack_bytes - colour, trampoline);
#if defined(TESSERA_TSAN)
  if (fiber.tsan == nullptr) fiber.tsan = __tsan_create_fiber(0);
#endif
}

#if defined(TESSERA_ASAN) || defined(TESSERA_TSAN)
void before_switch([[maybe_unused]] Fiber& from, Fiber& to, [[maybe_unused]] bool for_good) {
#if defined(TESSERA_ASAN)
  __sanitizer_start_switch_fiber(for_good ? nullptr : &from.fake_stack, to.stack_low,
                                 to.stack_bytes);
#endif
#if defined(TESSERA_TSAN)
  __tsan_switch_to_fiber(to.tsan, 0);
#endif
}

void after_switch([[maybe_unused]] Fiber& self) {
#if defined(TESSERA_ASAN)
  __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
#endif
}
#endif

void release([[maybe_unused]] Fiber& fiber) {
#if defined(TESSERA_TSAN)
  if (fiber.tsan != nullptr) __tsan_destroy_fiber(fiber.tsan);
  fiber.tsan = nullptr;
#endif
}

}  // namespace tessera::detail
