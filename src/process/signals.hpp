// Signals end the command as errors do: temporaries removed, one line on stderr, a documented exit
// code.
#pragma once

#include <exception>
#include <string>

namespace tessera::process {

/// Ctrl-C, SIGTERM, SIGHUP, SIGQUIT and all others that ask a program to end remove temporaries and
/// end with 128 + number (130 for Ctrl-C); a crash (SIGSEGV, SIGABRT, ...) removes them and stays a
/// crash. A file that is truncated while it is read (SIGBUS) ends with 3. Closed pipes and
/// file-size limits become ordinary errors.
void install_signal_handlers();

/// `culprit`, called in a signal handler, names the foreign function that the program is in, or
/// returns null. A crash in one ends the command with code 4 and one line. Called after foreign
/// code has started, which may have taken SIGABRT for itself.
void blame_for_crashes(const char* (*culprit)() noexcept);

/// An uncaught exception ends the command with code 1 and one line: usually because memory runs out
/// before main or while an error is reported.
void install_terminate_handler();

/// "tessera multiply", for the line that a handler prints.
void set_signal_name(const std::string& command);

/// No line any more: the process is one of several that a launcher ends by signals.
void silence_signals();

/// A noted signal, thrown at points where work can stop. Not an Error, so that only the command's
/// own handler catches it.
struct Interrupted : std::exception {
  explicit Interrupted(int signal_) : signal(signal_) {}
  const char* what() const noexcept override { return "interrupted"; }
  int signal;
};

/// During its lifetime, the first of these signals is only noted, for work whose partial result is
/// worth keeping; a second one ends the command as usual.
class InterruptsAreNoted {
 public:
  InterruptsAreNoted();
  ~InterruptsAreNoted();
  InterruptsAreNoted(const InterruptsAreNoted&) = delete;
  InterruptsAreNoted& operator=(const InterruptsAreNoted&) = delete;
};

/// Encloses drawing on the terminal by another thread: false once a signal ends the command, whose
/// line comes last. A thread that draws handles no signals itself (no_signals_here).
class Drawing {
 public:
  Drawing();
  ~Drawing();
  Drawing(const Drawing&) = delete;
  Drawing& operator=(const Drawing&) = delete;
  explicit operator bool() const { return may_; }

 private:
  bool may_;
};
void no_signals_here();

/// Throws Interrupted if a signal was noted.
void throw_if_interrupted();

}  // namespace tessera::process
