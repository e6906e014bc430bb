// A forked process that answers questions. Foreign libraries and single kernels each run in one, so
// that a crash, a spinning thread pool or an environment variable of one never affects another or
// the results already measured. Start children before this process has its own threads; they end
// with it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace tessera::process {

class Child {
 public:
  /// Turns a question into its answer; ask() rethrows its exceptions in the parent.
  using Answer = std::function<std::string(const std::string&)>;

  /// What happens to the child's stderr. Its stdout is discarded: only the parent prints results.
  enum class Talk { silent, to_stderr };

  /// `start` runs in the child at its first question and returns the function that answers.
  explicit Child(std::function<Answer()> start, Talk talk = Talk::silent);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// The child's answer, waiting at most `seconds` (0: forever). Between two questions the child
  /// is stopped. Throws what the answer threw, or Error(failed) if the child crashed or was too
  /// slow; such a child is gone, and later questions throw the same. Throws Interrupted at a noted
  /// signal.
  std::string ask(const std::string& question, double seconds = 0);

 private:
  void await_answer(double seconds);
  [[noreturn]] void give_up(const std::string& reason);
  void end() noexcept;

  pid_t pid_ = -1;
  int socket_ = -1;
  std::string gone_;  // why the child is gone
};

}  // namespace tessera::process
