// Aligns what the lanes of a warp have done into the instructions that a warp carries out, and
// counts these. Where the lanes part, those with the smallest key go first, as on a GPU, which
// continues with the earliest code: the others wait for them and join again. See
// block_recorder.hpp.
#include <algorithm>
#include <bit>

#include "block_recorder.hpp"

namespace tessera::check {

namespace {

/// Where the counters of an access are.
struct Columns {
  std::int64_t Counters::*requests;
  std::int64_t Counters::*transfers;
  std::int64_t Counters::*ideal;  ///< null: not kept
  std::int64_t Counters::*bytes;
};

Columns columns_of(EventKind kind, Memory memory) {
  using C = Counters;
  const bool is_shared = memory == Memory::shared;
  switch (kind) {
    case EventKind::load:
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
    case EventKind::async_load:  // the request is counted where it writes
      return {nullptr, &C::async_copy_sectors, nullptr, &C::async_copy_bytes};
    default: return {&C::async_copy_requests, &C::async_copy_wavefronts, nullptr, nullptr};
  }
}

}  // namespace

void BlockRecorder::drain_all() {
  for (int warp = 0; warp < warps_; ++warp) drain(warp);
  if (rules_) resolve_uninitialized();
}

void BlockRecorder::drain(int warp) {
  const bool was_in_kernel = in_kernel_.exchange(false);
  const int first = warp * warp_size_, lanes = std::min(warp_size_, threads_ - first);
  const Event* next[64];
  const Event* end[64];
  std::uint64_t left = 0;  // lanes that have something left
  for (int lane = 0; lane < lanes; ++lane) {
    const EventLog& log = logs_[static_cast<std::size_t>(first + lane)];
    next[lane] = log.begin(), end[lane] = log.end();
    if (next[lane] != end[lane]) left |= std::uint64_t{1} << lane;
  }
  const std::uint64_t all = lanes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1;
  const auto take = [&](int lane) {
    address_[lane] = next[lane]->address;
    bits_[lane] = next[lane]->bits;
    if (++next[lane] == end[lane]) left &= ~(std::uint64_t{1} << lane);
  };
  while (left != 0) {
    const int leader = std::countr_zero(left);
    const char* file = next[leader]->file;
    std::uint64_t key = next[leader]->key;
    std::uint64_t active = 0;
    bool is_one = true;
    for (std::uint64_t rest = left; rest != 0; rest &= rest - 1) {
      const Event& event = *next[std::countr_zero(rest)];
      is_one = is_one && event.key == key && event.file == file;
    }
    if (is_one) {
      active = left;
    } else {
      for (std::uint64_t rest = left; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        const Event& event = *next[lane];
        if (event.key > key || (event.key == key && event.file != file && event.file > file))
          continue;
        if (event.key != key || event.file != file) active = 0, key = event.key, file = event.file;
        active |= std::uint64_t{1} << lane;
      }
    }
    for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) take(std::countr_zero(rest));
    instruction(file, key, warp, active, all);
  }
  for (int lane = 0; lane < lanes; ++lane) logs_[static_cast<std::size_t>(first + lane)].clear();
  in_kernel_ = was_in_kernel;
}

BlockRecorder::AccessPoint& BlockRecorder::point_of(const char* file, std::uint64_t key) {
  const std::uint64_t mixed = (key ^ key >> 40) * 0x9e3779b97f4a7c15u;
  AccessPoint*& cached = point_cache_[mixed >> 56];
  if (cached != nullptr && cached->key == key && cached->file == file) return *cached;
  auto& known = point_index_[{file, key}];
  if (known == nullptr) {
    points_.push_back(std::make_unique<AccessPoint>());
    known = points_.back().get();
    known->file = file;
    known->key = key;
    known->site = site_of({file, line_of(key), column_of(key)});
  }
  return *(cached = known);
}

void BlockRecorder::instruction(const char* file, std::uint64_t key, int warp, std::uint64_t active,
                                std::uint64_t all) {
  const EventKind kind = kind_of(key);
  const int first = warp * warp_size_;
  if (kind == EventKind::commit || kind == EventKind::wait) {
    for (std::uint64_t rest = active; rules_ && rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (kind == EventKind::commit) commit_async(first + lane);
      else wait_async(first + lane, static_cast<int>(bits_[lane]));
    }
    return;
  }
  AccessPoint& point = point_of(file, key);
  count(point, warp, active, all);
  const int number = region_of(key), bytes = bytes_of(key);
  if (number != kSharedRegion) cover(number, kind, bytes, active);
  if (!rules_ || !region(number).is_output) return;
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const LaneAccess access{number,
                            bytes,
                            first + lane,
                            address_[lane] - region(number).begin,
                            bits_[lane],
                            point.site,
                            kind == EventKind::atomic};
    if (kind == EventKind::load || kind == EventKind::async_load) read_by(access);
    else if (kind == EventKind::async_store) issue_async(access);
    else write_by(access);
  }
}

