// Starts a block: stacks for its threads, the order in which they run, shared storage filled with
// NaN.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "state.hpp"
#include "tessera/core/random.hpp"

namespace tessera {

void BlockScheduler::State::reserve_stacks() {
  // The size is exact: a kernel must not pass because another one before it needed more.
  if (arena != nullptr && arena->count() >= threads && arena->wanted_bytes() == task.stack_bytes)
    return;
  for (auto& fiber : fibers) detail::release(fiber);
  fibers.clear();
  arena.reset();  // allocated last: where it exists, everything does
  fibers.resize(static_cast<std::size_t>(threads));
  arena = std::make_unique<detail::StackArena>(threads, task.stack_bytes);
  for (int i = 0; i < threads; ++i) {
    fibers[static_cast<std::size_t>(i)].stack_low = arena->low(i);
    fibers[static_cast<std::size_t>(i)].stack_bytes = arena->stack_bytes();
  }
}

void BlockScheduler::State::begin(const BlockTask& next_task) {
  task = next_task;
  threads = static_cast<int>(volume(task.block_dim));
  const auto count = static_cast<std::size_t>(threads);
  const auto lanes = static_cast<std::size_t>(task.warp_size);
  const auto warps = (count + lanes - 1) / lanes;
  warp_shift = std::countr_zero(lanes);
  reserve_stacks();
  run.assign(count, Run::unstarted);
  fiber_of.assign(count, nullptr);
  wait.resize(count);
  warp_arrived.assign(warps, 0);
  warp_first.resize(warps);
  if (order.size() != count || task.order == ThreadOrder::shuffled) order.resize(count);
  std::iota(order.begin(), order.end(), 0);
  if (task.order == ThreadOrder::backward) std::reverse(order.begin(), order.end());
  seed = task.seed ^ (static_cast<std::uint64_t>(task.block.linear) << 32);
  draws = 0;
  if (task.order == ThreadOrder::shuffled) shuffle();
  arrived = finished = active_waiting = polls_in_round = quiet_rounds = 0;
  named.clear(), collective.clear(), active_of.clear(), polls.clear(), gate_waits.clear();
  unit_waits.clear();
  machine.reset();
  moved = round_may_end = false;
  round_length = threads;
  rest = {};
  cancelled = abandoned = false;
  failure = nullptr;
  taken_by = Fault::none;
  cluster = nullptr;
  suspended = nullptr;
  cursor = rank = come_to_cluster = 0;
  at_cluster.clear();
  is_polling = false;
  stopping = false;
  idle.clear();
  for (int i = threads; i-- > 0;) idle.push_back(&fibers[static_cast<std::size_t>(i)]);
  shared.reserve(std::max<std::size_t>(task.shared_bytes, 1));
  std::memset(shared.data, 0xff, task.shared_bytes);
  exchange.reserve(2 * warps * lanes * detail::kSlotBytes);
  scratch.reserve(warps * warp_scratch_bytes);
  if (task.observer != nullptr) task.observer->begins(shared.data);
}

void BlockScheduler::State::shuffle() {
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random_bits(seed, draws++) % i]);
}

}  // namespace tessera
