// Handlers: see signals.hpp. Only async-signal-safe calls in here.
#include "signals.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "tessera/io/atomic_file.hpp"

namespace tessera::process {

namespace {

char signal_name[64] = "tessera";
std::atomic<bool> is_silent{false};
std::atomic<const char* (*)() noexcept> culprit{nullptr};

std::atomic<bool> noting{false};  // note signals instead of ending the process?
std::atomic<int> noted{0};        // the noted signal
std::atomic<std::int64_t> noted_at{0};
constexpr std::int64_t kSameMs = 200;  // timeout(1) sends each signal twice: that is one
std::atomic<bool> ending{false};       // drawing is over
std::atomic<int> drawing{0};           // the number of threads that draw now
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void say(const char* text) {
  if (is_silent) return;
  char line[256];
  std::size_t size = 0;
  for (const char* part : {static_cast<const char*>(signal_name), ": ", text, "\n"}) {
    for (; *part != '\0' && size < sizeof line; ++part) line[size++] = *part;
  }
  [[maybe_unused]] const auto written = write(2, line, size);
}

std::int64_t milliseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

void end_by_signal(int number) {
  if (noting && noted == 0) {
    noted_at = milliseconds_now();
    noted = number;
    return;
  }
  if (noting && noted == number && milliseconds_now() - noted_at < kSameMs) return;
  ending = true;
  remove_temporaries();
  const timespec moment{0, 1000000};
  for (int i = 0; drawing > 0 && i < 100; ++i) nanosleep(&moment, nullptr);
  if (isatty(2) == 1) {
    [[maybe_unused]] const auto written =
        write(2, "\r\033[K", 4);  // clears a progress bar and the terminal's ^C
  }
  say(number == SIGINT ? "interrupted" : "ended by a signal");
  _exit(128 + number);
}

/// Unless a foreign function crashed, the program itself did, or the user wants a core dump: the
/// signal keeps its effect.
void end_by_crash(int number) {
  remove_temporaries();
  const char* (*const ask)() noexcept = culprit;
  if (const char* const function = ask == nullptr ? nullptr : ask(); function != nullptr) {
    char text[128] = "a driver crashed in ";
    std::strncat(text, function, sizeof text - std::strlen(text) - 1);
    say(text);
    _exit(4);
  }
  signal(number, SIG_DFL);
  raise(number);
}

/// Handles a signal that would end the process. Signals that are ignored (nohup, background jobs of
/// shells) or handled (sanitizers, profilers) stay so.
void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action {};
  struct sigaction before {};
  if (sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  sigemptyset(&action.sa_mask);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, nullptr);
}

[[noreturn]] void end_by_terminate() {
  remove_temporaries();
  // Nothing may be allocated here, so the exception itself is not examined.
  const std::type_info* const type = abi::__cxa_current_exception_type();
  say(type != nullptr && *type == typeid(std::bad_alloc)
          ? "not enough memory"
          : "internal error: uncaught exception; please report it");
  _exit(1);
}

}  // namespace

void install_signal_handlers() {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1,
                     SIGUSR2, SIGXCPU, SIGIO, SIGPWR, SIGSTKFLT})
    handle(number, end_by_signal, 0);
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) handle(number, end_by_signal, 0);
  for (int number : {SIGSEGV, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS})
    handle(number, end_by_crash, SA_ONSTACK);
  // A write that would raise these reports EPIPE or EFBIG instead.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

void blame_for_crashes(const char* (*requested)() noexcept) {
  culprit = requested;
  signal(SIGABRT, end_by_crash);
}

void install_terminate_handler() { std::set_terminate(end_by_terminate); }

InterruptsAreNoted::InterruptsAreNoted() { noting = true; }

InterruptsAreNoted::~InterruptsAreNoted() { noting = false; }

Drawing::Drawing() : may_((++drawing, !ending)) {}

Drawing::~Drawing() { --drawing; }

void no_signals_here() {
  sigset_t all;
  sigemptyset(&all);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&all, number);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void throw_if_interrupted() {
  if (noted != 0) throw Interrupted(noted);
}

void set_signal_name(const std::string& command) {
  std::strncpy(signal_name, command.c_str(), sizeof signal_name - 1);
  guard_mapped_files(command + ": ");
}

void silence_signals() { is_silent = true; }

}  // namespace tessera::process
