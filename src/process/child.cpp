// Questions and answers over a socket pair, each preceded by its length: see child.hpp.
#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>

#include "clock.hpp"
#include "signals.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::process {

namespace {

/// The longest delay before a signal is noticed.
constexpr double kLookAroundMs = 100;

bool send_all(int socket, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool send_message(int socket, char kind, const std::string& text) {
  const std::uint64_t size = text.size();
  std::string message(1, kind);
  message.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
  return send_all(socket, message.data(), message.size());
}

bool receive_message(int socket, char& kind, std::string& text) {
  std::uint64_t size = 0;
  if (!receive_all(socket, &kind, 1) || !receive_all(socket, &size, sizeof size)) return false;
  text.resize(size);
  return receive_all(socket, text.data(), text.size());
}

/// Kinds of answers: 'a' an answer, otherwise an error of category kind - '0'.
/// If no answer can be built, for lack of memory, the process ends; the parent notices and reports
/// it.
[[noreturn]] void serve(int socket, const std::function<Child::Answer()>& start) noexcept {
  std::set_terminate([] { _exit(1); });
  Child::Answer answer;
  for (char kind = 0;;) {
    std::string text;
    if (!receive_message(socket, kind, text)) _exit(0);
    try {
      if (!answer) answer = start();
      text = answer(text);
      kind = 'a';
    } catch (const Error& error) {
      text = error.what();
      kind = static_cast<char>('0' + static_cast<int>(error.category()));
    } catch (const std::bad_alloc&) {
      text = "not enough memory";
      kind = static_cast<char>('0' + static_cast<int>(Category::resource));
    } catch (const std::exception& error) {
      text = error.what();
      kind = static_cast<char>('0' + static_cast<int>(Category::failed));
    }
    if (!send_message(socket, kind, text)) _exit(0);
  }
}

void become_quiet(Child::Talk talk) {
  // Ctrl-C and Ctrl-\\ reach the whole group: the parent decides, and ends its children.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  for (int number : {SIGTERM, SIGHUP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    if (std::signal(number, SIG_DFL) == SIG_IGN) std::signal(number, SIG_IGN);  // nohup
  }
  const int null = open("/dev/null", O_RDWR);
  if (null >= 0) {
    dup2(null, 0);
    dup2(null, 1);
    if (talk == Child::Talk::silent) dup2(null, 2);
    if (null > 2) close(null);
  }
}

}  // namespace

Child::Child(std::function<Answer()> start, Talk talk) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    throw Error(Category::resource, cat("cannot start a process: ", std::strerror(errno)));
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) {
    const int reason = errno;
    close(pair[0]);
    close(pair[1]);
    throw Error(Category::resource, cat("cannot start a process: ", std::strerror(reason)));
  }
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);  // the parent ended before the line above
    close(pair[0]);
    become_quiet(talk);
    serve(pair[1], start);
  }
  close(pair[1]);
  socket_ = pair[0];
}

Child::~Child() { end(); }

void Child::end() noexcept {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (socket_ >= 0) close(socket_);
  pid_ = -1;
  socket_ = -1;
}

void Child::give_up(const std::string& reason) {
  gone_ = reason;
  end();
  throw Error(Category::failed, gone_);
}

void Child::await_answer(double seconds) {
  const auto start = Clock::now();
  for (;;) {
    try {
      throw_if_interrupted();
    } catch (const Interrupted&) {  // a late answer would be taken for the next question's
      gone_ = "interrupted";
      end();
      throw;
    }
    const double left = seconds > 0 ? seconds - seconds_since(start) : 1;
    if (left <= 0) give_up(cat("no answer after ", seconds, " s"));
    pollfd ready{socket_, POLLIN, 0};
    // A signal between the check above and poll() is noticed in the next iteration.
    const int polled = poll(&ready, 1, static_cast<int>(std::min(kLookAroundMs, left * 1e3 + 1)));
    if (polled > 0 || (polled < 0 && errno != EINTR)) return;
  }
}

std::string Child::ask(const std::string& question, double seconds) {
  if (pid_ < 0) throw Error(Category::failed, gone_);
  kill(pid_, SIGCONT);
  char kind = 0;
  std::string text;
  bool good = send_message(socket_, 'q', question);
  if (good) await_answer(seconds);
  good = good && receive_message(socket_, kind, text);
  if (!good) {
    kill(pid_, SIGKILL);  // no effect if it has already ended
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
      give_up(cat("its process crashed: ", strsignal(WTERMSIG(status))));
    give_up("its process ended without answering");
  }
  kill(pid_, SIGSTOP);
  if (kind == 'a') return text;
  throw Error(static_cast<Category>(kind - '0'), text);
}

}  // namespace tessera::process
