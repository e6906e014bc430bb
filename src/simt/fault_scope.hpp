// Turns a fault or std::terminate inside a fiber, which would end the process, into an ordinary
// call. Private to src/simt.
#pragma once

namespace tessera::detail {

/// While an object lives, a fault on this OS thread (and abort()) is offered to `owns(context,
/// signal, address)`; if that says yes, the faulting code is abandoned and `landing(context)` runs
/// at `stack_top()` instead.
/// `terminated(context)` runs in place of std::terminate and does not return, unless the thread is
/// not in one of the context's fibers. A SIGSEGV that another thread of the process sent is no
/// fault: `interrupted(context)` says what to do. Everything else goes to the previous handlers.
struct FaultHandler {
  enum class Answer { not_mine, go_on, abandon };
  bool (*owns)(void* context, int signal, const void* address) = nullptr;
  Answer (*interrupted)(void* context) = nullptr;
  void* (*stack_top)(void* context) = nullptr;
  void (*landing)(void* context) = nullptr;
  void (*terminated)(void* context) = nullptr;
  void* context = nullptr;
};

/// Does a scope of this OS thread take faults?
bool faults_are_taken();

class FaultScope {
 public:
  explicit FaultScope(const FaultHandler& handler);
  ~FaultScope();
  FaultScope(const FaultScope&) = delete;
  FaultScope& operator=(const FaultScope&) = delete;

 private:
  FaultHandler outer_;
};

}  // namespace tessera::detail
