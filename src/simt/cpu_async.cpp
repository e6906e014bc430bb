// The thread's side of gates, bulk copies and matrix units on the CPU engine: waits, releases and
// errors. See simt/cpu_async.hpp.
#include "tessera/simt/cpu_async.hpp"

#include <algorithm>
#include <utility>

#include "async_machine.hpp"
#include "block/state.hpp"
#include "tessera/core/recorder.hpp"
#include "tessera/simt/async_observer.hpp"

namespace tessera {

namespace detail {
constinit thread_local AsyncObserver* async_observer = nullptr;
}
using detail::AsyncMachine;
using detail::GateState;
using detail::Run;
using detail::Wait;

namespace {
constexpr int kUnitThreads = 128;  // threads

/// `what` begins at a multiple of so many bytes of shared memory.
template <class State>
void require_multiple(State& s, int thread, std::uint32_t at, std::size_t of, const char* what,
                      const Here& here) {
  if (at % of != 0)
    s.misused(thread, here, cat(what, " does not begin where it may in shared memory"),
              cat("a multiple of ", of, " bytes"), cat("byte ", at),
              "use a UnitTile as it is aligned in Shared", BlockFault::Kind::misaligned);
}
constexpr std::size_t kCopiedLine = 128;     // PTX ISA, cp.async.bulk.tensor
constexpr int kMostCounted = (1 << 20) - 1;  // PTX ISA 9.7.13.15: arrivals, bytes of a phase
constexpr int kChunk = 16;                   // bytes: see tile_from()
}  // namespace

void BlockScheduler::State::require_box(int thread, const BulkFields& f, int x,
                                        std::uint32_t shared, const char* what, const Here& here) {
  require_multiple(*this, thread, shared, kCopiedLine, what, here);
  const int some = kChunk / f.element_bytes;
  if (std::int64_t{x} * f.element_bytes % kChunk != 0)
    misused(thread, here, cat(what, " does not begin where it may in its matrix"),
            cat("a multiple of ", some, " elements (16 bytes) along the contiguous mode"),
            cat("element ", x), cat("begin the tile at ", x - (x % some + some) % some),
            BlockFault::Kind::misaligned);
}

AsyncMachine& BlockScheduler::State::async() {
  if (!machine)
    machine =
        std::make_unique<AsyncMachine>(shared.data, task.shared_bytes, threads, task.order, seed);
  return *machine;
}

GateState& BlockScheduler::State::gate_of(int thread, const Gate* gate, const Here& here) {
  GateState* found = async().find(gate);
  if (found == nullptr)
    misused(thread, here, "a gate is used that is not open", "open_gate() by one thread first",
            "a word that no gate has", "open it, publish_gates(), then let all threads meet",
            BlockFault::Kind::gate_misused);
  return *found;
}

void BlockScheduler::State::require_missing(int thread, const GateState& gate, const Here& here) {
  if (gate.missing != 0) return;
  fail_arrival(thread, gate, here);
  cancel();
  throw detail::Cancelled{};
}

void BlockScheduler::State::fail_arrival(int thread, const GateState& gate, const Here& here) {
  fail({.kind = BlockFault::Kind::gate_misused, .thread = thread, .here = here}, [&] {
    return misuse(thread, here, "more arrivals at a gate than it counts",
                  cat(gate.count, " in a phase, which ends when the bytes have arrived"),
                  cat(gate.count + 1), "let fewer threads arrive, or open it with a larger count");
  });
}

int BlockScheduler::State::let_through(const Gate* gate) {
  moved = true;
  int first = -1;
  const int number = machine->number_of(*machine->find(gate));
  if (task.async != nullptr) task.async->phase_ends(number);
  for (std::size_t i = 0; i < gate_waits.size(); ++i) {
    if (run[i] != Run::at_gate || gate_waits[i].gate != gate) continue;
    if (!AsyncMachine::has_ended(*machine->find(gate), gate_waits[i].phase)) continue;
    run[i] = Run::ready;
    if (first < 0) first = static_cast<int>(i);
    if (gate_waits[i].is_arrival) continue;
    ++gate_waits[i].passed;
    if (task.async != nullptr) task.async->passes(static_cast<int>(i), number);
  }
  return first;
}

void BlockScheduler::State::wait_at_gate(int thread, const Gate* gate, unsigned phase,
                                         bool is_arrival, const Here& here) {
  const auto i = static_cast<std::size_t>(thread);
  const Wait where{here, nullptr};
  wait[i] = &where;
  gate_waits[i].gate = gate, gate_waits[i].phase = phase, gate_waits[i].is_arrival = is_arrival;
  run[i] = Run::at_gate;
  if (task.observer != nullptr) task.observer->waits(thread, here);
  moved = true;
  wait_in_line();
}

bool BlockScheduler::State::carry_out_one(std::span<const Gate* const> gates) {
  Gate* ended = nullptr;
  if (!machine || !machine->carry_out_one(gates, &ended)) return false;
  if (ended != nullptr) let_through(ended);
  return true;
}

int BlockScheduler::State::threads_of(int warpgroup) const {
  return std::min(kUnitThreads, threads - warpgroup * kUnitThreads);
}

void BlockScheduler::State::end_unit_wait(int warpgroup) {
  auto& [waiting, pending] = unit_waits[static_cast<std::size_t>(warpgroup)];
  if (std::ssize(waiting) == kUnitThreads) async().wait_units(warpgroup, pending);
  release(std::exchange(waiting, {}));
}

bool BlockScheduler::State::carry_out_awaited() {
  for (std::size_t warpgroup = 0; warpgroup < unit_waits.size(); ++warpgroup) {
    const auto number = static_cast<int>(warpgroup);
    const std::vector<int>& waiting = unit_waits[warpgroup].threads;
    if (waiting.empty() || std::ssize(waiting) < threads_of(number)) continue;
    end_unit_wait(number);
    return true;
  }
  std::vector<const Gate*> gates;
  for (std::size_t i = 0; i < gate_waits.size(); ++i) {
    if (run[i] == Run::at_gate) gates.push_back(gate_waits[i].gate);
  }
  return !gates.empty() && carry_out_one(gates);
}

std::uint32_t CpuAsync::address(const void* address) const {
  return static_cast<std::uint32_t>(static_cast<const std::byte*>(address) -
                                    scheduler_.state().async().shared());
}

void CpuAsync::open(Gate* gate, int arrivals, Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (arrivals < 1 || arrivals > kMostCounted)
    s.misused(thread_, here, "a gate cannot count that many arrivals", cat("1 to ", kMostCounted),
              cat(arrivals), "a phase ends when all have arrived", BlockFault::Kind::gate_misused);
  AsyncMachine& machine = s.async();
  if (machine.find(gate) != nullptr)
    s.misused(thread_, here, "a gate is opened that is open", "open_gate() once in each block", {},
              "go on with its next phase; a Turn counts them", BlockFault::Kind::gate_misused);
  const GateState& opened = machine.open(gate, arrivals, here);
  if (s.task.async != nullptr)
    s.task.async->opens(thread_, machine.number_of(opened), opened.offset, arrivals, here);
}

void CpuAsync::publish(Here) const {
  if (AsyncObserver* const observer = scheduler_.state().task.async) observer->publishes(thread_);
}

void CpuAsync::expect(Gate* gate, int bytes, Here here) const { arrive_with(gate, bytes, here); }
void CpuAsync::arrive(Gate* gate, Here here) const { arrive_with(gate, 0, here); }

void CpuAsync::arrive_with(Gate* gate, int bytes, Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.cancelled) return s.wait_after_failure(thread_);
  GateState* found = &s.gate_of(thread_, gate, here);
  if (bytes < 0 || bytes > kMostCounted)
    s.misused(thread_, here, "a phase of a gate cannot expect that many bytes",
              cat("0 to ", kMostCounted), cat(bytes), "take bytes_of(tiles...) of its copies",
              BlockFault::Kind::gate_misused);
  // Copies that are on their way, or that others are about to start, may end the phase.
  for (const Gate* const only[] = {gate}; found->missing == 0; found = s.async().find(gate)) {
    if (s.carry_out_one(only)) continue;
    if (s.gate_waits.empty()) s.gate_waits.resize(static_cast<std::size_t>(s.threads));
    s.wait_at_gate(thread_, gate, static_cast<unsigned>(found->phases & 1), true, here);
  }
  found->bytes += bytes;
  if (s.task.async != nullptr)
    s.task.async->arrives(thread_, s.rank, s.async().number_of(*found), bytes, here);
  found->note(found->arrived, s.rank * s.threads + thread_);
  if (!AsyncMachine::settle(*found, 1, 0)) return;
  const int next = s.let_through(gate);
  if (next >= 0 && s.task.order == ThreadOrder::late) s.run_now(next);
}

