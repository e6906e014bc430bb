// The rules of gates, bulk copies and matrix units (simt/gate.hpp, ops/bulk.hpp,
// ops/warpgroup.hpp). Once a block uses one of them, these rules judge its threads' later accesses
// immediately, by clocks: the order in which the engine runs the block is one of the legal orders.
// Private to src/check.
//
// The blocks of a cluster share their clocks. Each block keeps the state of its own shared memory
// and its own gates, whichever block's thread accesses them.
//
// rules.cpp follows which thread has waited for what, bytes.cpp counts the bytes of phases,
// access.cpp judges accesses, cluster.cpp handles the other blocks, findings.cpp describes
// mistakes.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "check/agents.hpp"
#include "check/block/result.hpp"
#include "check/shadow.hpp"
#include "tessera/simt/async_observer.hpp"

namespace tessera::check {

class BlockRecorder;

class AsyncRules;

/// The state that blocks share if they run together; a block that runs alone has its own.
struct ClusterRules {
  std::vector<AsyncRules*> blocks;  ///< by rank
  std::vector<Agent> agents;
  std::map<std::tuple<int, AgentKind, int>, int> agent_index;  ///< by rank, kind and owner
  std::vector<int> gates;                                      ///< their agents
  /// What is ordered before a barrier of the cluster, as the clocks of rules.hpp and of
  /// clocks.hpp.
  struct Meeting {
    AgentClock clock;
    std::shared_ptr<Clock> order;
  };
  std::map<std::int64_t, Meeting> meetings;  ///< by number; the last two
  Meeting ended;                             ///< of the threads that have ended
  std::uint32_t next_mistake = 0;            ///< the mistakes of all blocks so far

  void start(std::vector<AsyncRules*> members, int threads);
  Meeting& meeting(std::int64_t number);
};

class AsyncRules final : public AsyncObserver {
 public:
  explicit AsyncRules(BlockRecorder& recorder) : recorder_(recorder) {}

  /// Starts a new block, which runs alone.
  void start();
  /// The block runs with others and has this rank among them.
  void start(ClusterRules& cluster, int rank);
  ClusterRules& cluster() { return *cluster_; }
  int rank() const { return rank_; }
  BlockRecorder& recorder_of(int rank) const { return block_at(rank).recorder_; }
  bool is_in_cluster() const { return cluster_ != &own_; }
  /// Has the block used gates, bulk copies or matrix units?
  bool is_on() const { return !clocks_.empty(); }
  /// An access of the running thread.
  void access(int region, std::uint64_t offset, std::size_t bytes, tessera::detail::Access how,
              Here here);
  /// The same to the shared storage of another block of the cluster.
  void reach(int rank, std::uint64_t offset, std::size_t bytes, tessera::detail::Access how,
             Here here);
  /// Plain asynchronous copies (cp.async) of the running thread.
  void copies_async(std::uint64_t offset, std::size_t bytes, Here here);
  void commits_async();
  void awaits_async(int pending);
  /// These threads have met at a barrier.
  void meet(const std::vector<int>& threads);
  void meet(int first, int count);
  /// A fence or an atomic of the running thread.
  void fence();
  void releases(const void* address);
  void acquires(const void* address);
  void comes_to_cluster(int thread, std::int64_t number);
  void passes_cluster(int thread, std::int64_t number);
  void ends(int thread);
  void finish();
  /// Reports accesses by other blocks to this one that it does not wait for; returns whether there
  /// are any.
  bool judge_exit();
  /// Is the writer of this byte of shared memory since that epoch known?
  bool is_written(std::uint64_t offset, std::uint32_t since) const;
  /// The block cannot continue: reports the reason, if it is known.
  void explain(Mistake& mistake) const;
  /// Does any thread wait at a gate?
  bool waits_at_gates() const;

