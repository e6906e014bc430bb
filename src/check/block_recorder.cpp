// Takes down what the threads of a block do, and reports what is wrong at once: addresses that are
// none, elements that are none, faults of the block. One class, kept whole: every kind of event
// meets the same state of the block. See block_recorder.hpp.
#include "block_recorder.hpp"

#include <algorithm>
#include <cstring>

namespace tessera::check {

using tessera::detail::Access;

namespace {

/// What the compiler fills variables without a value with (-ftrivial-auto-var-init=pattern).
bool is_unwritten_pattern(const void* at, std::size_t bytes) {
  if (bytes < 2) return false;
  std::uint64_t value = 0;
  std::memcpy(&value, at, std::min<std::size_t>(bytes, 8));
  const std::uint64_t mask = bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes * 8) - 1;
#if defined(__clang__)
  return value == (0xaaaaaaaaaaaaaaaau & mask) || (bytes >= 4 && value == mask);
#else
  return value == (0xfefefefefefefefeu & mask);
#endif
}

/// The largest piece of `bytes` that one access of a GPU moves.
std::size_t widest_piece(std::size_t bytes) {
  std::size_t piece = 16;
  while (bytes % piece != 0) piece /= 2;
  return piece;
}

}  // namespace

BlockRecorder::BlockRecorder(const RunContext& context)
    : context_(context), rules_(context.options.correctness) {
  threads_ = static_cast<int>(volume(context.launch.block));
  warp_size_ = context.launch.warp_size;
  warps_ = (threads_ + warp_size_ - 1) / warp_size_;
  regions_.push_back({});
  regions_.insert(regions_.end(), context.regions.begin(), context.regions.end());
  const auto count = static_cast<std::size_t>(threads_);
  logs_.resize(count);
  superstep_of_.resize(count);
  last_here_.resize(count);
  async_.resize(count);
  ended_lanes_.resize(static_cast<std::size_t>(warps_));
  warp_epoch_.resize(static_cast<std::size_t>(warps_));
  point_cache_.resize(kPointCache);
  touches_.resize(regions_.size());
  shadows_.resize(regions_.size());
  for (std::size_t i = kFirstBuffer; i < regions_.size(); ++i) {
    const Region& r = regions_[i];
    const std::size_t bytes =
        context.launch.buffers[static_cast<std::size_t>(r.buffer)].element_bytes;
    touches_[i].elements.resize(static_cast<std::size_t>(r.end - r.begin) / bytes + 1);
    if (rules_ && r.is_output)
      shadows_[i].reset(r.end - r.begin, std::bit_floor(std::min<std::size_t>(bytes, 8)));
  }
  sites_.push_back({});  // site 0: no place
}

void BlockRecorder::start(const Position& block) {
  block_ = block;
  for (auto& log : logs_) log.clear();
  std::fill(superstep_of_.begin(), superstep_of_.end(), nullptr);
  std::fill(ended_lanes_.begin(), ended_lanes_.end(), 0);
  std::fill(warp_epoch_.begin(), warp_epoch_.end(), 0);
  for (auto& each : async_) each = {};
  for (std::size_t i = kFirstBuffer; i < shadows_.size(); ++i) shadows_[i].clear();
  tiles_.clear();
  unwritten_.clear();
  mistakes_.clear();
  unlabelled_ = 0;
  supersteps_.clear();
  epoch_counters_ = {};
  epoch_ = 1;
  copies_async_ = outside_pending_ = false;
}

void BlockRecorder::begins(std::byte* shared) {
  const auto base = reinterpret_cast<std::uint64_t>(shared);
  const std::size_t bytes = context_.launch.shared_bytes;
  regions_[kSharedRegion] = {base, base + bytes, Memory::shared, true, -1};
  if (rules_ && bytes > 0) shadows_[kSharedRegion].reset(bytes, 4);
  tile_at_.assign(bytes / 16 + 1, -1);
}

void BlockRecorder::runs(int thread) {
  thread_ = thread;
  log_ = &logs_[static_cast<std::size_t>(thread)];
  in_kernel_ = true;
  require_time();
}

void BlockRecorder::require_time() const {
  if (context_.stop.load(std::memory_order_relaxed)) [[unlikely]]
    throw Error(Category::kernel, "stopped at the time limit");
}

const Region& BlockRecorder::region(int number) const {
  return regions_[static_cast<std::size_t>(number)];
}

const Region* BlockRecorder::find_region(std::uint64_t address, int* number) {
  const auto inside = [&](std::size_t i) {
    return address - regions_[i].begin < regions_[i].end - regions_[i].begin;
  };
  for (std::size_t step = 0, i = last_region_; step < regions_.size(); ++step) {
    if (inside(i)) {
      last_region_ = i;
      *number = static_cast<int>(i);
      return &regions_[i];
    }
    i = i + 1 < regions_.size() ? i + 1 : 0;
  }
  return nullptr;
}

