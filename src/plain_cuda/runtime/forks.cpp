// Processes that the program forks: see forks.hpp.
#include "forks.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

namespace {

constexpr std::size_t kText = 256;
/// What a forked process wanted to do, in memory of all processes; null: nobody watches.
char* wanted = nullptr;
bool has_forked = false, is_child = false;

}  // namespace

void watch_forks() {
  void* const at = mmap(nullptr, kText, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return;
  wanted = static_cast<char*>(at);
  pthread_atfork(
      nullptr, [] { has_forked = true; }, [] { is_child = true; });
}

bool is_forked() { return is_child; }

void leave_forked(const std::string& what) {
  std::snprintf(wanted, kText, "%s", what.c_str());
  _exit(1);
}

std::string why_forks_matter() {
  if (!has_forked) return {};
  pid_t ended = 0;  // one that was about to end has a second to do so
  for (int tries = 0; tries < 100 && (ended = waitpid(-1, nullptr, WNOHANG)) >= 0;) {
    if (ended > 0) continue;
    ++tries;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const char* const advice = "only the first process is checked; use one process";
  if (*wanted != '\0') return cat("a process that the program forks ", wanted, ": ", advice);
  if (ended == 0) return cat("a process that the program forks outlives it: ", advice);
  return {};
}

}  // namespace tessera::plain_cuda
