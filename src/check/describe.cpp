// The texts of findings: what happened, the likely cause, what to try.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "finish_report.hpp"

namespace tessera::check {

namespace {

std::string file_name(const Here& here) {
  const std::string file = here.file;
  return file.substr(file.rfind('/') + 1);
}
std::string place(const Here& here) {
  return here.line == 0 ? std::string("an unknown line") : cat(file_name(here), ":", here.line);
}
/// The verb for a thread's access to `what`.
std::string access_text(bool writes, bool is_atomic, const std::string& what) {
  if (is_atomic) return cat("atomically ", writes ? "updates " : "loads ", what);
  return cat(writes ? "writes " : "reads ", what);
}
std::string access_text(const Mistake& m, const std::string& what) {
  return access_text(m.writes, m.is_atomic && !m.is_volatile, what);
}
/// Why the two accesses of a race are not ordered.
std::string order_text(const Mistake& m) {
  const std::string near =
      m.near_fence.line == 0 ? std::string()
                             : cat("the fence at ", place(m.near_fence), " reaches no other block");
  if (m.order == Order::lacks_acquire)
    return near.empty()
               ? "an atomic read orders the two only with a fence after it, which is missing"
               : cat("an atomic read orders the two only with a fence after it, and ", near);
  if (m.of_block)
    return "an atomic with the scope of a block is none to other blocks, so nothing orders the two";
  if (m.atomic_here.line == 0) return "nothing orders the two";
  if (!near.empty()) return cat("nothing orders the two, since ", near);
  return cat("nothing orders the two, since around the atomic update at ", place(m.atomic_here),
             " a fence is missing");
}
std::string target(const Mistake& m) {
  std::string at;
  for (const index_t i : m.element) at += cat(at.empty() ? "(" : ",", i);
  const std::string of =
      m.rank < 0 ? std::string() : cat(" in the block of rank ", m.rank, " of its cluster");
  if (m.byte >= 0) return cat("byte ", m.byte, " of ", m.tensor, of);
  if (at.empty()) return m.tensor + of;
  return m.memory == Memory::shared ? cat("element ", at, ") of ", m.tensor, of)
                                    : cat(m.tensor, at, ")");
}

std::string race_text(const Mistake& m, const std::string& who, const std::string& other) {
  if (m.one_instruction && !m.same_value)
    return cat(who, " and ", other, " write ", target(m), " in one step of their warp at ",
               place(m.here), ": which value stays is undefined");
  return cat(who, " ", access_text(m, target(m)), " at ", place(m.here), ", and ", other, " ",
             access_text(m.other_writes, m.other_is_atomic && !m.other_is_volatile,
                         m.same_value ? "the same value to it" : "it"),
             " at ", place(m.other_here), ": ", order_text(m));
}

/// Barriers that the block has passed.
std::string passed_text(const Mistake& m) {
  return cat(m.barrier - 1, m.barrier == 2 ? " barrier" : " barriers");
}
std::string last_place(const Here& here) {
  return here.line == 0 ? std::string() : ", last seen at " + place(here);
}

const char* fence_of(const Mistake& m) {
  return m.memory == Memory::shared ? "fence_async" : "fence_async_global";
}

/// What is wrong with the order of bulk copies and matrix units.
std::string async_text(const Mistake& m, const std::string& who, const std::string& other) {
  const std::string here = place(m.here), there = place(m.other_here);
  switch (m.kind) {
    case Kind::bulk_not_awaited:
      return cat(who, " ", m.detail, " ", target(m), " at ", here, ", while the bulk copy that ",
                 other, " starts at ", there, " may still be writing it");
    case Kind::gate_phase:
      if (m.tensor.empty()) return cat(who, " waits at ", here, " for the wrong phase: ", m.detail);
      return cat(who, " waits at ", here, " for a phase that was over: it does not wait for ",
                 m.other_here.line == 0
                     ? std::string("what comes into ")
                     : cat("the bulk copy that ", other, " starts at ", there, " into "),
                 target(m));
    case Kind::stage_reused:
      if (m.memory == Memory::none)
        return cat(who, " starts bulk copies for later phases at ", here, " than the one that ",
                   other, " waits for at ", there, ": ", m.detail);
      return cat(who, " starts a bulk copy into ", target(m), " at ", here, ", and ", other, " ",
                 m.detail, " it at ", there, ": nothing orders the copy after that");
    case Kind::missing_async_fence:
      return cat(who, " ", m.detail, " ", target(m), " at ", here, ", which ", other,
                 " has stored at ", there, " without a ", fence_of(m), "(t) in between");
    case Kind::mma_not_awaited:
      if (m.other_here.line == 0)
        return cat(who, " starts a product at ", here, " and ends without waiting for it");
      if (m.memory == Memory::local)
        return cat(who, " touches its sums at ", here, ", while the product that it starts at ",
                   there, " may still be adding to them");
      return cat(who, " ", m.detail, " ", target(m), " at ", here,
                 ", while the product that is started at ", there, " may still be reading it");
    case Kind::mma_unordered: return cat(who, " ", m.detail);
    case Kind::gate_arrivals:
      if (m.is_exact) return m.detail;
      return cat(who, " ", m.detail, " at ", here, ", which ", other, " opens at ", there, m.part);
    case Kind::gate_bytes:
      return cat(who, " expects other bytes at ", here, " than come, as from ", there, ": ",
                 m.detail);
    case Kind::source_overwritten:
      return cat(who, " ", m.detail, " ", target(m), " at ", here, ", while the bulk store that ",
                 other, " starts at ", there, " may still be reading it");
    case Kind::store_never_awaited:
      if (m.other_here.line == 0)
        return cat(who, " starts a bulk store of ", target(m), " at ", here,
                   " and ends without waiting for it");
      return cat(who, " ", m.detail, " ", target(m), " at ", here, ", while the bulk store that ",
                 other, " starts at ", there, " may still be writing it");
    case Kind::cluster_exit:
      if (m.is_exact) return cat(who, " reaches a block that has ended: ", m.detail);
      if (m.at_start)
        return cat(who, " ", m.detail, " at ", here,
                   ": nothing orders that after the block's start");
      return cat(who, " ", m.detail, " at ", here, ": nothing orders that before the block's end");
    default: return m.detail;
  }
}

/// What ended the block.
std::string fault_text(const Mistake& m, const std::string& who, const std::string& other) {
  switch (m.kind) {
    case Kind::diverged_barrier:
      if (m.severity == Severity::warning)
        return cat("whole warps meet at different barriers: ", who, " waits at ", place(m.here),
                   ", ", other, " at ", place(m.other_here));
      if (m.passes_by)
        return cat(who, " waits at the barrier at ", place(m.here), ", and ", m.detail,
                   " have gone past it to the end of the kernel (the first: ", other,
                   last_place(m.other_here), ")");
      return cat(m.detail, ": after ", passed_text(m), " that all have passed");
    case Kind::early_return:
      if (m.tensor == "warp")
        return cat(other, " has passed by ", place(m.here), ", where ", who,
                   " meets others and names it in the mask: it was at ", place(m.other_here),
                   " and has ended");
      return cat(m.detail, " have ended after ", passed_text(m), " (the first: ", other,
                 last_place(m.other_here), "), while ", who, " waits at the barrier at ",
                 place(m.here), ", which is number ", m.barrier);
    case Kind::endless:
      return cat(who, " does not come to an end: it was still running ", m.detail, ", after ",
                 passed_text(m), last_place(m.here));
    case Kind::exception:
      return cat(who, m.detail.starts_with("threw") ? " " : " throws: ", m.detail,
                 last_place(m.here));
    case Kind::stack_overflow: return cat(who, ": ", m.detail, last_place(m.here));
    case Kind::deadlock: return cat(who, " ", m.detail);
    case Kind::barrier_misuse: return cat(who, ": ", m.detail);
    case Kind::crash:
      return cat(who, " ", m.detail, m.is_exact ? ", at " + place(m.here) : last_place(m.here));
    default: return m.detail;
  }
}

}  // namespace

std::string problem_of(const Mistake& m, const RunContext& context) {
  const auto thread = [&](int number, std::int64_t block) {
    const auto& launch = context.launch;
    return cat("thread ", to_string(position_of(std::max(number, 0), launch.block)),
               block < 0 ? std::string()
                         : cat(" of block ",
                               to_string(position_of(static_cast<int>(block), launch.grid))));
  };
  const std::string who = thread(m.thread, m.other_block >= 0 ? m.block : -1);
  const std::string other = thread(m.other_thread, m.other_block);
  if (m.kind >= Kind::bulk_not_awaited && m.kind <= Kind::stuck) return async_text(m, who, other);
  const auto does = [&](const std::string& what) { return cat(who, " ", access_text(m, what)); };
  switch (m.kind) {
    case Kind::race: return race_text(m, who, other);
    case Kind::out_of_bounds:
      if (m.tensor == "warp") return cat(who, " shuffles from ", m.detail);
      return does(m.detail.starts_with("element") ? cat(m.detail, m.tensor.empty() ? "" : ", of ",
                                                        m.tensor, ", outside of all memory")
                  : m.detail.empty()              ? "memory that the kernel was not given"
                  : m.tensor.empty() || m.detail.find("after the end of") != std::string::npos ||
                          m.detail.find("before") != std::string::npos ||
                          m.detail.find("null") != std::string::npos
                      ? m.detail
                      : cat(target(m), ": ", m.detail));
    case Kind::outside_view: return does(cat(m.detail, ", of ", m.tensor));
    case Kind::misaligned:
      return m.memory == Memory::none ? cat(who, ": ", m.detail)
                                      : does(cat(target(m), ": ", m.detail));
    case Kind::uninitialized_read:
      return m.memory == Memory::local
                 ? cat(who, m.tensor == "accumulator" ? " adds to a variable that has no value"
                            : m.tensor == "fragment"  ? " uses a matrix fragment that has no value"
                                                      : " reads an element of its own tile that "
                                                        "has no value")
                 : cat(who, " reads ", m.part, m.part.empty() ? "" : " of ", target(m),
                       ", which nobody has written");
    case Kind::stale_read:
      return cat(who, " reads ", target(m), ", which was written at ", place(m.other_here),
                 " before the tile was loaded again, and not since");
    case Kind::async_not_waited:
      return cat(does(target(m)), " at ", place(m.here), " while an asynchronous copy of ", other,
                 ", issued at ", place(m.other_here), ", may still be writing it");
    case Kind::async_never_waited:
      if (!m.detail.empty())
        return cat(who, " starts a bulk copy into ", target(m),
                   ", and the block ends without a wait for that phase of ", m.detail);
      return cat(who, " copies asynchronously to ", target(m), " and ends without waiting for it");
    case Kind::never_read:
    case Kind::never_written:
    case Kind::written_twice: return cat(m.tensor, ": ", m.detail);
    case Kind::host_memory:
    case Kind::freed_memory: return does(m.detail);
    case Kind::unseen_write:
      return cat(target(m),
                 " changed without an access that the checker sees: a plain member of Shared, or "
                 "an access through a raw pointer. Its races are unknown");
    default: return fault_text(m, who, other);
  }
}

namespace {

std::string race_hint(const Mistake& m) {
  if (!m.advice.empty()) return m.advice;
  if (m.of_block)
    return "take an atomic whose scope is the device: one without _block, thread_scope_device, "
           ".gpu";
  if (m.near_fence.line > 0 && (m.order == Order::lacks_acquire || m.atomic_here.line > 0))
    return cat("other blocks need t.fence() in place of the fence at ", place(m.near_fence));
  if (m.order == Order::lacks_acquire)
    return "put t.fence() between the atomic that has read the value and the reads after it";
  if (m.polls)
    return "a plain read in a loop may be done once only: wait with t.atomic_load(...), and hand "
           "over with t.fence() and t.atomic_store(...)";
  if (m.atomic_here.line > 0)
    return cat(
        "an atomic update alone orders nothing: put t.fence() between the write and the "
        "atomic update at ",
        place(m.atomic_here), ", and another between the atomic and the read");
  if (m.same_value)
    return "it is a race though both write one value here: let one thread write it, or all of them "
           "by t.atomic_exchange()";
  if (m.other_block >= 0 && m.memory == Memory::shared)
    return "let all blocks of the cluster meet at cluster_barrier() between the two";
  const bool has_plain_store = (m.writes && !m.is_atomic) || (m.other_writes && !m.other_is_atomic);
  if (m.other_block >= 0 && has_plain_store && m.is_atomic != m.other_is_atomic)
    return "an atomic access of another block does not order a plain store: store by "
           "t.atomic_exchange(), after t.fence() if the store hands over other values";
  if (m.other_block >= 0)
    return "blocks are never ordered: give each block its own elements, or use atomic updates on "
           "both sides";
  if (m.is_atomic != m.other_is_atomic)
    return cat(m.is_volatile || m.other_is_volatile ? "a volatile access" : "an atomic update",
               " does not order a plain access: use an atomic one there too, or a barrier between "
               "them");
  if (m.one_instruction && !m.same_value)
    return "check the index, or let one of the lanes store; where they store in turn, "
           "t.warp_barrier() belongs between the turns";
  if (m.severity == Severity::warning)
    return "threads of one warp do not run in step: put t.warp_barrier() between the two";
  if (m.writes && m.other_writes)
    return "two threads write one element: check the index, or let one thread do it";
  if (m.by_copy)
    return "commit(t), wait<0>(t) and a barrier belong between the copy and the read, and a "
           "barrier between the read and the copy of the next round";
  return m.memory == Memory::shared
             ? "a barrier is missing between the write and the read, or between the read and "
               "the write of the next round"
             : "put t.barrier() between the two accesses";
}

std::string uninitialized_hint(const Mistake& m) {
  return !m.advice.empty()           ? m.advice
         : m.tensor == "fragment"    ? "begin with Mma::zero(), and load a and b whole"
         : m.memory == Memory::local ? "begin with zero_of(C) or zeros<T, ...>()"
         : m.memory == Memory::shared
             ? "write every element of the tile, zero past the edge: copy() does both"
             : "write the output before reading it; with beta = 0 it holds nothing";
}

/// By kind; the texts of races and uninitialized reads depend on more.
constexpr std::array<std::string_view, kKindNames.size()> kHints = {
    "",
    "guard the access: if (C.contains(row, col)) ...",
    "the guard is missing, or it compares with the wrong extent (rows with columns, <= with <)",
    "vectorize only where can_vectorize() says yes; keep leading dimensions multiples of the width",
    "",
    "write every element of the tile each time: zero past the edge",
    "let all threads pass the same barrier: move it out of the branch",
    "move the barrier out of the branch or loop that some threads leave early",
    "not portable: let all threads reach each barrier, and guard the accesses instead of the whole "
    "kernel",
    "commit(t), wait<0>(t) and a barrier belong between the copy and this access",
    "commit(t) and wait<0>(t) after the copies",
    "make the block a multiple of the warp",
    "let the kernel check before it computes; a GPU has no exceptions",
    "use shared memory, smaller local arrays and no deep recursion",
    "find the loop whose condition never becomes false, or raise --time-limit",
    "is the last tile along k dropped (K / T instead of tiles())? does a guard compare with the "
    "wrong extent?",
    "check the grid and the guard of the store",
    "once would be enough: keep the sum in a register and store it at the end",
    "use smaller tiles or blocks",
    "pass memory to the kernel as tensors, whose accesses are checked; stop the thread in a "
    "debugger just before: --stop-at",
    "make the member a tile, Tile<int, 1> count for int count, and use s.count(0) and s.a(i, j) in "
    "place of pointers",
    "let the thread that sets the value do so before it waits or ends, and release each lock; "
    "wait with t.atomic_load(...)",
    "ids are 0 to 15, counts multiples of the warp, masks name lanes that arrive",
    "wait(t, gate, phase) belongs between the copy and this access, and a barrier after it where "
    "other threads have waited",
    "keep stage and phase in one Turn: next() once for each stage, phase for readers, before() "
    "for loaders",
    "let the readers arrive(t, gate) after their last read, and wait for that before the copy",
    "",
    "wait_mma<0>(t) belongs between the product and this access",
    "let all four warps of a warpgroup start the same products in the same order, after the fence "
    "that mma() begins with",
    "expect the bytes of whole boxes, bytes_of(tiles...), of every copy to this gate, also where a "
    "tile crosses the edge",
    "let as many threads arrive in a phase as open_gate() says, each after it has seen the phase "
    "before end; open and publish gates before the barrier",
    "wait_bulk_read<N>(t) by the thread that has stored, then a barrier, belong before this write",
    "wait_bulk<0>(t) by the thread that has stored, before it ends or hands the result on",
    "cluster_barrier(t), by all threads of all blocks, belongs between the last copy or arrival "
    "and the end of any block",
    "let as many threads arrive as each gate counts, and expect the bytes of the copies",
    "give kernels memory of cudaMalloc, and copy between it and the host by cudaMemcpy",
    "free memory when the last kernel and copy that use it have ended",
    "",
    "the program's own check failed: look at what it printed"};

}  // namespace

std::string hint_of(const Mistake& m) {
  if (m.kind == Kind::gate_arrivals && !m.advice.empty()) return m.advice;
  const bool is_ours = m.kind == Kind::source_overwritten || m.kind == Kind::store_never_awaited ||
                       m.kind == Kind::misaligned || m.kind == Kind::async_never_waited ||
                       m.kind == Kind::mma_not_awaited || m.kind == Kind::exception ||
                       m.kind == Kind::stack_overflow || m.kind == Kind::out_of_bounds ||
                       m.kind == Kind::impossible_launch || m.kind >= Kind::host_memory;
  if (is_ours && !m.advice.empty()) return m.advice;
  if (m.repeats)
    return "a loop with a barrier runs more often for some threads: give all of them the same "
           "number of rounds";
  if (m.kind == Kind::missing_barrier && m.at_gates) return m.advice;
  if (m.kind == Kind::early_return && m.tensor == "warp")
    return "let all lanes that the mask names come there: move the call out of the branch or loop, "
           "or name those that come, by __ballot_sync() before it";
  if (m.kind == Kind::stage_reused && m.product >= 0)
    return "let the readers wait_mma<N>(t) until the product is done, then arrive(t, gate), and "
           "wait for that before the copy";
  if (m.kind == Kind::race) return race_hint(m);
  if (m.kind == Kind::missing_async_fence)
    return cat("each thread that has stored calls ", fence_of(m),
               "(t) after its stores, then comes the barrier or gate, then the one that starts");
  if (m.kind == Kind::uninitialized_read) return uninitialized_hint(m);
  return std::string(kHints[static_cast<std::size_t>(m.kind)]);
}

}  // namespace tessera::check
