// Workers begin on another core than their caller, without its signals.
#include "worker_thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <memory>
#include <new>

#include "cores.hpp"

// From sanitizer/lsan_interface.h; null without the leak sanitizer.
extern "C" {
[[gnu::weak]] void __lsan_disable();
[[gnu::weak]] void __lsan_enable();
}

namespace tessera {

namespace {

/// Keeps the shared object loaded while workers run its code, for a plugin that contains this
/// library and is closed with dlclose: the C library does not unload an object for which a thread
/// has a destructor pending (__cxa_thread_atexit_impl).
struct StaysLoaded {
  ~StaysLoaded() { asm volatile(""); }
};
thread_local StaysLoaded stays_loaded;
/// In a forked child, which lacks the thread, that record is lost: not a leak.
void keep_loaded() {
  if (__lsan_disable != nullptr) __lsan_disable();
  asm volatile("" ::"r"(&stays_loaded));
  if (__lsan_enable != nullptr) __lsan_enable();
}

/// The arguments of a new thread.
struct Start {
  void (*run)(void*);
  void* argument;
  cpu_set_t cores;  ///< its affinity mask; empty: unknown
};

void* run_thread(void* argument) {
  keep_loaded();
  const Start start = *std::unique_ptr<Start>(static_cast<Start*>(argument));  // run may not return
  if (CPU_COUNT(&start.cores) > 0) sched_setaffinity(0, sizeof start.cores, &start.cores);
  start.run(start.argument);
  return nullptr;
}

/// A blocked fault would end the process, whatever handler it has.
sigset_t signals_of_others() {
  sigset_t out;
  sigfillset(&out);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&out, own);
  return out;
}

/// Not on the current core: some Linux kernels start a thread there, and it would spin while its
/// caller does not run. Measured: bench/results/cpu/tuning.md.
bool create(Start& start) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const int here = sched_getcpu();
  if (here >= 0 && here < CPU_SETSIZE) {
    cpu_set_t others = start.cores;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) > 0) pthread_attr_setaffinity_np(&attributes, sizeof others, &others);
  }
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, run_thread, &start) == 0;
  pthread_attr_destroy(&attributes);
  if (started) return true;
  // On any core, where the restricted mask was refused.
  if (pthread_create(&thread, nullptr, run_thread, &start) != 0) return false;
  pthread_detach(thread);
  return true;
}

}  // namespace

bool start_thread(void (*run)(void* argument), void* argument) {
  std::unique_ptr<Start> start(new (std::nothrow) Start{run, argument, allowed_cores()});
  if (start == nullptr) return false;
  const sigset_t others = signals_of_others();
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &others, &before);
  const bool started = create(*start);
  if (started) {
    start.release();
    keep_loaded();  // the caller too, until the thread has done so
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace tessera
