// Turns the fault of a fiber that runs off its stack into an ordinary call. Private to src/simt.
#pragma once

namespace tessera::detail {

/// While an object lives, a fault on this OS thread is offered to `owns(context, address)`; if that
/// says yes, the faulting code is abandoned and `landing(context)` runs at `stack_top()` instead.
/// All other faults go where they went before.
struct FaultHandler {
  bool (*owns)(void* context, const void* address) = nullptr;
  void* (*stack_top)(void* context) = nullptr;
  void (*landing)(void* context) = nullptr;
  void* context = nullptr;
};

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
