// Switches threads from a signal handler: see interrupts.hpp.
#include "interrupts.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <utility>

#include "context.hpp"
#include "crash.hpp"
#include "meeting.hpp"

/// The ends of the program's own code, between which its files are linked; null in tests.
extern "C" [[gnu::weak]] const char tessera_code_begin, tessera_code_end;

namespace tessera::plain_cuda {

namespace {

constexpr long kInterval = 1'000'000;  // ns of CPU time

/// The thread of a block that ran at the latest interrupts, their number, and how many it may have:
/// fewer where threads wait often.
constinit thread_local const ThreadContext* interrupted = nullptr;
constinit thread_local int interrupts = 0, patience = 8;

bool is_own_code(std::uintptr_t place) {
  return place >= reinterpret_cast<std::uintptr_t>(&tessera_code_begin) &&
         place < reinterpret_cast<std::uintptr_t>(&tessera_code_end);
}

/// A thread that has run for long gives way: it may wait for another.
void interrupt(int, siginfo_t*, void* state) {
  ThreadContext* const mine = current;
  if (mine == nullptr || !is_own_code(counter_of(state))) return;
  if (std::exchange(interrupted, mine) != mine) interrupts = 0;
  if (++interrupts <= patience) return;
  interrupted = nullptr;
  patience = std::max(patience / 2, 1);
  const int error = errno;
  {
    const LetOthersRun others(*mine);
    mine->block.scheduler.give_way(mine->linear, {});
  }
  errno = error;
}

class Timer {
 public:
  Timer() {
    static const bool is_handled = handle();
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGRTMIN + 5;
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    if (!is_handled || timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0) return;
    is_created_ = true;
    const itimerspec each{{0, kInterval}, {0, kInterval}};
    timer_settime(timer_, 0, &each, nullptr);
  }
  ~Timer() {
    if (is_created_) timer_delete(timer_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  static bool handle() {
    struct sigaction action {};
    action.sa_sigaction = interrupt;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
    return sigaction(SIGRTMIN + 5, &action, nullptr) == 0;
  }

  timer_t timer_{};
  bool is_created_ = false;
};

}  // namespace

void interrupt_kernels() { thread_local const Timer timer; }

}  // namespace tessera::plain_cuda
