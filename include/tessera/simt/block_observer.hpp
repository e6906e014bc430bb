// Events of the execution of one block: which thread runs, barriers, and failures. The checker
// observes them; an ordinary launch has no observer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tessera/core/here.hpp"

namespace tessera {

/// Why a block fails, as separate fields.
struct BlockFault {
  enum class Kind {
    diverged,
    missing,
    threw,
    overflowed,
    stopped,
    crashed,
    deadlocked,
    misused,
    stuck,         ///< threads wait at gates, and no thread can continue
    gate_misused,  ///< a gate that is not open, or one arrival too many
    cluster_exit,  ///< a block has ended that another one of its cluster still reaches
    misaligned,    ///< bytes of shared storage where no bulk copy or operand may begin
    elsewhere      ///< another block of the cluster has failed
  };
  Kind kind = Kind::threw;
  std::string unit;  ///< for diverged: "block" or "warp"
  int thread = 0,
      other = 0;          ///< another thread: one that waits elsewhere, or the first that has ended
  Here here, other_here;  ///< where they wait; line 0: nowhere
  std::string text;       ///< what happened, without the names of kernel, block and thread
  std::string advice;     ///< may be empty
  std::uint64_t address =
      0;  ///< for crashed: the address of the faulting access; 0: unknown, or null
};

class BlockObserver {
 public:
  /// The block begins; its shared storage is here.
  virtual void begins(std::byte* shared) = 0;
  /// From now on this thread runs. An exception of this function is thrown in the thread.
  virtual void runs(int thread) = 0;
  virtual void ends(int thread) = 0;
  /// The thread has arrived at a barrier of its block or warp and waits.
  virtual void waits(int thread, const Here& here) = 0;
  /// All lanes of the warp have passed the barrier; `verb` as in BlockScheduler::warp_barrier.
  virtual void warp_met(int warp, const char* verb, const Here& here) = 0;
  /// A warp has arrived at another barrier than a warp that already waits, at these source
  /// locations. False: that is a fault, as it would be within a warp.
  virtual bool warps_part(int thread, const Here& here, int other, const Here& other_here) = 0;
  /// All threads that have not ended wait at the same barrier; `ended` of the block's threads never
  /// arrive. False: that is a fault.
  virtual bool block_met(const char* name, const Here& here, int ended) = 0;
  /// These threads have passed a barrier: the lanes of a mask in one warp, or those of a named
  /// barrier. `verb`: as above, null for one that orders memory, "cluster" for the barrier of the
  /// cluster; `is_named`: a named barrier.
  virtual void group_met(const std::vector<int>& threads, const char* verb, bool is_named,
                         const Here& here) = 0;
  virtual void fails(const BlockFault& fault) = 0;
  /// These lanes of one warp are about to pass a barrier without the lanes `ended`, which their
  /// mask names too.
  virtual void met_without(const std::vector<int>& threads, std::uint64_t ended,
                           const Here& here) = 0;
  /// In a cluster: the block's threads run on this OS thread until another block takes its turn.
  virtual void takes_turn() = 0;
  /// The thread arrives at the barrier of its cluster.
  virtual void comes_to_cluster(int thread) = 0;
  /// The running thread has passed it.
  virtual void passes_cluster(int thread, const Here& here) = 0;

 protected:
  ~BlockObserver() = default;
};

}  // namespace tessera