bool BlockRecorder::touch(const void* at, std::size_t bytes, Access access, std::uint64_t bits,
                          const Here& here) {
  require_time();
  const auto address = reinterpret_cast<std::uint64_t>(at);
  last_here_[static_cast<std::size_t>(thread_)] = here;
  int number = 0;
  const Region* found = find_region(address, &number);
  if (outside_pending_) [[unlikely]] {
    outside_pending_ = false;
    report_outside(found, number, address, access, here);
    if (found == nullptr || address + bytes > found->end) return false;
  }
  if (found == nullptr) [[unlikely]]
    return touch_elsewhere(address, bytes, access, here);
  if (address + bytes > found->end) [[unlikely]] {
    Mistake mistake = mistake_at(Kind::out_of_bounds, found->memory, here);
    mistake.writes = access != Access::load;
    if (is_repeated(mistake)) return false;
    locate(mistake, number, address - found->begin);
    mistake.detail = cat(bytes, " bytes of which the last ", address + bytes - found->end,
                         " lie beyond the end");
    add_mistake(std::move(mistake));
    return false;
  }
  const std::size_t piece = widest_piece(bytes);
  if ((address & (piece - 1)) != 0) [[unlikely]] {
    Mistake mistake = mistake_at(Kind::misaligned, found->memory, here);
    mistake.writes = access != Access::load;
    if (is_repeated(mistake)) return false;
    locate(mistake, number, address - found->begin);
    mistake.detail = cat(piece, " bytes at an address that is ", address % piece,
                         " beyond a multiple of ", piece);
    add_mistake(std::move(mistake));
    return false;
  }
  EventKind kind = EventKind::load;
  if (access == Access::atomic) kind = EventKind::atomic;
  else if (access == Access::store)
    kind = copies_async_ && number == kSharedRegion ? EventKind::async_store : EventKind::store;
  else if (copies_async_ && number != kSharedRegion) kind = EventKind::async_load;
  const std::uint64_t key = key_of(here, kind, number, piece);
  for (std::size_t done = 0; done < bytes; done += piece)
    log_->add({address + done, here.file, key, bits});
  return true;
}

bool BlockRecorder::touch_elsewhere(std::uint64_t address, std::size_t bytes, Access access,
                                    const Here& here) {
  const auto frame = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  if (address - frame < context_.launch.stack_bytes) {
    if (rules_ && access == Access::load &&
        is_unwritten_pattern(reinterpret_cast<const void*>(address), bytes)) {
      Mistake mistake = mistake_at(Kind::uninitialized_read, Memory::local, here);
      mistake.writes = false;
      mistake.tensor = "registers";
      add_mistake(std::move(mistake));
    }
    return true;
  }
  for (const auto& [base, size] : context_.launch.constants) {
    if (address - reinterpret_cast<std::uint64_t>(base) < size) return true;
  }
  if (is_static_storage(address)) return true;
  Mistake mistake = mistake_at(Kind::out_of_bounds, Memory::global, here);
  mistake.writes = access != Access::load;
  if (is_repeated(mistake)) return false;
  // The tensor that it lies behind, or nearest to.
  int nearest = -1;
  std::uint64_t distance = std::uint64_t{1} << 40;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const Region& r = regions_[i];
    if (r.begin == r.end) continue;
    const std::uint64_t away = address >= r.end ? address - r.end + 1 : r.begin - address;
    if (away < distance) distance = away, nearest = static_cast<int>(i);
  }
  if (nearest >= 0) {
    const Region& r = region(nearest);
    mistake.memory = r.memory;
    mistake.tensor = r.buffer < 0
                         ? "shared storage"
                         : context_.launch.buffers[static_cast<std::size_t>(r.buffer)].name;
    mistake.detail = address >= r.end
                         ? cat(address - r.end, " bytes behind the end of ", mistake.tensor)
                         : cat(r.begin - address, " bytes before the start of ", mistake.tensor);
  }
  add_mistake(std::move(mistake));
  return false;
}

void BlockRecorder::outside(const index_t* position, int count, const index_t* existing, int rank,
                            const Here& here) {
  outside_pending_ = true;
  outside_here_ = here;
  outside_position_.assign(position, position + count);
  outside_existing_.assign(existing, existing + rank);
}

void BlockRecorder::report_outside(const Region* found, int number, std::uint64_t address,
                                   Access access, const Here& here) {
  Mistake mistake = mistake_at(found != nullptr ? Kind::outside_view : Kind::out_of_bounds,
                               found != nullptr ? found->memory : Memory::global, here);
  mistake.writes = access != Access::load;
  if (is_repeated(mistake)) return;
  if (found != nullptr) locate(mistake, number, address - found->begin);
  std::string position, existing;
  for (const index_t i : outside_position_) position += cat(position.empty() ? "(" : ",", i);
  for (const index_t i : outside_existing_) existing += cat(existing.empty() ? "(" : ",", i);
  mistake.detail = cat("element ", position, ") of a view of which ", existing, ") exists");
  mistake.element = outside_position_;
  add_mistake(std::move(mistake));
}

