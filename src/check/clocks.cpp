// Joins and compares clocks: see clocks.hpp.
#include "clocks.hpp"

#include <algorithm>

namespace tessera::check {

using tessera::detail::Access;

namespace {
bool raise(std::uint32_t& known, std::uint32_t value) {
  if (value <= known) return false;
  known = value;
  return true;
}
}  // namespace

void Clock::add_epochs(std::int64_t block, std::uint32_t epoch) {
  raise(seen_[block].epoch, epoch);
}
void Clock::add_thread(std::int64_t block, int thread, std::uint32_t tick) {
  raise(seen_[block].parts[thread], tick);
}
void Clock::add_warp(std::int64_t block, int warp, std::uint32_t warp_epoch) {
  raise(seen_[block].parts[-1 - warp], warp_epoch);
}

bool Clock::join(const Clock& other) {
  bool is_new = false;
  for (const auto& [block, theirs] : other.seen_) {
    Seen& mine = seen_[block];
    is_new = raise(mine.epoch, theirs.epoch) || is_new;
    for (const auto& [part, time] : theirs.parts) is_new = raise(mine.parts[part], time) || is_new;
  }
  return is_new;
}

bool Clock::covers(const Moment& moment) const {
  const auto found = seen_.find(moment.block);
  if (found == seen_.end()) return false;
  const Seen& seen = found->second;
  if (moment.epoch < seen.epoch) return true;
  const auto before = [&](int part, std::uint32_t time) {
    const auto at = seen.parts.find(part);
    return at != seen.parts.end() && time < at->second;
  };
  return before(moment.thread, moment.tick) || before(-1 - moment.warp, moment.warp_epoch);
}

ClockPtr joined(const ClockPtr& a, const ClockPtr& b) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr) return b;
  auto both = std::make_shared<Clock>(*a);
  return both->join(*b) ? ClockPtr(std::move(both)) : a;
}

void Releases::release(const void* address, const ClockPtr& clock) {
  ClockPtr& known = clocks_[address];
  known = joined(known, clock);
}

ClockPtr Releases::at(const void* address) const {
  const auto found = clocks_.find(address);
  return found == clocks_.end() ? nullptr : found->second;
}

bool conflict(Access a, Access b) {
  const auto writes = [](Access how) { return how == Access::store || how == Access::atomic; };
  const auto is_atomic = [](Access how) {
    return how == Access::atomic || how == Access::atomic_load;
  };
  return (writes(a) || writes(b)) && !(is_atomic(a) && is_atomic(b));
}

bool conflict(const Past& a, const Past& b) {
  if (conflict(a.how, b.how)) return true;
  const bool reaches = a.when.block == b.when.block || !(a.of_block || b.of_block);
  return !reaches && (a.how == Access::atomic || b.how == Access::atomic);
}

namespace {
/// Updates of one element form a chain: each sees all before it. So none of them can overwrite a
/// store by the thread whose update came last.
bool ends_the_chain(const Past& store, const Past& update) {
  const bool reaches =
      store.when.block == update.when.block || !(store.of_block || update.of_block);
  return store.how == Access::store && update.how == Access::atomic && reaches &&
         update.turn < store.turn;
}
}  // namespace

Order order_of(const Past& a, const Past& b) {
  if (ends_the_chain(a, b) || ends_the_chain(b, a)) return Order::ordered;
  if (covers(b.before, a.when) || covers(a.before, b.when)) return Order::ordered;
  // An atomic load never sees an older value than an earlier atomic of its thread.
  const auto after = [](const Past& later, const Past& earlier) {
    return covers(later.read, earlier.when);
  };
  if (after(b, a)) return b.how == Access::atomic_load ? Order::ordered : Order::lacks_acquire;
  if (after(a, b)) return a.how == Access::atomic_load ? Order::ordered : Order::lacks_acquire;
  return Order::none;
}

}  // namespace tessera::check
