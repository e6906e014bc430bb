// The signal handler and the terminate handler of FaultScope. They are installed while any block
// runs and act only for the OS thread whose FaultScope owns the fault; everything else goes to the
// previous handlers.
#include "fault_scope.hpp"

#include <pthread.h>
#include <ucontext.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <mutex>

namespace tessera::detail {

namespace {

constexpr std::size_t kAlternateBytes = 64 * 1024;

thread_local FaultHandler active;

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::mutex install_mutex;
int installed = 0;
struct sigaction previous_actions[std::size(kFaults)];
std::terminate_handler previous_terminate;

void pass_on(int signal, siginfo_t* info, void* where) {
  std::size_t which = 0;
  while (kFaults[which] != signal) ++which;
  const struct sigaction& previous = previous_actions[which];
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, where);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    sigaction(signal, &previous,
              nullptr);  // the instruction faults again, now with the default action
  }
}

void on_fault(int signal, siginfo_t* info, void* where) {
  if (active.owns == nullptr) return pass_on(signal, info, where);
  // A signal from another process is no fault: si_code is 0 or less, except for abort().
  const bool is_abort = signal == SIGABRT && info->si_code == SI_TKILL;
  if (info->si_code == SI_TKILL && signal == SIGSEGV) {
    const auto answer = active.interrupted(active.context);
    if (answer == FaultHandler::Answer::not_mine) pass_on(signal, info, where);
    if (answer != FaultHandler::Answer::abandon) return;
  } else if ((info->si_code <= 0 && !is_abort) ||
             !active.owns(active.context, signal, is_abort ? nullptr : info->si_addr)) {
    return pass_on(signal, info, where);
  }
  auto* frame = static_cast<ucontext_t*>(where);
  const auto top =
      reinterpret_cast<std::uintptr_t>(active.stack_top(active.context)) & ~std::uintptr_t{15};
  const auto landing = reinterpret_cast<std::uintptr_t>(active.landing);
  const auto argument = reinterpret_cast<std::uintptr_t>(active.context);
#if defined(__x86_64__)
  frame->uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(landing);
  frame->uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(top - 8);  // as after a call
  frame->uc_mcontext.gregs[REG_RDI] = static_cast<greg_t>(argument);
#elif defined(__aarch64__)
  frame->uc_mcontext.pc = landing;
  frame->uc_mcontext.sp = top;
  frame->uc_mcontext.regs[0] = argument;
#else
#error \
    "stack overflow reporting: name the program counter, stack pointer and first argument of this processor"
#endif
}

/// The C++ runtime calls this on the thread whose exception reached a noexcept function or a
/// destructor.
void on_terminate() {
  if (active.terminated != nullptr) active.terminated(active.context);
  if (previous_terminate != nullptr) previous_terminate();
  std::abort();
}

/// At the end of an OS thread.
void drop_alternate_stack(void* stack) {
  stack_t now{};
  sigaltstack(nullptr, &now);
  if (now.ss_sp == stack) {
    stack_t off{};
    off.ss_flags = SS_DISABLE;
    sigaltstack(&off, nullptr);
  }
  std::free(stack);
}

/// Gives the OS thread a stack for the handler, unless it has one. False without memory. (A key,
/// not a thread_local with a destructor: glibc ends the process where it has no memory to note
/// that.)
bool has_alternate_stack() {
  stack_t now{};
  sigaltstack(nullptr, &now);
  if ((now.ss_flags & SS_DISABLE) == 0) return true;
  static pthread_key_t key;
  static const bool have_key = pthread_key_create(&key, drop_alternate_stack) == 0;
  void* const stack = have_key ? std::malloc(kAlternateBytes) : nullptr;
  if (stack == nullptr) return false;
  stack_t own{};
  own.ss_sp = stack;
  own.ss_size = kAlternateBytes;
  if (pthread_setspecific(key, stack) == 0 && sigaltstack(&own, nullptr) == 0) return true;
  pthread_setspecific(key, nullptr);
  std::free(stack);
  return false;
}

/// The setup of an OS thread for faults on fibers, from its first kernel to its end: a signal stack
/// for the handler, and the signals unblocked (a blocked fault kills the process).
void make_thread_ready() {
  thread_local bool ready = false;
  if (ready) return;
  ready = has_alternate_stack();
  sigset_t faults;
  sigemptyset(&faults);
  for (const int each : kFaults) sigaddset(&faults, each);
  pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
}

}  // namespace

bool faults_are_taken() { return active.owns != nullptr; }

FaultScope::FaultScope(const FaultHandler& handler) : outer_(active) {
  active = handler;
  make_thread_ready();
  const std::lock_guard lock(install_mutex);
  if (installed++ == 0) {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < std::size(kFaults); ++i)
      sigaction(kFaults[i], &action, &previous_actions[i]);
    previous_terminate = std::set_terminate(on_terminate);
  }
}

FaultScope::~FaultScope() {
  {
    const std::lock_guard lock(install_mutex);
    if (--installed == 0) {
      for (std::size_t i = 0; i < std::size(kFaults); ++i)
        sigaction(kFaults[i], &previous_actions[i], nullptr);
      if (std::get_terminate() == on_terminate) std::set_terminate(previous_terminate);
    }
  }
  active = outer_;
}

}  // namespace tessera::detail
