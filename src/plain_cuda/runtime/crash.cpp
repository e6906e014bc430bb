// Signals that would end the process: see crash.hpp.
#include "crash.hpp"

#include <execinfo.h>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <string_view>

#include "context.hpp"
#include "debug_info.hpp"
#include "dwarf.hpp"

namespace tessera::plain_cuda {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
/// If the report is late by then, its thread may wait for a lock that the crashed thread holds.
constexpr unsigned kPatience = 30;

struct Taken {
  Crash crash;
  std::array<void*, 64> frames;
  int count = 0;
};
Taken taken;
std::atomic<bool> is_taken{false}, is_told{false};
pthread_t reporter;
pid_t process;

void on_late(int) {
  std::signal(taken.crash.signal, SIG_DFL);
  kill(process, taken.crash.signal);
}

void on_crash(int signal, siginfo_t* info, void* context) {
  if (getpid() != process || pthread_equal(pthread_self(), reporter) != 0) {
    std::signal(signal, SIG_DFL);
    if (info->si_code <= 0) raise(signal);  // others recur by themselves
    return;
  }
  if (!is_taken.exchange(true)) {
    taken.crash.signal = signal;
    taken.crash.is_access = (signal == SIGSEGV || signal == SIGBUS) && info->si_code > 0;
    if (taken.crash.is_access) taken.crash.address = reinterpret_cast<std::uint64_t>(info->si_addr);
    taken.crash.in_kernel = current != nullptr;
    taken.frames[0] = reinterpret_cast<void*>(counter_of(context) + 1);
    taken.count = 1 + backtrace(taken.frames.data() + 1, static_cast<int>(taken.frames.size()) - 1);
    std::signal(SIGALRM, on_late);
    alarm(kPatience);
    is_told = true;
  }
  for (;;) pause();
}

}  // namespace

std::uintptr_t counter_of(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#else
  return static_cast<std::uintptr_t>(machine.pc);
#endif
}

void catch_crashes() {
  process = getpid();
  reporter = pthread_self();
  void* first[1];
  backtrace(first, 1);  // loads what later calls need
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int each : kSignals) sigaction(each, &action, nullptr);
}

void use_stack_for_crashes() {
  static std::array<char, std::size_t{64} << 10> memory;
  stack_t stack{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  sigaltstack(&stack, nullptr);
}

bool has_crashed() { return is_told; }

Crash crashed() {
  Crash out = taken.crash;
  for (int i = 0; i < taken.count && out.place.line == 0; ++i) {
    const Place place =
        place_of(reinterpret_cast<std::uintptr_t>(taken.frames[static_cast<std::size_t>(i)]) - 1);
    if (place.line > 0 && !is_of_system(place.file)) out.place = place;
  }
  return out;
}

}  // namespace tessera::plain_cuda
