// Aligns the events of a warp's lanes into warp instructions and counts these. If the lanes
// diverge, order.hpp decides which go first and where they join again. See block/recorder.hpp.
#include <algorithm>
#include <bit>
#include <utility>

#include "check/block/recorder.hpp"

namespace tessera::check {

namespace {

/// Where the counters of an access are.
struct Columns {
  std::int64_t Counters::*requests;
  std::int64_t Counters::*transfers;
  std::int64_t Counters::*ideal;  ///< null: not counted
  std::int64_t Counters::*bytes;
};

Columns columns_of(EventKind kind, Memory memory) {
  using C = Counters;
  const bool is_shared = memory == Memory::shared;
  switch (kind) {
    case EventKind::load:
    case EventKind::atomic_load:
      return is_shared ? Columns{&C::shared_load_requests, &C::shared_load_wavefronts,
                                 &C::shared_load_wavefronts_ideal, &C::shared_load_bytes}
                       : Columns{&C::global_load_requests, &C::global_load_sectors,
                                 &C::global_load_sectors_ideal, &C::global_load_bytes};
    case EventKind::store:
      return is_shared ? Columns{&C::shared_store_requests, &C::shared_store_wavefronts,
                                 &C::shared_store_wavefronts_ideal, &C::shared_store_bytes}
                       : Columns{&C::global_store_requests, &C::global_store_sectors,
                                 &C::global_store_sectors_ideal, &C::global_store_bytes};
    case EventKind::atomic:
      return is_shared
                 ? Columns{&C::shared_atomic_requests, &C::shared_atomic_wavefronts, nullptr,
                           nullptr}
                 : Columns{&C::global_atomic_requests, &C::global_atomic_sectors, nullptr, nullptr};
    case EventKind::async_load:  // the request is counted at its write
      return {nullptr, &C::async_copy_sectors, nullptr, &C::async_copy_bytes};
    default: return {&C::async_copy_requests, &C::async_copy_wavefronts, nullptr, nullptr};
  }
}

}  // namespace

void BlockRecorder::drain_all() {
  for (int warp = 0; warp < warps_; ++warp) drain(warp);
  if (rules_) resolve_uninitialized();
}

Heads BlockRecorder::heads_of(int first, int lanes) const {
  Heads out;
  for (int lane = 0; lane < lanes; ++lane) {
    const EventLog& log = logs_[static_cast<std::size_t>(first + lane)];
    out.next[lane] = log.begin(), out.end[lane] = log.end();
    if (log.begin() != log.end()) out.left |= std::uint64_t{1} << lane;
  }
  return out;
}

bool BlockRecorder::are_together(const Heads& heads) {
  const AccessPoint* const point = heads.next[std::countr_zero(heads.left)]->point;
  bool is_one = true;
  for (std::uint64_t rest = heads.left; rest != 0; rest &= rest - 1)
    is_one = is_one && heads.next[std::countr_zero(rest)]->point == point;
  return is_one;
}

void BlockRecorder::drain(int warp) {
  const bool was_in_kernel = in_kernel_.exchange(false);
  const int first = warp * warp_size_, lanes = std::min(warp_size_, threads_ - first);
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - lanes);
  const std::uint64_t open = open_[static_cast<std::size_t>(warp)];
  Heads heads = heads_of(first, lanes);
  bool looked_ahead = false;
  // A lane without events that is still active may come before all others.
  while (heads.left != 0 && (open & ~heads.left) == 0) {
    std::uint64_t active = heads.left;
    if (!are_together(heads)) [[unlikely]] {
      if (!std::exchange(looked_ahead, true)) order_.look_ahead(heads, open);
      active = order_.next_of(heads);
    }
    AccessPoint* const point = heads.next[std::countr_zero(active)]->point;
    for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const Event& event = *heads.next[lane]++;
      offset_[lane] = event.offset;
      bits_[lane] = event.bits;
      if (heads.next[lane] == heads.end[lane]) heads.left &= ~(std::uint64_t{1} << lane);
    }
    instruction(*point, warp, active, all);
  }
  for (int lane = 0; lane < lanes; ++lane)
    logs_[static_cast<std::size_t>(first + lane)].drop_before(heads.next[lane]);
  in_kernel_ = was_in_kernel;
}

