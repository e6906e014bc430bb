// A forked child that must end in time: for what would spoil, or end, the process of the tests.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "tessera/core/text.hpp"

namespace tessera::testing {

/// Runs body() in a child; it returns "" or what went wrong. So does this; a child that a signal
/// ends, or that is not done in `seconds`, went wrong too.
template <class Body>
std::string in_child(int seconds, const Body& body) {
  int ends[2];
  if (pipe(ends) != 0) return "pipe failed";
  const pid_t child = fork();
  if (child < 0) return "fork failed";
  if (child == 0) {
    close(ends[0]);
    std::string wrong = body();
    if (::testing::Test::HasFailure() && wrong.empty()) wrong = "an expectation failed, see above";
    const auto written = write(ends[1], wrong.data(), wrong.size());
    _exit(written == static_cast<ssize_t>(wrong.size()) ? 0 : 1);
  }
  close(ends[1]);
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(seconds);
  std::string out;
  bool late = false;
  for (char buffer[512];;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd ready{ends[0], POLLIN, 0};
    late = left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) == 0;
    const ssize_t count = late ? 0 : read(ends[0], buffer, sizeof buffer);
    if (count <= 0) break;
    out.append(buffer, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  if (late) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (late) return cat("still running after ", seconds, " s");
  if (WIFSIGNALED(status)) return cat("ended by signal ", WTERMSIG(status));
  return out.empty() && WEXITSTATUS(status) != 0 ? "ended with failure" : out;
}

}  // namespace tessera::testing