void CpuAsync::wait(Gate* gate, unsigned phase, Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.cancelled) return s.wait_after_failure(thread_);
  const GateState& found = s.gate_of(thread_, gate, here);
  const int number = s.async().number_of(found);
  if (s.task.async != nullptr) s.task.async->waits_at(thread_, number, phase, here);
  if (s.gate_waits.empty()) s.gate_waits.resize(static_cast<std::size_t>(s.threads));
  if (!AsyncMachine::has_ended(found, phase))
    return s.wait_at_gate(thread_, gate, phase, false, here);
  ++s.gate_waits[static_cast<std::size_t>(thread_)].passed;
  if (s.task.async != nullptr) s.task.async->passes(thread_, number);
}

void CpuAsync::copy(const BulkMap* map, int x, int y, void* to, Gate* gate, Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  AsyncMachine& machine = s.async();
  GateState& found = s.gate_of(thread_, gate, here);
  const BulkFields fields = fields_of(*map);
  s.require_box(thread_, fields, x, address(to), "a bulk copy", here);
  if (s.task.async != nullptr) {
    const BulkMove move{fields, x, y, address(to)};
    s.task.async->loads(thread_, move, here);
    s.task.async->copies(thread_, s.rank, machine.number_of(found), move, here);
  }
  found.note(found.copied, s.rank * s.threads + thread_);
  if (machine.start({fields, x, y, static_cast<std::byte*>(to), gate, thread_}))
    s.let_through(gate);
}