  void opens(int thread, int gate, std::size_t shared, int arrivals, Here here) override;
  void publishes(int thread) override;
  void arrives(int thread, int rank, int gate, std::int64_t expected_bytes, Here here) override;
  void phase_ends(int gate) override;
  void waits_at(int thread, int gate, unsigned phase, Here here) override;
  void passes(int thread, int gate) override;
  void loads(int thread, const BulkMove& move, Here here) override;
  void copies(int thread, int rank, int gate, const BulkMove& move, Here here) override;
  bool stores(int thread, const BulkMove& move, Here here) override;
  void commits_stores(int thread) override;
  void awaits_stores(int thread, int pending, bool is_read) override;
  void fences(int thread, Here here) override;
  void fences_global(int thread) override;
  void begins_units(int thread, Here here) override;
  void starts_unit(int thread, const UnitCall& call) override;
  void reads_operand(int thread, std::size_t shared, std::size_t bytes) override;
  void commits_units(int thread, Here here) override;
  void awaits_units(int thread, int pending) override;
  void touches_sums(const void* first, std::size_t bytes, Here here) override;
  void adds_to_nothing(Here here) override;

 private:
  /// The agent of an access, with what is ordered before it.
  struct Doer {
    Trace trace;
    const AgentClock* before;
    bool is_bulk = false;  ///< sees memory as copies and units do (the async proxy)
  };
  /// A thread's last wait at a gate.
  struct LastWait {
    std::int64_t phase = kNever;  ///< the phase that had ended; -1: none
    bool is_stale = false;        ///< it had already waited for that one
    Here here;
  };
  static constexpr std::int64_t kNever = -2;
  static constexpr int kWarpgroup = 128;  ///< threads
  struct Arrival {
    int thread = -1;
    Here here;
    int rank = 0;  ///< of the thread's block
  };
  struct GateAt {
    std::size_t shared = 0;  ///< its offset
    int count = 0;
    Arrival opened, expected, arrived, copied;  ///< the latest ones; thread -1: none
    std::int64_t copied_phase = 0;              ///< of the latest copy
    std::uint64_t copied_to = 0;                ///< its place in shared storage
    std::uint32_t opened_time = 0;
    bool is_published = false, is_waited_for = false, is_early_told = false;
    Arrival early;  ///< an arrival that is not ordered after the previous phase
    Arrival stale;  ///< the first wait for a phase that the thread had waited for before
    std::int64_t phases = 0;
    int missing = 0;         ///< arrivals in this phase
    std::int64_t bytes = 0;  ///< expected, minus those of the started copies
    std::int64_t expected_bytes = 0, started_bytes = 0;  ///< in this phase
    bool are_bytes_told = false;
    /// By rank and thread, and by place of shared memory: the phases of which a thread knew that
    /// they had ended when it last expected bytes, or last copied there.
    std::map<std::pair<int, int>, std::int64_t> expecting;
    std::map<std::tuple<int, int, std::uint64_t>, std::int64_t> copying;
    int agent = 0;
    AgentClock pending, done;
    std::vector<LastWait> waits;  ///< by thread
  };
  struct Waiting {
    int gate = -1;
    Here here;
  };
  struct Operand {
    std::size_t shared, bytes;
  };
  /// A group of matrix instructions that only some threads of the warpgroup have started.
  struct UnitGroup {
    int started = 0;
    std::uint64_t calls = 0;  ///< a hash of the instructions
    int thread = -1;          ///< the first
    Here here;
    AgentClock before;
    std::vector<Operand> operands;
    std::vector<std::uint32_t> since;  ///< by thread of the warpgroup: what it does after starting
  };
  /// Of one instruction.
  struct Sums {
    const std::byte* first;
    std::int64_t group;
    Here here;
  };
  /// A bulk store that may still be writing.
  struct Writing {
    std::int64_t group;
    BulkFields fields;
    int x, y;
    std::uint16_t site;
  };
  struct Mine {
    std::vector<Writing> writing;
    std::int64_t stores = 0, units = 0, copies = 0;  ///< groups committed
    std::int64_t stores_read = 0;                    ///< groups that were waited for
    std::vector<std::uint32_t> store_times;          ///< by group: when its first store started
    std::int64_t last_store = -1;                    ///< the group of the last store
    Operand last_source{};
    Here last_store_here;
    std::int64_t copies_awaited = 0, last_copy = -1;  ///< groups of plain copies
    std::uint64_t last_copied = 0;
    Here last_copy_here;
    bool is_fenced = false;  ///< registers, for units
    // Of the current group of matrix instructions:
    bool has_unfenced = false;
    std::uint64_t calls = 0;                ///< a hash of the instructions
    std::vector<const std::byte*> started;  ///< their accumulators
    std::vector<Sums> sums;                 ///< accumulators that units may still update
    std::vector<Operand> operands;
    Here last_unit_here;
    AgentClock fenced, read;  ///< by fences with atomics
    bool has_fenced = false;
    LastWait last_wait;     ///< at any gate
    bool is_ahead = false;  ///< it has filled a stage again without a wait in between
  };
  /// Reads of bytes that had not been written.
  struct Nothing {
    Trace read;
    std::uint64_t offset;
    LastWait wait;
  };