AccessPoint& BlockRecorder::point_of(const char* file, std::uint64_t key) {
  auto& known = point_index_[{file, key}];
  if (known == nullptr) {
    points_.push_back(std::make_unique<AccessPoint>());
    known = points_.back().get();
    known->file = file;
    known->key = key;
    known->site = site_of({file, line_of(key), column_of(key)});
  }
  return *known;
}

void BlockRecorder::instruction(AccessPoint& point, int warp, std::uint64_t active,
                                std::uint64_t all) {
  const EventKind kind = kind_of(point.key);
  const int first = warp * warp_size_;
  if (kind == EventKind::order) {
    for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      replayed_[static_cast<std::size_t>(first + lane)] = static_cast<std::uint32_t>(bits_[lane]);
    }
    return;
  }
  if (kind == EventKind::commit || kind == EventKind::wait) {
    for (std::uint64_t rest = active; rules_ && rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (kind == EventKind::commit) commit_async(first + lane);
      else wait_async(first + lane, static_cast<int>(bits_[lane]));
    }
    return;
  }
  if (!passed_by_.empty()) [[unlikely]]
    find_passed_by(point, warp, active);
  count(point, warp, active, all);
  const int number = region_of(point.key);
  if (number != kSharedRegion) cover(number, counted_kind(point), bytes_of(point.key), active);
  const bool is_judged = number == kSharedRegion && async_rules_.is_on();  // when it was recorded
  if (rules_ && region(number).is_output && !is_judged) judge(point, warp, active);
}

BlockRecorder::Cost BlockRecorder::cost_of(const AccessPoint& point, std::uint64_t active) const {
  const EventKind kind = kind_of(point.key);
  const Region& r = region(region_of(point.key));
  Cost out;
  for (int half = 0; half < warp_size_ / kWarpLanes; ++half) {
    const auto lanes = static_cast<std::uint32_t>(active >> half * kWarpLanes);
    if (lanes == 0) continue;
    // The first byte of a tensor counts as aligned to 256, as if it were allocated on a GPU.
    const WarpAccess access{offset_ + half * kWarpLanes, bytes_of(point.key), lanes};
    if (r.memory == Memory::shared) {
      const SharedCost cost = kind == EventKind::load          ? shared_load(access)
                              : kind == EventKind::async_store ? shared_async_copy(access)
                                                               : shared_store(access);
      out.transfers += cost.wavefronts, out.ideal += cost.ideal;
      out.is_merged = out.is_merged || cost.basis == Basis::merging;
    } else {
      const GlobalCost cost = global_access(access);
      out.transfers += cost.sectors, out.ideal += cost.ideal;
    }
  }
  return out;
}

void BlockRecorder::count(AccessPoint& point, int warp, std::uint64_t active, std::uint64_t all) {
  const EventKind kind = counted_kind(point);
  const Columns columns = columns_of(kind, region(region_of(point.key)).memory);
  const Cost cost = cost_of(point, active);
  Site& site = sites_[point.site];
  site.used = true;
  for (Counters* counters : {&site.counters, &epoch_counters_}) {
    if (columns.requests != nullptr) {
      ++(counters->*columns.requests);
      counters->partial_requests += active != all ? 1 : 0;
      counters->active_lanes += std::popcount(active);
      counters->merged_load_requests += cost.is_merged ? 1 : 0;
    }
    counters->*columns.transfers += cost.transfers;
    if (columns.ideal != nullptr) counters->*columns.ideal += cost.ideal;
    if (columns.bytes != nullptr)
      counters->*columns.bytes += std::int64_t{std::popcount(active)} * bytes_of(point.key);
  }
  AccessSample& sample = point.sample;
  ++sample.requests;
  const std::uint64_t at = offset_[std::countr_zero(active)];
  point.first_byte = std::min(point.first_byte, at),
  point.last_byte = std::max(point.last_byte, at);
  sample.all_transfers += cost.transfers;
  if (sample.lanes.empty() || cost.transfers > sample.transfers)
    take_sample(point, warp, active, cost);
}

