// Spawns, waits, kills: see program.hpp.
#include "program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>

#include "clock.hpp"
#include "signals.hpp"
#include "tessera/core/text.hpp"

namespace tessera::process {

namespace {

/// Its own process group, so that the children of a compiler can be ended with it; and default
/// handlers for the signals that the command ignores.
void set_attributes(posix_spawnattr_t& attributes, const ProgramRun& run) {
  sigset_t ordinary;
  sigemptyset(&ordinary);
  for (const int each : {SIGINT, SIGPIPE, SIGXFSZ}) sigaddset(&ordinary, each);
  posix_spawnattr_setsigdefault(&attributes, &ordinary);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(
      &attributes,
      static_cast<short>(POSIX_SPAWN_SETSIGDEF | (run.owns_terminal ? 0 : POSIX_SPAWN_SETPGROUP)));
}

/// True if a variable of this name is among the given ones.
bool is_given(const std::vector<std::string>& given, std::string_view variable) {
  const auto name = variable.substr(0, variable.find('=') + 1);
  return std::any_of(given.begin(), given.end(),
                     [&](const auto& each) { return each.starts_with(name); });
}

/// Returns 0 if it cannot be started.
pid_t start(const ProgramRun& run) {
  std::vector<char*> words;
  for (const auto& word : run.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const bool together = run.stderr_file == run.stdout_file;
  if (!run.stderr_file.empty() && !together)
    posix_spawn_file_actions_addopen(&actions, 2, run.stderr_file.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (!run.stdout_file.empty())
    posix_spawn_file_actions_addopen(&actions, 1, run.stdout_file.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (!run.stdout_file.empty() && together) posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (run.stdout_file.empty() && run.prints_to_stderr)
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  if (!run.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, run.folder.c_str());
  std::vector<char*> variables;
  for (const auto& each : run.environment) variables.push_back(const_cast<char*>(each.c_str()));
  for (char** each = environ; *each != nullptr; ++each)
    if (!is_given(run.environment, *each)) variables.push_back(*each);
  variables.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  set_attributes(attributes, run);
  pid_t pid = 0;
  if (posix_spawnp(&pid, words[0], &actions, &attributes, words.data(), variables.data()) != 0)
    pid = 0;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// A compiler removes its temporaries at SIGTERM, not at SIGKILL.
void end_gently(pid_t pid) {
  kill(-pid, SIGTERM);
  for (int tries = 0; tries < 400 && waitpid(pid, nullptr, WNOHANG) != pid; ++tries) {
    if (tries == 200) kill(-pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(-pid, SIGKILL);
}

ProgramEnd end_of(int status, bool timed_out) {
  ProgramEnd out{.started = true, .timed_out = timed_out};
  if (WIFEXITED(status)) out.exit_code = WEXITSTATUS(status);
  else out.signal = WTERMSIG(status);
  return out;
}

}  // namespace

std::string ProgramEnd::text() const {
  if (exit_code >= 0) return cat("ended with exit code ", exit_code);
  return cat("was ended by signal ", signal, " (", strsignal(signal), ")");
}

ProgramEnd run_program(const ProgramRun& run) {
  const pid_t pid = start(run);
  if (pid == 0) return {};
  if (run.owns_terminal) {
    const auto before = std::signal(SIGINT, SIG_IGN);
    const int status = wait_for(pid);
    std::signal(SIGINT, before);
    return end_of(status, false);
  }
  const auto begin = Clock::now();
  bool timed_out = false;
  for (int status = 0;;) {
    if (waitpid(pid, &status, WNOHANG) == pid) {
      kill(-pid, SIGKILL);  // children that it started and left running
      return end_of(status, timed_out);
    }
    try {
      throw_if_interrupted();
    } catch (const Interrupted&) {
      end_gently(pid);
      throw;
    }
    if (!timed_out && run.seconds > 0 && seconds_since(begin) > run.seconds) {
      timed_out = true;
      kill(-pid, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace tessera::process