  // ---- rules.cpp ----
  void begin();
  static constexpr std::size_t nth(int i) { return static_cast<std::size_t>(i); }
  /// What the block has done before; of it, the accesses to one memory up to its last barrier.
  void take_over();
  void take_over_marks(int region);
  int agent_of(AgentKind kind, int owner);
  int agent_of(int thread) const { return first_ + thread; }
  AgentClock& clock(int thread) { return clocks_[static_cast<std::size_t>(thread)]; }
  Mine& mine(int thread) { return mine_[static_cast<std::size_t>(thread)]; }
  GateAt& gate(int number) { return gates_[static_cast<std::size_t>(number)]; }
  std::uint32_t now(int thread) const {
    return clocks_[static_cast<std::size_t>(thread)].at(agent_of(thread));
  }
  /// For the fences of a thread with this agent.
  int fence_agent(int agent) const { return agent + threads_; }
  /// Orders everything that the thread has done so far before events that see this clock.
  const AgentClock& publish(int thread);
  /// `by`: the rules of the block whose thread uses the gate.
  void require_open(const AsyncRules& by, int thread, int number, bool by_copy, Here here);
  /// Reports an arrival that is not ordered after the end of the previous phase.
  void tell_early(int number);
  void complete_units(int warpgroup, std::int64_t number, UnitGroup& group);

  // ---- bytes.cpp ----
  /// A thread of block `by` has arrived, and expects so many bytes; or starts a copy to this place.
  void count_expected(AsyncRules& by, int thread, int number, std::int64_t bytes);
  void count_bytes(AsyncRules& by, int thread, int number, std::uint64_t to, std::int64_t bytes);
  /// Does it come again without having seen a phase end since `last`? Keeps what it knows.
  static bool is_again(Mine& by, std::int64_t& last, std::int64_t known, bool is_first);
  /// This phase, or one that has ended, expects fewer bytes than come with this copy.
  void tell_bytes(int number, std::int64_t too_many, const Arrival& copy);

  // ---- cluster.cpp ----
  AsyncRules& block_at(int rank) const { return *cluster_->blocks[static_cast<std::size_t>(rank)]; }
  std::string block_text() const;
  /// A thread of block `by` arrives at a gate of this one, or starts a copy into it.
  void take_arrival(AsyncRules& by, int thread, int number, std::int64_t expected_bytes, Here here);
  void take_copy(AsyncRules& by, int thread, int number, const BulkMove& move, Here here);
  /// An access of another block to this one.
  void is_reached(const Trace& trace, bool is_access = false);
  /// Names the blocks of both, if they differ.
  void name_blocks(Mistake& mistake, int rank, int other_rank) const;

  // ---- access.cpp ----
  Trace trace_of(int thread, tessera::detail::Access how, Here here) const;
  /// The rules for an access to these bytes.
  void judge(int region, std::uint64_t offset, std::uint64_t bytes, const Doer& doer);
  /// Reports an earlier access of the cell that is not ordered before this one, or lacks a fence.
  void meet(int region, std::uint64_t offset, const Trace& earlier, AgentCell& cell,
            const Doer& doer, int& reported);
  bool is_ordered(const Trace& earlier, const Doer& doer) const;
  /// Is it an ordinary write that a bulk operation meets, with no fence in between?
  bool lacks_fence(int region, const Trace& earlier, const Doer& doer) const;
  void report_missing_fence(int region, std::uint64_t offset, const Trace& earlier,
                            const Doer& doer);
  /// A read of bytes that had no value, and that this copy then brings: it does not wait for it,
  /// even where it lets the copy start.
  bool is_of_copy_to_come(const Trace& earlier, const Doer& doer) const;
  void add_other(AgentCell& cell, const Doer& doer);
  /// The box in global memory: calls body(region, offset, offset in shared memory) for each
  /// element. Reports that the matrix is larger than its memory; returns whether it is not.
  template <class Body>
  bool for_each_element(const BulkMove& move, tessera::detail::Access how, Here here,
                        const Body& body);
  /// Of the matrix; -1: memory of no argument.
  int memory_of(const BulkFields& fields);
  /// The thread's bulk stores of these groups have written: to other blocks, at this time.
  void complete_stores(int thread, std::int64_t groups);
  /// From now on bulk copies from this matrix are judged, as are the earlier ones.
  void begin_stores_to(int region);