void BlockRecorder::tile(const void* base, const tessera::detail::TileInfo& info) {
  const auto offset = reinterpret_cast<std::uint64_t>(base) - regions_[kSharedRegion].begin;
  if (offset >= regions_[kSharedRegion].end - regions_[kSharedRegion].begin) return;
  int& at = tile_at_[static_cast<std::size_t>(offset / 16)];
  if (at >= 0) return;
  at = static_cast<int>(tiles_.size());
  tiles_.push_back({&info, offset});
}

BlockRecorder::TileAt* BlockRecorder::tile_at(std::uint64_t offset) {
  for (auto& each : tiles_) {
    if (offset - each.base < each.info->bytes) return &each;
  }
  return nullptr;
}

void BlockRecorder::multiply_add(std::uint64_t acc, std::size_t bytes, const Here& here) {
  require_time();
  Counters& counters = counters_at(here);
  ++counters.fma_threads;
  counters.flops += 2;
  ++epoch_counters_.fma_threads;
  epoch_counters_.flops += 2;
  if (rules_ && bytes >= 4 && is_unwritten_pattern(&acc, bytes)) [[unlikely]] {
    Mistake mistake = mistake_at(Kind::uninitialized_read, Memory::local, here);
    mistake.writes = false;
    mistake.tensor = "accumulator";
    add_mistake(std::move(mistake));
  }
}

void BlockRecorder::matrix_flops(std::int64_t flops, const Here& here) {
  counters_at(here).mma_flops += flops;
  epoch_counters_.mma_flops += flops;
}

void BlockRecorder::commit(const Here& here) {
  log_->add({0, here.file, key_of(here, EventKind::commit, 0, 1), 0});
}
void BlockRecorder::wait(int pending, const Here& here) {
  log_->add(
      {0, here.file, key_of(here, EventKind::wait, 0, 1), static_cast<std::uint64_t>(pending)});
}

std::uint16_t BlockRecorder::site_of(const Here& here) {
  const auto same = [&](const Here& a) {
    return a.line == here.line && a.column == here.column && a.file == here.file;
  };
  if (same(last_site_here_)) return last_site_;
  auto& bucket = site_index_[static_cast<std::uint64_t>(here.line) << 12 ^
                             static_cast<std::uint64_t>(here.column)];
  last_site_here_ = here;
  for (const std::uint16_t each : bucket) {
    if (same(sites_[each].here)) return last_site_ = each;
  }
  if (sites_.size() == 0xffff) return last_site_ = 0;
  bucket.push_back(static_cast<std::uint16_t>(sites_.size()));
  sites_.push_back({here, {}, false});
  return last_site_ = bucket.back();
}

Counters& BlockRecorder::counters_at(const Here& here) {
  Site& site = sites_[site_of(here)];
  site.used = true;
  return site.counters;
}

Mistake BlockRecorder::mistake_at(Kind kind, Memory memory, const Here& here) const {
  Mistake out;
  out.kind = kind;
  out.memory = memory;
  out.here = here;
  out.thread = thread_;
  out.block = block_.linear;
  if (const char* name = superstep_of_[static_cast<std::size_t>(thread_)]) out.superstep = name;
  return out;
}

void BlockRecorder::locate(Mistake& mistake, int number, std::uint64_t offset) {
  const Region& r = region(number);
  if (number != kSharedRegion) {
    const auto& b = context_.launch.buffers[static_cast<std::size_t>(r.buffer)];
    mistake.tensor = b.name;
    const auto from_data =
        static_cast<std::int64_t>(r.begin + offset - reinterpret_cast<std::uint64_t>(b.data));
    const auto bytes = static_cast<std::int64_t>(b.element_bytes);
    const std::int64_t element =
        from_data >= 0 ? from_data / bytes : -((-from_data + bytes - 1) / bytes);
    if (!coordinates_of(b.layout, element, mistake.element)) mistake.element.clear();
    return;
  }
  const TileAt* tile = tile_at(offset);
  if (tile == nullptr) {
    mistake.tensor = cat("byte ", offset, " of shared storage");
    return;
  }
  const auto& info = *tile->info;
  std::string shape;
  for (int i = 0; i < info.rank; ++i) shape += cat(i == 0 ? "(" : ",", info.extents[i]);
  mistake.tensor = cat("tile ", shape, ") at byte ", tile->base);
  std::vector<index_t> at(static_cast<std::size_t>(info.rank));
  if (info.locate(static_cast<index_t>((offset - tile->base) / info.element_bytes), at.data()))
    mistake.element = at;
}