void BlockRecorder::count(AccessPoint& point, int warp, std::uint64_t active, std::uint64_t all) {
  const EventKind kind = kind_of(point.key);
  const Region& r = region(region_of(point.key));
  const bool is_shared = r.memory == Memory::shared;
  const int bytes = bytes_of(point.key);
  AccessSample& sample = point.sample;
  if (sample.requests == 0) {
    sample.memory = r.memory;
    sample.bytes = bytes;
    sample.is_store = kind == EventKind::store || kind == EventKind::async_store;
    sample.is_atomic = kind == EventKind::atomic;
    sample.is_async = kind == EventKind::async_load || kind == EventKind::async_store;
  }
  int transfers = 0, ideal = 0;
  bool is_merged = false;
  std::uint64_t from_start[kWarpLanes];
  for (int half = 0; half < warp_size_ / kWarpLanes; ++half) {
    const auto lanes = static_cast<std::uint32_t>(active >> half * kWarpLanes);
    if (lanes == 0) continue;
    const std::uint64_t* address = address_ + half * kWarpLanes;
    if (is_shared) {
      for (int lane = 0; lane < kWarpLanes; ++lane) from_start[lane] = address[lane] - r.begin;
      const WarpAccess access{from_start, bytes, lanes};
      const SharedCost cost = kind == EventKind::load          ? shared_load(access)
                              : kind == EventKind::async_store ? shared_async_copy(access)
                                                               : shared_store(access);
      transfers += cost.wavefronts, ideal += cost.ideal;
      is_merged = is_merged || cost.basis == Basis::merging;
    } else {
      const GlobalCost cost = global_access({address, bytes, lanes});
      transfers += cost.sectors, ideal += cost.ideal;
    }
  }
  const Columns columns = columns_of(kind, r.memory);
  Site& site = sites_[point.site];
  site.used = true;
  for (Counters* counters : {&site.counters, &epoch_counters_}) {
    if (columns.requests != nullptr) {
      ++(counters->*columns.requests);
      counters->partial_requests += active != all ? 1 : 0;
      counters->active_lanes += std::popcount(active);
      counters->merged_load_requests += is_merged ? 1 : 0;
    }
    counters->*columns.transfers += transfers;
    if (columns.ideal != nullptr) counters->*columns.ideal += ideal;
    if (columns.bytes != nullptr)
      counters->*columns.bytes += std::int64_t{std::popcount(active)} * bytes;
  }
  ++sample.requests;
  sample.all_transfers += transfers;
  if (!sample.lanes.empty() && transfers <= sample.transfers) return;
  sample.transfers = transfers, sample.ideal = ideal;
  sample.block = block_;
  sample.warp = warp;
  sample.base = static_cast<std::int64_t>(is_shared ? 0 : r.begin % 128);
  sample.lanes.assign(static_cast<std::size_t>(warp_size_), -1);
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    sample.lanes[static_cast<std::size_t>(lane)] =
        static_cast<std::int64_t>(address_[lane] - r.begin);
  }
  Mistake place;
  locate(place, region_of(point.key), address_[std::countr_zero(active)] - r.begin);
  sample.tensor = place.tensor;
}

void BlockRecorder::cover(int number, EventKind kind, int bytes, std::uint64_t active) {
  const Region& r = region(number);
  const auto element = context_.launch.buffers[static_cast<std::size_t>(r.buffer)].element_bytes;
  auto& touched = touches_[static_cast<std::size_t>(number)].elements;
  const bool reads = kind == EventKind::load || kind == EventKind::async_load;
  const int shift = std::has_single_bit(element) ? std::countr_zero(element) : -1;
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const std::uint64_t offset = address_[std::countr_zero(rest)] - r.begin;
    std::size_t at = shift >= 0 ? offset >> shift : offset / element;
    const std::size_t last = shift >= 0
                                 ? (offset + static_cast<std::uint64_t>(bytes) - 1) >> shift
                                 : (offset + static_cast<std::uint64_t>(bytes) - 1) / element;
    for (; at <= last; ++at) {
      auto& bits = touched[at];
      if (reads) bits |= Touches::kRead;
      else if (kind == EventKind::atomic) bits |= Touches::kUpdated;
      else bits |= (bits & Touches::kWritten) != 0 ? Touches::kWrittenAgain : Touches::kWritten;
    }
  }
}

void BlockRecorder::close_superstep(const std::string& label) {
  auto found = std::find_if(supersteps_.begin(), supersteps_.end(),
                            [&](const auto& each) { return each.name == label; });
  if (found == supersteps_.end()) {
    supersteps_.push_back({label, 0, {}});
    found = supersteps_.end() - 1;
  }
  ++found->times;
  found->counters += epoch_counters_;
  epoch_counters_ = {};
  for (; unlabelled_ < mistakes_.size(); ++unlabelled_) {
    auto& superstep = mistakes_[unlabelled_].superstep;
    if (superstep.empty()) superstep = label;
  }
}

}  // namespace tessera::check