  // ---- findings.cpp ----
  Here here_of(std::uint16_t site) const;
  const Agent& agent(const Trace& trace) const {
    return cluster_->agents[static_cast<std::size_t>(trace.agent)];
  }
  /// "reads", "starts a product that reads": the verb for an access.
  std::string verb_of(const Trace& trace) const;
  /// Calls body(thread) for each thread of the access, until it returns true.
  template <class Body>
  bool any_thread(const Trace& trace, const Body& body) const;
  /// The last wait before it, at any gate; preferably one whose phase was already over.
  LastWait last_wait_of(const Trace& trace) const;
  void report_conflict(int region, std::uint64_t offset, const Trace& earlier, const Doer& doer);
  Mistake conflict_of(const Trace& earlier, const Doer& doer);
  /// The effect of a bulk copy on earlier accesses to its bytes.
  Mistake copied_over(const Trace& earlier, const Doer& copy);
  /// Did a thread wait for an earlier phase instead of this copy's?
  bool blame_wait(Mistake& mistake, const Trace& reader, const Trace& copy) const;
  Mistake race_of(const Trace& earlier, const Doer& doer);
  /// Does a thread of the product that is being judged write this after it has started it?
  bool is_after_start(const Trace& write, const Trace& product) const;
  /// Does the access know that this bulk store has started?
  bool knows_start(const Doer& doer, const Trace& store) const;
  void report(Mistake mistake, int region, std::uint64_t offset);
  /// "VERB gate 3, which ... opens at ...PROBLEM". `at_start`: the gate is not open yet.
  void report_gate(const Arrival& at, int number, bool at_start, const char* verb,
                   const std::string& problem, const std::string& advice = {});
  void report_units(int thread, std::string detail, Here here, Here other, int who);
  /// At the end of the block: bytes that no phase expects, and copies that no thread has awaited.
  void judge_gates();
  bool explain_bytes(Mistake& mistake, int number) const;
  bool explain_phase(Mistake& mistake) const;
  bool explain_arrivals(Mistake& mistake, int number) const;
  bool explain_units(Mistake& mistake) const;

  BlockRecorder& recorder_;
  ClusterRules own_;
  ClusterRules* cluster_ = &own_;
  int rank_ = 0;   ///< in the cluster
  int first_ = 0;  ///< the agent of the block's first thread
  int threads_ = 0;
  /// by thread; empty: no gates, bulk copies or units were used
  std::vector<AgentClock> clocks_;
  struct Reached {
    Trace trace;
    bool is_access;  ///< else an arrival or a bulk copy
  };
  std::map<int, Reached> reached_;  ///< by agent: the last access of another block here
  /// A bulk copy from a matrix that no bulk store has written so far.
  struct BulkRead {
    Trace read;
    BulkFields fields;
    int x, y;
  };
  std::vector<BulkRead> reads_;
  std::vector<bool> is_stored_;       ///< by region: bulk stores write to it, and it is no output
  bool is_start_told_ = false;        ///< that another block accessed this one too early
  std::vector<AgentShadow> shadows_;  ///< by region
  std::vector<GateAt> gates_;
  std::vector<Mine> mine_;
  std::vector<Waiting> waiting_;                          ///< by thread
  std::vector<std::map<std::int64_t, UnitGroup>> units_;  ///< by warpgroup and number
  const UnitGroup* judged_ = nullptr;                     ///< the one that is being judged
  std::unordered_map<const void*, AgentClock> released_;
  std::vector<Nothing> nothing_;
  std::vector<std::uint16_t> told_;  ///< sites of accesses that a finding explains
};

}  // namespace tessera::check