namespace {

/// Of one kind and between the same places.
bool is_same(const Mistake& a, const Mistake& b) {
  const auto same_place = [](const Here& x, const Here& y) {
    return x.line == y.line && x.column == y.column && x.file == y.file;
  };
  return a.kind == b.kind && a.memory == b.memory && a.same_value == b.same_value &&
         same_place(a.here, b.here) && same_place(a.other_here, b.other_here);
}

}  // namespace

bool BlockRecorder::is_repeated(const Mistake& mistake) {
  for (auto& each : mistakes_) {
    if (is_same(each, mistake) && mistake.severity <= each.severity) return ++each.count > 1;
  }
  return false;
}

void BlockRecorder::add_mistake(Mistake mistake) {
  for (auto& each : mistakes_) {
    if (!is_same(each, mistake)) continue;
    const std::int64_t count = each.count + mistake.count;
    if (mistake.severity > each.severity) each = std::move(mistake);  // the worst is shown
    each.count = count;
    return;
  }
  mistakes_.push_back(std::move(mistake));
}

void BlockRecorder::ends(int thread) {
  const int warp = warp_of(thread);
  const int lanes = std::min(warp_size_, threads_ - warp * warp_size_);
  if (++ended_lanes_[static_cast<std::size_t>(warp)] == lanes) drain(warp);
}

void BlockRecorder::warp_met(int warp, const char* verb, const Here& here) {
  drain(warp);
  Counters& counters = counters_at(here);
  const auto add = [&](std::int64_t Counters::*which) {
    ++(counters.*which);
    ++(epoch_counters_.*which);
  };
  if (verb == nullptr) {
    add(&Counters::warp_barriers);
    ++warp_epoch_[static_cast<std::size_t>(warp)];  // shuffles and votes order no memory
  } else if (std::strcmp(verb, "mma") == 0) {
    add(&Counters::mma_instructions);
  } else {
    add(std::strcmp(verb, "ballot") == 0 ? &Counters::votes : &Counters::shuffles);
  }
}

bool BlockRecorder::block_met(const char* name, const Here& here, int ended) {
  if (ended > 0) {
    Mistake mistake = mistake_at(Kind::early_return, Memory::none, here);
    mistake.severity = Severity::warning;
    mistake.other_thread = 0;
    mistake.detail = cat(ended, " of ", threads_, " threads have ended");
    add_mistake(std::move(mistake));
  }
  drain_all();
  Counters& counters = counters_at(here);
  ++counters.block_barriers;
  ++epoch_counters_.block_barriers;
  std::string label;
  if (name != nullptr) label = name;
  else {
    const std::string file = here.file;
    label = cat(file.substr(file.rfind('/') + 1), ":", here.line);
  }
  close_superstep(label);
  ++epoch_;
  std::fill(superstep_of_.begin(), superstep_of_.end(), nullptr);
  return true;
}

void BlockRecorder::fails(const BlockFault& fault) {
  static constexpr Kind kKinds[] = {Kind::diverged_barrier, Kind::missing_barrier, Kind::exception,
                                    Kind::stack_overflow, Kind::endless};
  Mistake mistake = mistake_at(kKinds[static_cast<int>(fault.kind)], Memory::none, fault.here);
  if (fault.here.line == 0 && fault.thread >= 0)
    mistake.here = last_here_[static_cast<std::size_t>(fault.thread)];
  mistake.other_here = fault.other_here;
  mistake.thread = fault.thread;
  if (fault.kind == BlockFault::Kind::diverged || fault.kind == BlockFault::Kind::missing)
    mistake.other_thread = fault.other;
  mistake.detail = fault.text;
  if (fault.text.find("matrix instruction needs") != std::string::npos)
    mistake.kind = Kind::mma_misuse;
  if (context_.stop.load()) mistake.kind = Kind::endless;
  add_mistake(std::move(mistake));
}

BlockResult BlockRecorder::finish() {
  in_kernel_ = false;
  drain_all();
  if (rules_) {
    for (int thread = 0; thread < threads_; ++thread) never_waited(thread);
  }
  if (epoch_counters_ != Counters{} || supersteps_.empty()) close_superstep("end");
  BlockResult out;
  out.block = block_.linear;
  out.mistakes = std::move(mistakes_);
  mistakes_.clear();
  for (auto& site : sites_) {
    if (!site.used) continue;
    out.places.push_back({site.here, site.counters});
    site.counters = {};
    site.used = false;
  }
  out.supersteps = std::move(supersteps_);
  supersteps_.clear();
  for (auto& point : points_) {
    if (point->sample.requests == 0) continue;
    out.accesses.push_back({sites_[point->site].here, point->sample});
    point->sample = {};
  }
  if (rules_) collect_touched(out);
  return out;
}

}  // namespace tessera::check
