// Order between threads other than by the barriers of block and warp: fences with atomics, barriers
// of some threads. See clocks.hpp and block/recorder.hpp.
#include <algorithm>
#include <bit>
#include <cstring>

#include "block/recorder.hpp"
#include "simt/residents.hpp"

namespace tessera::check {

using tessera::detail::Access;
using tessera::detail::Trait;

void BlockRecorder::await_earlier_blocks(const void* address) {
  if (has_awaited_earlier_ || failed_ || is_shared(address)) return;
  // Nothing may stop the wait: the earlier blocks end at the time limit.
  const bool was_in_kernel = in_kernel_.exchange(false);
  residents_->await_earlier();
  in_kernel_ = was_in_kernel;
  has_awaited_earlier_ = true;
  require_time();
}

void BlockRecorder::begin_order() {
  if (!orders_.empty()) return;
  orders_.resize(static_cast<std::size_t>(threads_));
  replayed_.assign(static_cast<std::size_t>(threads_), 0);
  stamps_.assign(1, {});
  for (std::size_t number = kSharedRegion; number < shadows_.size(); ++number) {
    Shadow& cells = shadows_[number];
    cells.for_each([&](std::uint64_t i, const Cell& cell) {
      if (cell.touched())
        take_marks(cell, number == kSharedRegion,
                   pasts_[{static_cast<int>(number), i * cells.piece()}]);
    });
  }
}

void BlockRecorder::add_stamp(int thread) {
  const Ordering& mine = orders_[static_cast<std::size_t>(thread)];
  stamps_.push_back({mine.tick, mine.before, joined(mine.read, mine.read_near)});
}

void BlockRecorder::stamp_running(Here here) {
  if (failed_) return;
  add_stamp(thread_);
  log({0, &point_of(here.file, key_of(here, EventKind::order, 0, 1)), stamps_.size() - 1});
}

void BlockRecorder::mark(Here here, Trait trait) {
  Site& site = sites_[site_of(here)];
  (trait == Trait::of_block      ? site.of_block
   : trait == Trait::is_volatile ? site.is_volatile
                                 : site.uses_value) = true;
}

std::shared_ptr<Clock> BlockRecorder::end_tick() {
  auto own = std::make_shared<Clock>();
  const int warp = warp_of(thread_);
  own->add_epochs(block_.linear, epoch_);
  own->add_thread(block_.linear, thread_, ++orders_[static_cast<std::size_t>(thread_)].tick);
  own->add_warp(block_.linear, warp, warp_epoch_[static_cast<std::size_t>(warp)]);
  return own;
}

void BlockRecorder::fence(Here here) {
  if (!rules_ || failed_) return;
  context_.order->has_fences = true;
  begin_order();
  async_rules_.fence();
  Ordering& mine = orders_[static_cast<std::size_t>(thread_)];
  const bool of_block = sites_[site_of(here)].of_block;
  if (of_block && near_fence_.line == 0) near_fence_ = here;
  mine.before = joined(mine.before, mine.read_near);
  if (!of_block) mine.before = joined(mine.before, mine.read);
  mine.fenced_near = joined(joined(mine.fenced_near, mine.before), end_tick());
  if (!of_block) mine.fenced = mine.fenced_near;
  stamp_running(here);
}

void BlockRecorder::releases(const void* address, Here here) {
  if (!rules_ || failed_ || orders_.empty()) return;
  async_rules_.releases(address);
  const Ordering& mine = orders_[static_cast<std::size_t>(thread_)];
  if (mine.fenced_near != nullptr) near_releases_.release(address, mine.fenced_near);
  if (mine.fenced == nullptr || is_shared(address) || sites_[site_of(here)].of_block) return;
  const std::lock_guard lock(context_.order->mutex);
  context_.order->releases.release(address, mine.fenced);
}

void BlockRecorder::acquires(const void* address, Here here) {
  if (!rules_ || failed_) return;
  if (Event* const last = log_->last();
      last != nullptr && kind_of(last->point->key) == EventKind::atomic &&
      UpdateNumbers::of(last->bits).before != UpdateNumbers::kNone)
    last->bits =
        UpdateNumbers{UpdateNumbers::of(last->bits).before, context_.order->next_number()}.bits();
  async_rules_.acquires(address);
  const ClockPtr near = near_releases_.at(address);
  ClockPtr there;
  if (!is_shared(address) && !sites_[site_of(here)].of_block) {
    const std::lock_guard lock(context_.order->mutex);
    there = context_.order->releases.at(address);
  }
  if (near == nullptr && there == nullptr) return;
  begin_order();
  Ordering& mine = orders_[static_cast<std::size_t>(thread_)];
  const ClockPtr read_near = joined(mine.read_near, near), read = joined(mine.read, there);
  if (read_near == mine.read_near && read == mine.read) return;
  mine.read_near = read_near, mine.read = read;
  stamp_running(here);
}

void BlockRecorder::follow(Here here) {
  *my_last_here_ = here;
  if (rules_ && !orders_.empty()) stamp_running(here);
}

void BlockRecorder::ends_in_cluster() {
  auto& all = async_rules_.cluster().ended.order;
  if (all == nullptr) all = std::make_shared<Clock>();
  all->join(*end_tick());
}

void BlockRecorder::comes_to_cluster(int thread) {
  if (!rules_ || failed_) return;
  begin_order();
  cluster_rounds_.resize(static_cast<std::size_t>(threads_));
  const std::int64_t number = ++cluster_rounds_[static_cast<std::size_t>(thread)];
  async_rules_.comes_to_cluster(thread, number);
  Ordering& mine = orders_[static_cast<std::size_t>(thread)];
  mine.before = joined(joined(mine.before, mine.read), mine.read_near);
  auto& all = async_rules_.cluster().meeting(number).order;
  if (all == nullptr) all = std::make_shared<Clock>();
  if (mine.before != nullptr) all->join(*mine.before);
  all->join(*end_tick());
  stamp_running(last_here_[static_cast<std::size_t>(thread)]);
}

void BlockRecorder::passes_cluster(int thread, const Here& here) {
  if (!rules_ || failed_) return;
  const std::int64_t number = cluster_rounds_[static_cast<std::size_t>(thread)];
  async_rules_.passes_cluster(thread, number);
  const ClusterRules& cluster = async_rules_.cluster();
  const auto& all = cluster.meetings.at(number).order;
  if (cluster.ended.order != nullptr) all->join(*cluster.ended.order);
  Ordering& mine = orders_[static_cast<std::size_t>(thread)];
  mine.before = joined(mine.before, all);
  mine.read = joined(mine.read, mine.before);
  follow(here);
}

void BlockRecorder::join_orders(const std::vector<int>& threads, const ClockPtr& own) {
  Ordering all{0, own, own, {}, {}, {}};
  for (const int each : threads) {
    const Ordering& theirs = orders_[static_cast<std::size_t>(each)];
    all.before = joined(all.before, theirs.before);
    all.read = joined(all.read, theirs.read);
    all.read_near = joined(all.read_near, theirs.read_near);
    all.fenced = joined(all.fenced, theirs.fenced);
    all.fenced_near = joined(all.fenced_near, theirs.fenced_near);
  }
  all.read = joined(all.read, all.before);
  for (const int each : threads) {
    Ordering& mine = orders_[static_cast<std::size_t>(each)];
    all.tick = mine.tick;
    mine = all;
  }
}

void BlockRecorder::join_all(int first, int count) {
  if (orders_.empty()) return;
  std::vector<int> threads;
  for (int i = 0; i < count; ++i) threads.push_back(first + i);
  join_orders(threads, nullptr);
  for (const int each : threads) {  // their logs are empty: this orders their next events
    add_stamp(each);
    replayed_[static_cast<std::size_t>(each)] = static_cast<std::uint32_t>(stamps_.size() - 1);
  }
}

void BlockRecorder::group_met(const std::vector<int>& threads, const char* verb, bool is_named,
                              const Here& here) {
  const auto met = static_cast<std::size_t>(warp_of(threads.front()));
  if (verb == nullptr && !is_named &&
      static_cast<int>(threads.size()) == std::popcount(alive_[met]))
    return warp_met(static_cast<int>(met), nullptr, here);  // all that there are
  for (const int each : threads)
    open_[static_cast<std::size_t>(warp_of(each))] |= std::uint64_t{1} << (each & (warp_size_ - 1));
  const bool is_cluster = verb != nullptr && std::strcmp(verb, "cluster") == 0;
  if (verb != nullptr && std::strcmp(verb, "active mask") == 0) return;
  Counters& counters = counters_at(here);
  const auto add = [&](std::int64_t Counters::*which) {
    ++(counters.*which);
    ++(epoch_counters_.*which);
  };
  if (is_cluster) return add(&Counters::block_barriers);
  if (verb != nullptr)
    return add(std::strcmp(verb, "ballot") == 0 ? &Counters::votes : &Counters::shuffles);
  add(is_named ? &Counters::block_barriers : &Counters::warp_barriers);
  if (!rules_) return;
  begin_order();
  auto own = std::make_shared<Clock>();
  for (const int each : threads) {
    const int warp = warp_of(each);
    own->add_thread(block_.linear, each, ++orders_[static_cast<std::size_t>(each)].tick);
    own->add_warp(block_.linear, warp, warp_epoch_[static_cast<std::size_t>(warp)]);
  }
  join_orders(threads, own);
  async_rules_.meet(threads);
}

Past BlockRecorder::past_of(const LaneAccess& access, Access how) const {
  const int warp = warp_of(access.thread);
  const Stamp& stamp = stamps_[replayed_[static_cast<std::size_t>(access.thread)]];
  return {{block_.linear, epoch_, warp_epoch_[static_cast<std::size_t>(warp)], stamp.tick,
           access.thread, warp},
          how,
          access.site,
          sites_[access.site].of_block,
          sites_[access.site].is_volatile,
          access.bits,
          stamp.before,
          stamp.read};
}

void BlockRecorder::keep_read(int number, const BulkMove& move, int thread, Here here) {
  const BulkFields& f = move.fields;
  const std::int64_t x = std::max<std::int64_t>(0, move.x), y = std::max<std::int64_t>(0, move.y);
  const std::int64_t cols = std::min<std::int64_t>(f.extent[0], move.x + f.box[0]) - x,
                     rows = std::min<std::int64_t>(f.extent[1], move.y + f.box[1]) - y;
  if (cols <= 0 || rows <= 0) return;
  const std::uint64_t first = reinterpret_cast<std::uint64_t>(f.data) - region(number).begin;
  BoxRead read{
      number,         first + static_cast<std::uint64_t>(y * f.stride_bytes + x * f.element_bytes),
      f.stride_bytes, f.element_bytes,
      cols,           rows,
      here,           {}};
  const LaneAccess access{number, f.element_bytes, thread, read.offset, 0, site_of(here)};
  if (orders_.empty()) read.past.when.block = block_.linear, read.past.when.thread = thread;
  else in_current_order(thread, [&] { read.past = past_of(access, Access::load); });
  box_reads_.push_back(std::move(read));
}

void BlockRecorder::number_update(const LaneAccess& access, Past& past) {
  const std::tuple element(access.region, access.offset, access.thread);
  if (past.how == Access::atomic) {
    const UpdateNumbers numbers = UpdateNumbers::of(access.bits);
    past.number = numbers.before;
    if (past.is_volatile || numbers.before == UpdateNumbers::kNone)
      updated_.erase(element);  // it is ordered after no other update
    else updated_[element] = {numbers.after, past.of_block};
  } else if (past.how == Access::store) {
    const auto own = updated_.find(element);
    if (own != updated_.end())
      past.number = own->second.number, past.of_block = own->second.of_block;
  }
}

std::vector<Past>& BlockRecorder::pasts_at(const LaneAccess& piece) {
  return pasts_[{piece.region, piece.offset}];
}

void BlockRecorder::take_marks(const Cell& cell, bool is_of_block, std::vector<Past>& pasts) const {
  const auto take = [&](const Marks& marks, Access how) {
    if (!marks.any() || (is_of_block && marks.epoch != epoch_)) return;
    for (int i = 0; i < 2; ++i) {
      if (marks.thread[i] == Marks::kNobody) continue;
      const int thread = marks.thread[i], warp = warp_of(thread);
      // The time of a second one in another warp is unknown.
      const std::uint32_t time = warp == warp_of(marks.thread[0]) ? marks.warp_epoch : 0;
      pasts.push_back({{block_.linear, marks.epoch, time, 0, thread, warp},
                       how,
                       marks.site[i],
                       sites_[marks.site[i]].of_block,
                       sites_[marks.site[i]].is_volatile,
                       cell.bits,
                       {},
                       {}});
    }
  };
  take(cell.write, Access::store);
  take(cell.update, Access::atomic);
  take(cell.read, Access::load);
}

bool BlockRecorder::meet_pasts(const LaneAccess& access, Access how) {
  auto& pasts = pasts_at(access);
  Past mine = past_of(access, how);
  number_update(access, mine);
  bool raced = false;
  for (const Past& each : pasts) {
    if (each.when.epoch != epoch_ || each.when.thread == access.thread) continue;
    const bool one_warp = each.when.warp == mine.when.warp;
    // Lanes that alternately exchange volatile values of shared memory rely on lockstep execution.
    const bool in_step = one_warp && access.region == kSharedRegion && each.is_volatile &&
                         mine.is_volatile && each.site != mine.site &&
                         (each.how == Access::atomic || how == Access::atomic);
    if (!conflict(each, mine) && !in_step) continue;
    if (one_warp && each.when.warp_epoch != mine.when.warp_epoch) continue;
    const Order order = order_of(each, mine);
    if (order == Order::ordered || async_rules_.is_on()) continue;
    raced = true;
    const bool same_value =
        each.how == Access::store && how == Access::store && each.bits == access.bits;
    report_race({each.when.thread, each.site, each.how}, access, how, one_warp, same_value, order);
  }
  const bool is_shared_memory = access.region == kSharedRegion;
  std::erase_if(pasts, [&](const Past& each) {  // this one covers it as well
    const bool is_older = each.when.epoch < epoch_;
    return (is_older && is_shared_memory) ||
           (each.how == how && each.of_block == mine.of_block && each.before == mine.before &&
            each.read == mine.read &&
            (is_older || (each.when.thread == access.thread && each.when.tick == mine.when.tick &&
                          each.when.warp_epoch == mine.when.warp_epoch)));
  });
  pasts.push_back(mine);
  return raced;
}

bool BlockRecorder::is_written_before(const LaneAccess& piece, const Past& reader) {
  const auto& pasts = pasts_at(piece);
  return std::any_of(pasts.begin(), pasts.end(), [&](const Past& each) {
    const bool writes =
        each.how == Access::store || (each.how == Access::atomic && reader.how != Access::atomic);
    return writes && each.when.thread != reader.when.thread && !covers(each.before, reader.when);
  });
}

void BlockRecorder::note_atomic(const LaneAccess& access) {
  for (auto& each : atomics_) {
    if (each.region != access.region || each.offset != access.offset) continue;
    if (each.epoch != epoch_) each.threads.assign(each.threads.size(), false);
    each.epoch = epoch_;
    each.threads[static_cast<std::size_t>(access.thread)] = true;
    return;
  }
  const Site& site = sites_[access.site];
  if (!are_few(site.is_volatile)) return;
  atomics_.push_back({access.region, access.offset, site.here,
                      std::vector<bool>(static_cast<std::size_t>(threads_)), epoch_,
                      site.is_volatile});
  atomics_.back().threads[static_cast<std::size_t>(access.thread)] = true;
}

bool BlockRecorder::are_few(bool are_volatile) const {
  constexpr std::ptrdiff_t kMost = 4;  // more are no flags, locks or counters
  return std::count_if(atomics_.begin(), atomics_.end(), [&](const AtomicAt& each) {
           return each.is_volatile == are_volatile;
         }) <= kMost;
}

Here BlockRecorder::atomic_between(int a, int b) const {
  for (const auto& each : atomics_) {
    if (each.epoch == epoch_ && each.threads[static_cast<std::size_t>(a)] &&
        each.threads[static_cast<std::size_t>(b)] && are_few(each.is_volatile))
      return each.here;
  }
  return {};
}

void BlockRecorder::collect_order(BlockResult& out) {
  for (const auto& each : atomics_) {
    if (each.region != kSharedRegion && are_few(each.is_volatile))
      out.atomics.push_back({each.region, each.offset, each.here});
  }
  out.near_fence = near_fence_;
  if (orders_.empty()) return;
  out.is_ordered = true;
  for (auto& [place, pasts] : pasts_) {
    if (place.first == kSharedRegion) continue;
    for (auto& each : pasts)
      out.ordered.push_back({place.first, place.second, sites_[each.site].here, std::move(each)});
  }
}

}  // namespace tessera::check
