// The pending asynchronous operations of one block, and the gates of its shared storage: see
// simt/cpu_async.hpp. Private to src/simt.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "tessera/simt/block_scheduler.hpp"
#include "tessera/simt/bulk_map.hpp"
#include "tessera/simt/cpu_async.hpp"
#include "tessera/simt/gate.hpp"

namespace tessera::detail {

/// One gate. Its word in shared storage identifies it, so that a gate that was never opened, or was
/// overwritten, is detected.
struct GateState {
  std::size_t offset = 0;    ///< in shared storage
  int count = 0;             ///< arrivals of each phase
  int missing = 0;           ///< of them in this phase
  Here opened;               ///< where
  std::int64_t bytes = 0;    ///< expected, less those that came
  std::uint64_t phases = 0;  ///< that have ended
  /// By thread of the cluster: the phase of its last arrival, or last copy, plus 1; 0: none.
  std::vector<std::uint64_t> arrived, copied;

  void note(std::vector<std::uint64_t>& last, int thread) const {
    const auto i = static_cast<std::size_t>(thread);
    if (i >= last.size()) last.resize(i + 1);
    last[i] = phases + 1;
  }
};

class AsyncMachine {
 public:
  AsyncMachine(std::byte* shared, std::size_t shared_bytes, int threads, ThreadOrder order,
               std::uint64_t seed);

  /// The gate is not open yet.
  GateState& open(Gate* gate, int arrivals, Here here);
  int number_of(const GateState& gate) const { return static_cast<int>(&gate - gates_.data()); }
  /// Null: it was not opened.
  GateState* find(const Gate* gate);
  /// Has the phase of this parity ended?
  static bool has_ended(const GateState& gate, unsigned phase) {
    return (gate.phases & 1) != (phase & 1);
  }

  /// Of a box: from global memory to shared, whose bytes come to the gate; or back.
  struct Transfer {
    BulkFields fields;
    int x, y;
    std::byte* shared;
    Gate* gate;  ///< null: a store
    int thread;
    bool is_of_another_block = false;
    std::int64_t group = 0;            ///< of the thread's stores
    std::vector<std::byte> held = {};  ///< of a store: what it has read of shared storage
  };
  /// Queues or executes the transfer: true where it has ended a phase.
  bool start(Transfer transfer);
  /// Executes one queued transfer, chosen by the seed among those to these gates, or among all if
  /// there are none; false: there is no such transfer.
  bool carry_out_one(std::span<const Gate* const> gates, Gate** ended);

  /// Earlier stores of threads are visible to operations that are started after this.
  void fence();
  void commit_stores(int thread);
  /// `is_read`: they may be stored later.
  void wait_stores(int thread, int pending, bool is_read);
  void start_unit(int thread, const UnitCall& call);
  /// The instructions of the thread's current group read these bytes of shared storage.
  void read_operand(int thread, std::span<const std::byte> bytes);
  /// Ends a group of this thread. The instructions are the warpgroup's: none is executed before all
  /// of its threads have started it.
  void commit_units(int thread);
  /// Executes all but the newest groups of a warpgroup whose threads have all arrived.
  void wait_units(int warpgroup, int pending);
  /// Is a copy queued that another block of the cluster has started?
  bool awaits_another_block() const;
  /// Executes all pending operations at the end of the block. In the order `late` its shared
  /// storage is then another block's: a store that has not been waited for reads nothing of this
  /// one's.
  void finish();

  /// Counts one arrival or that many bytes: true where that has ended the phase.
  static bool settle(GateState& gate, int arrivals, std::int64_t bytes);

  /// What a gate lacks: "gate 3 (opened at a.cpp:20, byte 66560 of shared storage), whose phase 2
  /// lacks 1 of 2 arrivals".
  std::string text_of(const Gate* gate) const;
  std::byte* shared() const { return shared_; }

 private:
  std::size_t offset_of(const Gate* gate) const;
  struct Operand {
    std::span<const std::byte> bytes;
    std::uint64_t group;
  };
  struct Mine {
    std::int64_t store_groups = 0;        ///< committed, ever
    std::vector<UnitCall> units;          ///< pending, the oldest first
    std::deque<std::size_t> unit_groups;  ///< calls of each
    std::size_t open_units = 0;
    std::uint64_t committed = 0;    ///< groups, ever
    std::vector<Operand> operands;  ///< of the pending ones
  };
  bool draws_late();
  void move(const Transfer& transfer);
  /// The bytes of shared storage that it reads or writes.
  std::span<std::byte> box_in(std::byte* storage, const Transfer& transfer) const;
  /// Shared storage as copies and units see it.
  std::byte* seen() { return seen_.empty() ? shared_ : seen_.data(); }
  bool carry_out(const Transfer& transfer);
  void multiply(int thread, std::size_t calls);
  /// Executes all but the newest groups of the thread.
  void finish_groups(int thread, int pending);
  /// Executes pending units that read bytes to which a copy comes: nothing orders the two.
  void multiply_before(std::span<const std::byte> copied);

  std::byte* shared_;
  std::size_t shared_bytes_;
  ThreadOrder order_;
  std::uint64_t seed_, draws_ = 0;
  /// In the order `late`, the contents that copies and units see where threads have stored without
  /// a fence; the fence of one thread counts for all: a store that changes nothing leaves no trace,
  /// so nothing shows whose bytes they are. Else empty.
  std::vector<std::byte> seen_;
  std::vector<GateState> gates_;
  std::vector<Transfer> listed_;
  std::vector<Mine> of_;
};

}  // namespace tessera::detail
