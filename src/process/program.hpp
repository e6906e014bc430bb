// Runs another program and waits for it: a compiler, a kernel's own program, a debugger. Ctrl-C and
// a time limit end it with all processes that it has started.
#pragma once

#include <string>
#include <vector>

namespace tessera::process {

struct ProgramRun {
  std::vector<std::string> words;        ///< the program, searched on the PATH, and its arguments
  std::string stderr_file;               ///< its stderr; empty: ours
  std::string stdout_file;               ///< its stdout, likewise; both may go to one file
  bool prints_to_stderr = false;         ///< without stdout_file: its stdout goes to our stderr
  std::string folder;                    ///< where it runs; empty: here
  std::vector<std::string> environment;  ///< "NAME=value", added to ours or replacing them
  double seconds = 0;                    ///< time limit; 0: none
  bool owns_terminal = false;            ///< it handles Ctrl-C itself
};

struct ProgramEnd {
  bool started = false, timed_out = false;
  int exit_code = -1;  ///< -1: a signal ended it
  int signal = 0;

  bool good() const { return exit_code == 0; }
  /// "ended with exit code 3", "was ended by signal 9 (Killed)".
  std::string text() const;
};

/// Its stdin is ours. Throws Interrupted at a noted signal, after the program has ended.
ProgramEnd run_program(const ProgramRun& run);

}  // namespace tessera::process
