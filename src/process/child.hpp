// A forked process that answers questions. Foreign libraries and single kernels run in one each, so
// that a crash, a spinning thread pool or an environment variable of one never touches another or
// the results already measured. Start children before this process has threads of its own; they
// end with it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace tessera::process {

class Child {
 public:
  /// Turns a question into its answer; what it throws is thrown again by ask() in the parent.
  using Answer = std::function<std::string(const std::string&)>;

  /// What becomes of the child's stderr. Its stdout goes nowhere: results are the parent's alone.
  enum class Talk { silent, to_stderr };

  /// `start` runs in the child at its first question and gives what answers them.
  explicit Child(std::function<Answer()> start, Talk talk = Talk::silent);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// The child's answer, waiting at most `seconds` (0: for ever). Between two questions the child
  /// is stopped. Throws Error: what the answer threw, or Error(failed) when the child crashed or
  /// was too slow; such a child is gone, and later questions throw the same. Throws Interrupted at
  /// a noted signal.
  std::string ask(const std::string& question, double seconds = 0);

 private:
  void await_answer(double seconds);
  [[noreturn]] void give_up(const std::string& reason);
  void end() noexcept;

  pid_t pid_ = -1;
  int socket_ = -1;
  std::string gone_;  // why there is no child any more
};

}  // namespace tessera::process
