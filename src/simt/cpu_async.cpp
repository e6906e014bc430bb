// The thread's side of gates, bulk copies and matrix units on the CPU engine: who waits, who goes
// on, and what is refused. See simt/cpu_async.hpp.
#include "tessera/simt/cpu_async.hpp"

#include <algorithm>
#include <utility>

#include "async_machine.hpp"
#include "block_state.hpp"

namespace tessera {

using detail::AsyncMachine;
using detail::GateState;
using detail::Run;
using detail::Wait;

namespace {
constexpr int kWarpgroup = 128;  // threads
}

AsyncMachine& BlockScheduler::State::async() {
  if (!machine)
    machine = std::make_unique<AsyncMachine>(shared.data, task.shared_bytes, threads,
                                             task.order == ThreadOrder::shuffled, seed);
  return *machine;
}

GateState& BlockScheduler::State::gate_of(int thread, const Gate* gate, const Here& here) {
  GateState* found = async().find(gate);
  if (found == nullptr)
    misused(thread, here, "a gate is used that is not open", "open_gate() by one thread first",
            "a word that no gate has", "open it, publish_gates(), then let all threads meet");
  return *found;
}

void BlockScheduler::State::require_missing(int thread, const GateState& gate, const Here& here) {
  if (gate.missing == 0)
    misused(thread, here, "more arrivals at a gate than it counts",
            cat(gate.count, " in a phase, which ends when the bytes have come"),
            cat(gate.count + 1), "let fewer threads arrive, or open it with a larger count");
}

void BlockScheduler::State::let_through(const Gate* gate) {
  moved = true;
  for (std::size_t i = 0; i < gate_waits.size(); ++i) {
    if (run[i] != Run::at_gate || gate_waits[i].gate != gate) continue;
    if (AsyncMachine::has_ended(*machine->find(gate), gate_waits[i].phase)) run[i] = Run::ready;
  }
}

bool BlockScheduler::State::carry_out_one() {
  Gate* ended = nullptr;
  if (!machine || !machine->carry_out_one(&ended)) return false;
  if (ended != nullptr) let_through(ended);
  return true;
}

std::uint32_t CpuAsync::address(const void* address) const {
  return static_cast<std::uint32_t>(static_cast<const std::byte*>(address) -
                                    scheduler_.state().async().shared());
}

void CpuAsync::open(Gate* gate, int arrivals, Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (arrivals < 1)
    s.misused(thread_, here, "a gate counts no arrivals", "at least 1", cat(arrivals),
              "a phase ends when all have arrived");
  s.async().open(gate, arrivals);
}

void CpuAsync::expect(Gate* gate, int bytes, Here here) const {
  GateState& found = scheduler_.state().gate_of(thread_, gate, here);
  found.bytes += bytes;
  arrive(gate, here);
}

void CpuAsync::arrive(Gate* gate, Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  GateState& found = s.gate_of(thread_, gate, here);
  s.require_missing(thread_, found, here);
  if (AsyncMachine::settle(found, 1, 0)) s.let_through(gate);
}

void CpuAsync::wait(Gate* gate, unsigned phase, Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.cancelled) return s.wait_after_failure(thread_);
  if (AsyncMachine::has_ended(s.gate_of(thread_, gate, here), phase)) return;
  if (s.gate_waits.empty()) s.gate_waits.resize(static_cast<std::size_t>(s.threads));
  const auto i = static_cast<std::size_t>(thread_);
  const Wait wait{here, nullptr};
  s.wait[i] = &wait;
  s.gate_waits[i] = {gate, phase};
  s.run[i] = Run::at_gate;
  if (s.task.observer != nullptr) s.task.observer->waits(thread_, here);
  s.moved = true;
  s.wait_in_line();
}

void CpuAsync::copy(const BulkMap* map, int x, int y, void* to, Gate* gate, Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  s.gate_of(thread_, gate, here);
  if (s.async().start({fields_of(*map), x, y, static_cast<std::byte*>(to), gate, thread_}))
    s.let_through(gate);
}

void CpuAsync::store(const BulkMap* map, int x, int y, const void* from, Here here) const {
  auto* shared = static_cast<std::byte*>(const_cast<void*>(from));
  const BulkFields fields = fields_of(*map);
  // A GPU stores whole pieces of 16 bytes, also what of the last one is beyond the row.
  if (const auto bytes = fields.extent[0] * fields.element_bytes; bytes % 16 != 0)
    scheduler_.state().misused(thread_, here, cat("a bulk store to rows of ", bytes, " bytes"),
                               "a multiple of 16 bytes", {},
                               "let threads store where a row ends within 16 bytes");
  scheduler_.state().async().start({fields, x, y, shared, nullptr, thread_});
}

void CpuAsync::commit(Here) const { scheduler_.state().async().commit_stores(thread_); }
void CpuAsync::wait_stores(int pending) const {
  scheduler_.state().async().wait_stores(thread_, pending);
}
void CpuAsync::start_unit(const UnitCall& call) const {
  scheduler_.state().async().start_unit(thread_, call);
}
void CpuAsync::commit_units(Here) const { scheduler_.state().async().commit_units(thread_); }
void CpuAsync::begin_units(Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  const int here_are = std::min(kWarpgroup, s.threads - thread_ / kWarpgroup * kWarpgroup);
  if (here_are < kWarpgroup)
    s.misused(thread_, here, "a matrix instruction of a warpgroup that is not whole",
              cat(kWarpgroup, " threads"), cat(here_are),
              "let four warps call it, the first of them a multiple of four");
}
/// The threads of a warpgroup meet: a group is done for all of them.
void CpuAsync::wait_units(int pending, Here here) const {
  BlockScheduler::State& s = scheduler_.state();
  if (s.cancelled) return s.wait_after_failure(thread_);
  const int warpgroup = thread_ / kWarpgroup;
  if (s.unit_waits.empty())
    s.unit_waits.resize(static_cast<std::size_t>(s.threads / kWarpgroup + 1));
  auto& waiting = s.unit_waits[static_cast<std::size_t>(warpgroup)];
  const Wait wait{here, nullptr};
  s.wait[static_cast<std::size_t>(thread_)] = &wait;
  waiting.push_back(thread_);
  if (s.task.observer != nullptr) s.task.observer->waits(thread_, here);
  s.moved = true;
  if (std::ssize(waiting) < std::min(kWarpgroup, s.threads - warpgroup * kWarpgroup)) {
    s.run[static_cast<std::size_t>(thread_)] = Run::at_unit_wait;
    return s.wait_in_line();
  }
  if (std::ssize(waiting) == kWarpgroup) s.async().wait_units(warpgroup, pending);
  s.release(std::exchange(waiting, {}));
}
void CpuAsync::meet(int id, int threads, Here here) const {
  scheduler_.named_barrier(thread_, id, threads, here);
}

}  // namespace tessera
