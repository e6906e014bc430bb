// Conditions of a process: small stacks, failed allocations of stacks, signals.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <iterator>

namespace tessera::testing {

/// Threads of this process.
inline int count_threads() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                                        std::filesystem::directory_iterator()));
}

/// Runs body() on a thread with a stack of `bytes`.
template <class Body>
void on_stack_of(std::size_t bytes, const Body& body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  const auto entry = [](void* what) -> void* {
    (*static_cast<const Body*>(what))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, entry, const_cast<Body*>(&body)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

/// While it lives no thread can be started: each would get a stack larger than any memory.
class NoNewThreads {
 public:
  NoNewThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge = before_;
    pthread_attr_setstacksize(&huge, std::size_t{1} << 46);
    pthread_setattr_default_np(&huge);
  }
  ~NoNewThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoNewThreads(const NoNewThreads&) = delete;
  NoNewThreads& operator=(const NoNewThreads&) = delete;

 private:
  pthread_attr_t before_;
};

/// While it lives, a signal each millisecond.
class SignalStorm {
 public:
  SignalStorm() {
    struct sigaction action {};
    action.sa_handler = [](int) { count().fetch_add(1); };
    count() = 0;
    sigaction(SIGALRM, &action, &before_);
    const itimerval each_ms{{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &each_ms, nullptr);
  }
  ~SignalStorm() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }
  SignalStorm(const SignalStorm&) = delete;
  SignalStorm& operator=(const SignalStorm&) = delete;
  int handled() const { return count().load(); }

 private:
  static std::atomic<int>& count() {
    static std::atomic<int> value;
    return value;
  }
  struct sigaction before_ {};
};

}  // namespace tessera::testing
