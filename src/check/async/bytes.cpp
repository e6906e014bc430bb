// Checks that each phase of a gate expects the bytes that copies bring: see rules.hpp. A copy is
// meant for the phase after those that its thread knows to have ended, whenever its bytes arrive.
#include <utility>

#include "check/block/recorder.hpp"
#include "rules.hpp"

namespace tessera::check {

bool AsyncRules::is_again(Mine& by, std::int64_t& last, std::int64_t known, bool is_first) {
  const bool out = !is_first && last == known;
  last = known;
  by.is_ahead = by.is_ahead || out;
  return out;
}

void AsyncRules::tell_bytes(int number, std::int64_t too_many, const Arrival& copy) {
  GateAt& g = gate(number);
  if (std::exchange(g.are_bytes_told, true)) return;
  const Arrival& at = g.expected.thread < 0 ? copy : g.expected;
  Mistake mistake = recorder_.mistake_at(Kind::gate_bytes, Memory::shared, at.here, at.thread);
  mistake.other_here = copy.here, mistake.other_thread = copy.thread;
  name_blocks(mistake, at.rank, copy.rank);
  mistake.tensor = cat("gate ", number);
  mistake.detail = cat("a phase of ", mistake.tensor, " has ", too_many, " bytes too many");
  mistake.is_certain = true;
  recorder_.add_mistake(std::move(mistake));
}

void AsyncRules::count_expected(AsyncRules& by, int thread, int number, std::int64_t bytes) {
  GateAt& g = gate(number);
  const std::int64_t known = by.clock(thread).at(g.agent);
  if (bytes != 0 && g.count == 1) {
    const auto [last, is_first] = g.expecting.try_emplace({by.rank_, thread}, known);
    is_again(by.mine(thread), last->second, known, is_first);
  }
  g.expected_bytes += bytes;
  if (g.missing == 0 && g.started_bytes > g.expected_bytes && !by.mine(thread).is_ahead)
    tell_bytes(number, g.started_bytes - g.expected_bytes, g.copied);
}

void AsyncRules::count_bytes(AsyncRules& by, int thread, int number, std::uint64_t to,
                             std::int64_t bytes) {
  GateAt& g = gate(number);
  Mine& who = by.mine(thread);
  const std::int64_t known = by.clock(thread).at(g.agent);
  const auto [last, is_first] = g.copying.try_emplace({by.rank_, thread, to}, known);
  // A thread that fills a stage again too early is judged by the accesses to it.
  if (is_again(who, last->second, known, is_first) || who.is_ahead || who.last_wait.is_stale)
    return;
  if (known < g.phases) return tell_bytes(number, bytes, g.copied);  // the one that it is for
  g.started_bytes += bytes;
  if (g.missing == 0 && g.started_bytes > g.expected_bytes)
    tell_bytes(number, g.started_bytes - g.expected_bytes, g.copied);
}

}  // namespace tessera::check
