// The lanes of a warp in step, for unchecked programs that rely on it (`cuda-run --lockstep`): as
// on a GPU whose warps have one program counter, the lanes that are at the same place do their
// accesses together. Lanes that part meet again: those of the deepest call, and of these the ones
// at the lowest address of code, go first. Atomics and barriers are no steps. Private to the
// runtime; hooks.cpp calls it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::plain_cuda {

struct ThreadContext;

/// Where a lane is about to access memory.
struct Step {
  std::uintptr_t frame = 0;    ///< of the function, in the lane's stack: lower in deeper calls
  const void* pc = nullptr;    ///< where the access's hook returns to
  const void* read = nullptr;  ///< null: it writes
  std::size_t bytes = 0;
};

class WarpSteps {
 public:
  /// Returns when it is the lane's turn.
  void keep(ThreadContext& mine, const Step& step);

 private:
  static constexpr std::size_t kMostBytes = 64;  ///< of a struct that is copied in step

  /// The thread before the one that is to run now.
  int before_next(const ThreadContext& mine) const;
  void release();
  void show(std::size_t lane) const;

  std::uint64_t waiting_ = 0, released_ = 0, copying_ = 0;  ///< lanes
  std::array<Step, 64> at_{};
  std::array<unsigned, 64> passed_over_{};  ///< how often other lanes went first
  std::array<std::array<std::byte, kMostBytes>, 64> values_{};  ///< what copying lanes read
};

/// Undoes what a lane was shown in memory: see WarpSteps. Call it before other lanes run.
void bring_back_newer_values();

}  // namespace tessera::plain_cuda
