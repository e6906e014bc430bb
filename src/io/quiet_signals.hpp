// While an object lives, SIGXFSZ (file-size limit) and SIGPIPE (reader closed the pipe) raised by
// this thread's writes do not end the process. The write fails with EFBIG or EPIPE, and the
// destructor discards the pending signal.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <ctime>

namespace tessera::io {

class QuietSignals {
 public:
  QuietSignals() {
    sigemptyset(&quiet_);
    sigaddset(&quiet_, SIGXFSZ);
    sigaddset(&quiet_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    // A signal that was pending before belongs to the caller.
    if (sigismember(&pending, SIGXFSZ) == 1) sigdelset(&quiet_, SIGXFSZ);
    if (sigismember(&pending, SIGPIPE) == 1) sigdelset(&quiet_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &quiet_, &before_);
  }
  ~QuietSignals() {
    const int saved = errno;
    const timespec now{};
    while (sigtimedwait(&quiet_, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = saved;
  }
  QuietSignals(const QuietSignals&) = delete;
  QuietSignals& operator=(const QuietSignals&) = delete;

 private:
  sigset_t quiet_, before_;
};

}  // namespace tessera::io
