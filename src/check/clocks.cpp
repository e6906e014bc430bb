// Joins and compares clocks: see clocks.hpp.
#include "clocks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tessera::check {

using tessera::detail::Access;

namespace {
void raise(std::uint32_t& known, std::uint32_t value) { known = std::max(known, value); }

/// The first entry of a sorted list that is not before the key.
template <class List, class Key>
auto place_in(List& list, Key key) {
  return std::lower_bound(list.begin(), list.end(), key,
                          [](const auto& entry, Key wanted) { return entry.first < wanted; });
}
}  // namespace

std::uint32_t& Clock::Seen::time_of(int part) {
  const auto at = place_in(parts, part);
  return (at != parts.end() && at->first == part ? at : parts.insert(at, {part, 0}))->second;
}

bool Clock::Seen::includes(const Seen& other) const {
  if (other.epoch > epoch || other.parts.size() > parts.size()) return false;
  auto at = parts.begin();
  for (const auto& [part, time] : other.parts) {
    while (at != parts.end() && at->first < part) ++at;
    if (at == parts.end() || at->first != part || at->second < time) return false;
  }
  return true;
}

void Clock::Seen::join(const Seen& other) {
  raise(epoch, other.epoch);
  for (const auto& [part, time] : other.parts) raise(time_of(part), time);
}

Clock::Seen& Clock::own(std::int64_t block) {
  auto at = place_in(seen_, block);
  if (at == seen_.end() || at->first != block)
    at = seen_.insert(at, {block, std::make_shared<Seen>()});
  if (at->second.use_count() > 1) at->second = std::make_shared<Seen>(*at->second);
  return *at->second;
}

void Clock::add_epochs(std::int64_t block, std::uint32_t epoch) { raise(own(block).epoch, epoch); }
void Clock::add_thread(std::int64_t block, int thread, std::uint32_t tick) {
  raise(own(block).time_of(thread), tick);
}
void Clock::add_warp(std::int64_t block, int warp, std::uint32_t warp_epoch) {
  raise(own(block).time_of(-1 - warp), warp_epoch);
}

void Clock::join(std::shared_ptr<Seen>& mine, const std::shared_ptr<Seen>& theirs) {
  if (mine == theirs || mine->includes(*theirs)) return;
  if (!theirs->includes(*mine)) {
    auto both = std::make_shared<Seen>(*mine);
    both->join(*theirs);
    mine = std::move(both);
  } else {
    mine = theirs;
  }
}

void Clock::join(const Clock& other) {
  std::vector<Of> both;
  both.reserve(seen_.size() + other.seen_.size());
  auto at = seen_.begin();
  for (const Of& theirs : other.seen_) {
    while (at != seen_.end() && at->first < theirs.first) both.push_back(std::move(*at++));
    const bool is_known = at != seen_.end() && at->first == theirs.first;
    both.push_back(is_known ? std::move(*at++) : theirs);
    if (is_known) join(both.back().second, theirs.second);
  }
  std::move(at, seen_.end(), std::back_inserter(both));
  seen_ = std::move(both);
}

bool Clock::includes(const Clock& other) const {
  if (other.seen_.size() > seen_.size()) return false;
  auto at = seen_.begin();
  for (const auto& [block, theirs] : other.seen_) {
    while (at != seen_.end() && at->first < block) ++at;
    if (at == seen_.end() || at->first != block) return false;
    if (at->second != theirs && !at->second->includes(*theirs)) return false;
  }
  return true;
}

bool Clock::covers(const Moment& moment) const {
  const auto found = place_in(seen_, moment.block);
  if (found == seen_.end() || found->first != moment.block) return false;
  const Seen& seen = *found->second;
  if (moment.epoch < seen.epoch) return true;
  const auto before = [&](int part, std::uint32_t time) {
    const auto at = place_in(seen.parts, part);
    return at != seen.parts.end() && at->first == part && time < at->second;
  };
  return before(moment.thread, moment.tick) || before(-1 - moment.warp, moment.warp_epoch);
}

ClockPtr joined(const ClockPtr& a, const ClockPtr& b) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr) return b;
  if (a->includes(*b)) return a;
  if (b->includes(*a)) return b;
  auto both = std::make_shared<Clock>(*a);
  both->join(*b);
  return both;
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
         update.number < store.number;
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