void CpuAsync::store(const BulkMap* map, int x, int y, const void* from, Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  auto* shared = static_cast<std::byte*>(const_cast<void*>(from));
  const BulkFields fields = fields_of(*map);
  // A GPU stores whole 16-byte chunks, including the part of the last one beyond the row.
  if (const auto bytes = fields.extent[0] * fields.element_bytes; bytes % 16 != 0)
    s.misused(thread_, here, cat("a bulk store to rows of ", bytes, " bytes"),
              "a multiple of 16 bytes", {}, "let threads store where a row ends within 16 bytes");
  s.require_box(thread_, fields, x, address(from), "a bulk store", here);
  if (s.task.async != nullptr &&
      !s.task.async->stores(thread_, {fields, x, y, address(from)}, here))
    return;
  s.async().start({fields, x, y, shared, nullptr, thread_});
}

void CpuAsync::commit(Here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.task.async != nullptr) s.task.async->commits_stores(thread_);
  s.async().commit_stores(thread_);
}
void CpuAsync::wait_stores(int pending, bool is_read) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.task.async != nullptr) s.task.async->awaits_stores(thread_, pending, is_read);
  s.async().wait_stores(thread_, pending, is_read);
}
void CpuAsync::fence(Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.task.async != nullptr) s.task.async->fences(thread_, here);
  s.async().fence();
}
void CpuAsync::fence_global(Here) const {
  if (AsyncObserver* const observer = scheduler_.state().task.async)
    observer->fences_global(thread_);
}
void CpuAsync::start_unit(const UnitCall& call) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.task.async != nullptr) s.task.async->starts_unit(thread_, call);
  s.async().start_unit(thread_, call);
}
void CpuAsync::read_operand(const void* shared, std::size_t bytes, std::size_t alignment,
                            Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  require_multiple(s, thread_, address(shared), alignment, "an operand in its swizzle", here);
  if (s.task.async != nullptr) s.task.async->reads_operand(thread_, address(shared), bytes);
  s.async().read_operand(thread_, {static_cast<const std::byte*>(shared), bytes});
}
void CpuAsync::commit_units(Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.task.async != nullptr) s.task.async->commits_units(thread_, here);
  s.async().commit_units(thread_);
}
void CpuAsync::begin_units(Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  const int here_are = s.threads_of(thread_ / kUnitThreads);
  if (here_are < kUnitThreads)
    s.misused(thread_, here, "a matrix instruction of a warpgroup that is not whole",
              cat(kUnitThreads, " threads"), cat(here_are),
              "let four warps call it, the first of them a multiple of four");
  if (s.task.async != nullptr) s.task.async->begins_units(thread_, here);
}
/// A barrier of the warpgroup's threads: a group completes for all of them.
void CpuAsync::wait_units(int pending, Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.cancelled) return s.wait_after_failure(thread_);
  if (s.task.async != nullptr) s.task.async->awaits_units(thread_, pending);
  const int warpgroup = thread_ / kUnitThreads;
  if (s.unit_waits.empty())
    s.unit_waits.resize(static_cast<std::size_t>(s.threads / kUnitThreads + 1));
  auto& [waiting, pending_here] = s.unit_waits[static_cast<std::size_t>(warpgroup)];
  pending_here = pending;
  const Wait wait{here, nullptr};
  s.wait[static_cast<std::size_t>(thread_)] = &wait;
  waiting.push_back(thread_);
  if (s.task.observer != nullptr) s.task.observer->waits(thread_, here);
  s.moved = true;
  // In the order `late` all others run before the units.
  if (s.task.order == ThreadOrder::late || std::ssize(waiting) < s.threads_of(warpgroup)) {
    s.run[static_cast<std::size_t>(thread_)] = Run::at_unit_wait;
    return s.wait_in_line();
  }
  s.end_unit_wait(warpgroup);
}
void CpuAsync::meet(int id, int threads, Here here) const {
  scheduler_.named_barrier(thread_, id, threads, here);
  if (detail::recorder != nullptr) detail::recorder->follow(here);
}

}  // namespace tessera