void BlockRecorder::take_sample(AccessPoint& point, int warp, std::uint64_t active,
                                const Cost& cost) {
  const EventKind kind = counted_kind(point);
  const int number = region_of(point.key);
  const Region& r = region(number);
  AccessSample& sample = point.sample;
  sample.memory = r.memory;
  sample.bytes = bytes_of(point.key);
  sample.is_store = kind == EventKind::store || kind == EventKind::async_store;
  sample.is_atomic = kind == EventKind::atomic;
  sample.is_async = kind == EventKind::async_load || kind == EventKind::async_store;
  sample.transfers = cost.transfers, sample.ideal = cost.ideal;
  sample.block = block_;
  sample.warp = warp;
  sample.lanes.assign(static_cast<std::size_t>(warp_size_), -1);
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    sample.lanes[static_cast<std::size_t>(lane)] = static_cast<std::int64_t>(offset_[lane]);
  }
  Mistake place;
  locate(place, number, offset_[std::countr_zero(active)]);
  sample.tensor = place.tensor;
}

void BlockRecorder::cover(int number, EventKind kind, int bytes, std::uint64_t active) {
  const auto element = touch_bytes(
      context_.launch, context_.launch.buffers[static_cast<std::size_t>(region(number).buffer)]);
  Touches& touches = touches_[static_cast<std::size_t>(number)];
  const bool reads =
      kind == EventKind::load || kind == EventKind::async_load || kind == EventKind::atomic_load;
  const std::uint8_t how = reads                       ? Touches::kRead
                           : kind == EventKind::atomic ? Touches::kUpdated
                                                       : Touches::kWritten;
  const auto to_last = static_cast<std::uint64_t>(bytes) - 1;
  const int shift = std::has_single_bit(element) ? std::countr_zero(element) : -1;
  const auto number_of = [&](std::uint64_t offset) {
    return shift >= 0 ? offset >> shift : offset / element;
  };
  std::uint64_t before = ~std::uint64_t{0};
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const std::uint64_t offset = offset_[std::countr_zero(rest)];
    // another lane has read it already
    if (reads && std::exchange(before, offset) == offset) continue;
    for (std::uint64_t at = number_of(offset); at <= number_of(offset + to_last); ++at)
      touches.add(at, how);
  }
}

void BlockRecorder::cover_element(int number, std::uint64_t offset, std::uint8_t how) {
  const auto element =
      context_.launch.buffers[static_cast<std::size_t>(region(number).buffer)].element_bytes;
  touches_[static_cast<std::size_t>(number)].add(offset / element, how);
}

void BlockRecorder::close_superstep(const std::string& label) {
  auto found = std::find_if(supersteps_.begin(), supersteps_.end(),
                            [&](const auto& each) { return each.name == label; });
  if (found == supersteps_.end()) {
    supersteps_.push_back({label, 0, {}});
    found = supersteps_.end() - 1;
  }
  ++found->times;
  count_multiply_adds();
  add_flops(epoch_counters_);
  found->counters += epoch_counters_;
  epoch_counters_ = {};
}

void BlockRecorder::label_mistakes(const std::string& label) {
  for (; unlabelled_ < mistakes_.size(); ++unlabelled_) {
    auto& superstep = mistakes_[unlabelled_].superstep;
    if (superstep.empty()) superstep = label;
  }
}

}  // namespace tessera::check
