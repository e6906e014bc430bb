// What the run of one block tells whoever watches it: which thread runs, when threads meet, and
// what went wrong. The checker is the one who does; nobody watches an ordinary launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tessera/core/here.hpp"

namespace tessera {

/// Why a block fails, in single facts.
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
    stuck,        ///< threads wait at gates, and nobody can go on
    gate_misused  ///< a gate that is not open, or one arrival too many
  };
  Kind kind = Kind::threw;
  std::string unit;           ///< of diverged: "block" or "warp"
  int thread = 0, other = 0;  ///< the other: one that waits elsewhere, or the first that has ended
  Here here, other_here;      ///< where they wait; line 0: nowhere
  std::string text;           ///< what happened, without the names of kernel, block and thread
  std::string advice;         ///< may be empty
  std::uint64_t address =
      0;  ///< of crashed: an access to it was the reason; 0: to none, or to null
};

class BlockObserver {
 public:
  /// The block begins; its shared storage is here.
  virtual void begins(std::byte* shared) = 0;
  /// From now on this thread runs. What it throws is thrown into the thread.
  virtual void runs(int thread) = 0;
  virtual void ends(int thread) = 0;
  /// The thread has come to a barrier of its block or warp, and does nothing until that is met.
  virtual void waits(int thread, const Here& here) = 0;
  /// All lanes of the warp have met; `verb` as in BlockScheduler::warp_barrier.
  virtual void warp_met(int warp, const char* verb, const Here& here) = 0;
  /// A warp has come to another barrier than one that waits already, at these places. False: that
  /// is a fault, as it is within a warp.
  virtual bool warps_part(int thread, const Here& here, int other, const Here& other_here) = 0;
  /// All threads that have not ended wait at the same barrier; `ended` of the block's threads never
  /// come. False: that is a fault.
  virtual bool block_met(const char* name, const Here& here, int ended) = 0;
  /// These threads have met: lanes of one warp that a mask names, or a named barrier's. `verb`: as
  /// above, null for what orders memory; `is_named`: a named barrier.
  virtual void group_met(const std::vector<int>& threads, const char* verb, bool is_named,
                         const Here& here) = 0;
  virtual void fails(const BlockFault& fault) = 0;
  /// These lanes of one warp are about to meet without the lanes `ended`, which their mask names
  /// too.
  virtual void met_without(const std::vector<int>& threads, std::uint64_t ended,
                           const Here& here) = 0;

 protected:
  ~BlockObserver() = default;
};

}  // namespace tessera
