// Records what the threads of a block do. See recorder.hpp.
// Over 400 lines: one class; every kind of event meets the same state of the block.
#include "recorder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "check/cluster_images.hpp"
#include "check/filled.hpp"

namespace tessera::check {

using tessera::detail::Access;

namespace {

/// Are the bytes the compiler's fill pattern? A single byte has no recognisable pattern.
bool is_unwritten(std::uint64_t address, std::size_t bytes, std::uint64_t unwritten) {
  const auto* const at = reinterpret_cast<const void*>(address);
  if (bytes == sizeof(float)) {  // nearly all: one load, not a call
    std::uint32_t value = 0;
    std::memcpy(&value, at, sizeof value);
    return value == unwritten;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, at, std::min<std::size_t>(bytes, 8));
  return bytes >= 2 && value == unwritten;
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
  warp_shift_ = std::countr_zero(static_cast<unsigned>(warp_size_));
  warps_ = (threads_ + warp_size_ - 1) / warp_size_;
  regions_.push_back({});
  regions_.insert(regions_.end(), context.regions.begin(), context.regions.end());
  const auto count = static_cast<std::size_t>(threads_);
  logs_.resize(count);
  superstep_of_.resize(count);
  last_here_.resize(count);
  async_.resize(count);
  alive_.resize(static_cast<std::size_t>(warps_));
  open_.resize(static_cast<std::size_t>(warps_));
  warp_epoch_.resize(static_cast<std::size_t>(warps_));
  known_.resize(kKnown);
  touches_.resize(regions_.size());
  shadows_.resize(regions_.size());
  for (std::size_t i = kFirstBuffer; i < regions_.size(); ++i) {
    const Region& r = regions_[i];
    const auto& buffer = context.launch.buffers[static_cast<std::size_t>(r.buffer)];
    const std::size_t bytes = buffer.element_bytes;
    touches_[i].reset(
        static_cast<std::size_t>(r.end - r.begin) / touch_bytes(context.launch, buffer) + 1);
    if (rules_ && (r.is_output || is_bulk(r)))
      shadows_[i].reset(r.end - r.begin, std::bit_floor(std::min<std::size_t>(bytes, 8)));
  }
  sites_.push_back({});  // site 0: no place
  fences_ = &context.order->has_fences;
}

void BlockRecorder::start(const Position& block, BlockScheduler& scheduler,
                          tessera::detail::Residents& residents) {
  block_ = block;
  scheduler_ = &scheduler;
  residents_ = &residents;
  started_ = std::chrono::steady_clock::now();
  stop_thread_ = -1;
  if (const auto& stop = context_.options.stop_at;
      stop && Dim3{block.x, block.y, block.z} == stop->block)
    stop_thread_ = linear_of(stop->thread, context_.launch.block);
  stops_at_access_ = stop_thread_ >= 0 && context_.options.stop_at->superstep.empty();
  for (auto& log : logs_) log.clear();
  std::fill(superstep_of_.begin(), superstep_of_.end(), nullptr);
  std::fill(last_here_.begin(), last_here_.end(), Here{});
  for (int warp = 0; warp < warps_; ++warp) {
    const int lanes = std::min(warp_size_, threads_ - warp * warp_size_);
    alive_[static_cast<std::size_t>(warp)] = ~std::uint64_t{0} >> (64 - lanes);
    reopen(warp);
  }
  first_ended_ = ran_through_ = -1, left_ = 0;
  std::fill(warp_epoch_.begin(), warp_epoch_.end(), 0);
  for (auto& each : async_) each = {};
  for (std::size_t i = kFirstBuffer; i < shadows_.size(); ++i) shadows_[i].clear();
  tiles_.clear();
  unwritten_.clear();
  mistakes_.clear();
  unlabelled_ = 0;
  supersteps_.clear();
  epoch_counters_ = {};
  multiply_adds_ = 0;
  epoch_ = 1;
  barriers_.clear();
  outside_.pending = failed_ = stopped_ = has_awaited_earlier_ = false;
  mode_ = 0;
  orders_.clear(), stamps_.clear(), cluster_rounds_.clear(), pasts_.clear(), atomics_.clear(),
      polled_.clear();
  near_releases_.clear(), updated_.clear();
  near_fence_ = {};
  passed_by_.clear();
  box_reads_.clear();
  unwritten_outputs_.clear();
  unwritten_mistakes_.clear();
  async_rules_.start();
  async_counts_.start();
  if (rules_ && context_.order->has_fences) begin_order();
}

void BlockRecorder::join(ClusterRules& cluster, int rank) {
  async_rules_.start(cluster, rank);
  if (rules_) begin_order();
}

void BlockRecorder::takes_turn() {
  tessera::detail::recorder = this;
  tessera::detail::async_observer = async_observer();
}

double BlockRecorder::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

void BlockRecorder::begins(std::byte* shared) {
  const auto& launch = context_.launch;
  const bool is_own = launch.shared_storage != nullptr;
  if (is_own) shared = launch.shared_storage();
  const auto base = reinterpret_cast<std::uint64_t>(shared);
  const std::size_t bytes = is_own ? launch.shared_storage_bytes : launch.shared_bytes;
  regions_[kSharedRegion] = {base, base + bytes, Memory::shared, true, -1};
  shared_begin_ = base, shared_bytes_ = bytes;
  std::fill(known_.begin(), known_.end(), Known{});
  if (rules_ && bytes > 0) {
    shadows_[kSharedRegion].reset(bytes, 4);
    poison_shared(shared, bytes);
  }
  tile_at_.assign(bytes / 16 + 1, -1);
}

void BlockRecorder::runs(int thread) {
  thread_ = thread;
  log_ = &logs_[static_cast<std::size_t>(thread)];
  my_last_here_ = &last_here_[static_cast<std::size_t>(thread)];
  in_kernel_ = true;
  settle();
  require_time();
}

void BlockRecorder::give_up() {
  if (failed_) return;
  stopped_ = true;
  throw Error(Category::kernel, "stopped at the time limit");
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

template <Access kAccess>
[[gnu::always_inline]] inline bool BlockRecorder::touch(const void* at, std::size_t bytes,
                                                        std::uint64_t bits, Here here) {
  const auto address = reinterpret_cast<std::uint64_t>(at);
  last_access_ = kAccess;
  *my_last_here_ = here;
  const Known& known = known_at(here, kAccess);
  if (known.what == (what_of(kAccess, bytes) | mode_) && is_identical(known.here, here) &&
      known.covers(address, bytes)) [[likely]] {
    if (kAccess == Access::load && known.fill) bits = bytes_with_value(at, bytes, *known.fill);
    log({address - known.begin, known.point, bits});
    return true;
  }
  return touch_anew(address, bytes, kAccess, bits, here);
}

bool BlockRecorder::load(const void* address, std::size_t bytes, std::uint64_t unwritten,
                         Here here) {
  return touch<Access::load>(address, bytes, unwritten, here);
}
bool BlockRecorder::store(const void* address, std::size_t bytes, std::uint64_t bits, Here here) {
  return touch<Access::store>(address, bytes, bits, here);
}
bool BlockRecorder::update(const void* address, std::size_t bytes, Here here) {
  if (log_->full()) make_room();  // other lanes may run here, but not between the next two calls
  if (context_.launch.in_any_order)
    return touch<Access::atomic>(address, bytes, UpdateNumbers::kNone, here);
  await_earlier_blocks(address);
  return touch<Access::atomic>(address, bytes, context_.order->next_number(), here);
}

bool BlockRecorder::poll(const void* address, std::size_t bytes, Here here) {
  await_earlier_blocks(address);
  return touch<Access::atomic_load>(address, bytes, 0, here);
}

bool BlockRecorder::touch_anew(std::uint64_t address, std::size_t bytes, Access access,
                               std::uint64_t bits, Here here) {
  require_time();
  if (stop_thread_ == thread_) [[unlikely]]
    stop_at_access();
  if (failed_) return true;
  if (access == Access::atomic_load && rules_) begin_order();
  if (!outside_.pending && is_on_stack(address)) {  // a local tile or variable of the thread
    if (rules_ && access == Access::load && is_unwritten(address, bytes, bits)) [[unlikely]]
      report_empty_variable(here);
    return true;
  }
  int number = 0;
  const Region* found = find_region(address, &number);
  if (outside_.pending) {
    outside_.pending = false;
    settle();
    const bool is_memory = found != nullptr && address + bytes <= found->end;
    report_outside(is_memory, address, access, here);
    if (!is_memory) return false;
  }
  if (found == nullptr) return touch_elsewhere(address, bytes, access, here);
  if (!is_possible(*found, number, address, bytes, access, here)) return false;
  const auto object = object_around(*found, number, address - found->begin);
  if (address - found->begin + bytes > object.second) {
    report_between(object, address - found->begin, access, here);
    return false;
  }
  const bool is_async = (mode_ & kAsync) != 0;
  EventKind kind = EventKind::load;
  if (access == Access::atomic) kind = EventKind::atomic;
  else if (access == Access::atomic_load) kind = EventKind::atomic_load;
  else if (access == Access::store)
    kind = is_async && number == kSharedRegion ? EventKind::async_store : EventKind::store;
  else if (is_async && number != kSharedRegion) kind = EventKind::async_load;
  if (async_rules_.is_on() && (found->is_output || is_bulk(*found))) {
    const std::uint64_t offset = address - found->begin;
    if (kind == EventKind::async_store) async_rules_.copies_async(offset, bytes, here);
    else async_rules_.access(number, offset, bytes, access, here);
  }
  const std::size_t piece = widest_piece(bytes);
  const auto fill = fill_of(number);
  AccessPoint& point = point_of(here.file, key_of(here, kind, number, piece));
  if (piece == bytes && !async_rules_.is_on())
    known_at(here, access) = {here,         what_of(access, bytes) | mode_,       found->begin,
                              object.first, object.second - object.first - bytes, &point,
                              fill};
  for (std::size_t done = 0; done < bytes; done += piece) {
    if (access == Access::load && fill)
      bits = bytes_with_value(reinterpret_cast<const void*>(address + done), piece, *fill);
    log({address - found->begin + done, &point, bits});
  }
  return true;
}

std::pair<std::uint64_t, std::uint64_t> BlockRecorder::object_around(const Region& found,
                                                                     int number,
                                                                     std::uint64_t offset) const {
  const auto& objects = context_.launch.shared_objects;
  if (number != kSharedRegion || objects.empty()) return {0, found.end - found.begin};
  std::pair<std::uint64_t, std::uint64_t> out{0, 0};
  for (const auto& each : objects) {
    if (each.first <= offset && (each.first > out.first || out.second == 0)) out = each;
  }
  return out;
}

bool BlockRecorder::is_possible(const Region& found, int number, std::uint64_t address,
                                std::size_t bytes, Access access, Here here) {
  const std::size_t piece = widest_piece(bytes);
  // An allocator aligns to at least 16 bytes: if the address itself is misaligned, so is the
  // tensor's start.
  const std::uint64_t odd = (address | (address - found.begin)) & (piece - 1);
  const bool is_inside = address + bytes <= found.end;
  if (is_inside && odd == 0) [[likely]]
    return true;
  if (odd != 0) report_misaligned(number, address, piece, access, here);  // a GPU checks this first
  else report_beyond(number, address, bytes, access, here);
  return false;
}

void BlockRecorder::make_room() {
  const int thread = thread_;
  const std::uint64_t async = mode_ & kAsync;
  mode_ &= ~kAsync;  // the others' copies are their own
  give_way_if_polling();
  do {
    drain(warp_of(thread));
    require_time();
    if (scheduler_->yield(thread)) continue;
    failed_ = true;
    settle();
    log_->clear();
  } while (log_->full());
  mode_ |= async;
}

void BlockRecorder::give_way_if_polling() {
  const Event* const events = log_->begin();
  const auto count = log_->end() - events;
  const auto same = [&](std::ptrdiff_t i, std::ptrdiff_t j) {
    return events[i].point == events[j].point && events[i].offset == events[j].offset &&
           (kind_of(events[i].point->key) != EventKind::store || events[i].bits == events[j].bits);
  };
  std::ptrdiff_t polled = count;  // a load of data that others may write
  bool stores = false;
  for (std::ptrdiff_t i = count; i-- > 0;) {
    const EventKind kind = kind_of(events[i].point->key);
    if (kind == EventKind::load) polled = i;
    else if (kind == EventKind::store) stores = true;
    else return;
  }
  const auto repeats = [&](std::ptrdiff_t period) {
    for (std::ptrdiff_t i = count; i-- > period;) {
      if (!same(i, i - period)) return false;
    }
    return true;
  };
  std::ptrdiff_t period = 1;
  while (period <= count / 3 && !repeats(period)) ++period;
  if (polled == count || period > count / 3) return;
  const AccessPoint& point = *events[polled].point;
  const Here here = sites_[point.site].here;
  const std::uint64_t address = region(region_of(point.key)).begin + events[polled].offset;
  std::uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void*>(address),
              std::min<std::size_t>(static_cast<std::size_t>(bytes_of(point.key)), 8));
  if (std::none_of(polled_.begin(), polled_.end(),
                   [&](const Here& each) { return is_same_place(each, here); }))
    polled_.push_back(here);
  // The more a loop does, the more likely it ends on its own: see BlockScheduler::give_way.
  const bool may_end = stores || period > 4;
  scheduler_->give_way(thread_,
                       {may_end ? nullptr : reinterpret_cast<const void*>(address), bits, here});
}

void BlockRecorder::report_empty_variable(Here here) {
  Mistake mistake = mistake_at(Kind::uninitialized_read, Memory::local, here, Access::load);
  mistake.tensor = "registers";
  add_mistake(std::move(mistake));
}

bool BlockRecorder::touch_image(int rank, std::uint64_t offset, std::size_t bytes, Access access,
                                Here here) {
  const Region& own = regions_[kSharedRegion];  // each block has as much
  if (!is_possible(own, kSharedRegion, own.begin + offset, bytes, access, here)) return false;
  const auto object = object_around(own, kSharedRegion, offset);
  if (offset + bytes > object.second) {
    report_between(object, offset, access, here);
    return false;
  }
  if (rules_ && async_rules_.is_in_cluster()) async_rules_.reach(rank, offset, bytes, access, here);
  return true;
}

bool BlockRecorder::touch_elsewhere(std::uint64_t address, std::size_t bytes, Access access,
                                    Here here) {
  if (const auto at = cluster_images == nullptr ? std::nullopt : cluster_images->find(address); at)
    return touch_image(at->first, at->second, bytes, access, here);
  if (context_.launch.elsewhere) {
    const detail::Elsewhere found = context_.launch.elsewhere(address);
    if (found.what == detail::Elsewhere::What::allowed) return true;
    if (found.what == detail::Elsewhere::What::wrong) {
      Mistake mistake = mistake_at(found.kind, Memory::global, here, access);
      mistake.detail = found.detail;
      mistake.advice = found.advice;
      add_mistake(std::move(mistake));
      return false;
    }
    report_wild(address, access, here);
    return false;
  }
  for (const auto& [base, size] : context_.launch.constants) {
    if (address - reinterpret_cast<std::uint64_t>(base) < size) return true;
  }
  if (is_static_storage(address)) return true;
  report_wild(address, access, here);
  return false;
}

void BlockRecorder::stop_at_access() {
  if (std::exchange(stops_at_access_, false)) tessera_stop();
}

void BlockRecorder::outside(const void* view, const index_t* position, int count,
                            const index_t* existing, int rank, Here /*here*/) {
  outside_.pending = true;
  settle();
  outside_.view = view;
  outside_.position.assign(position, position + count);
  outside_.existing.assign(existing, existing + rank);
}

void BlockRecorder::superstep(const char* name, Here here) {
  superstep_of_[static_cast<std::size_t>(thread_)] = name;
  last_here_[static_cast<std::size_t>(thread_)] = here;
  if (stop_thread_ == thread_ && context_.options.stop_at->superstep == name) tessera_stop();
}

void BlockRecorder::shared_tile(std::uint64_t offset, const tessera::detail::TileInfo& info) {
  if (offset / 16 >= tile_at_.size()) return;  // the block has not begun
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

std::string BlockRecorder::name_of(const TileAt& tile) {
  const auto& info = *tile.info;
  std::string shape;
  for (int i = 0; i < info.rank; ++i) shape += cat(i == 0 ? "(" : ",", info.extents[i]);
  return cat("tile ", shape, ") at byte ", tile.base);
}

std::vector<std::string> BlockRecorder::tiles_between(std::uint64_t first,
                                                      std::uint64_t last) const {
  std::map<std::uint64_t, std::string> found;
  for (const TileAt& tile : tiles_)
    if (tile.base <= last && first < tile.base + tile.info->bytes)
      found.emplace(tile.base, name_of(tile));
  std::vector<std::string> out;
  for (auto& [base, name] : found) out.push_back(std::move(name));
  return out;
}

void BlockRecorder::multiply_add(bool has_value, Here here) {
  if (!is_identical(multiply_add_here_, here)) [[unlikely]] {
    count_multiply_adds();
    multiply_add_here_ = here;
  }
  ++multiply_adds_;
  if (!has_value && rules_) [[unlikely]] {
    Mistake mistake = mistake_at(Kind::uninitialized_read, Memory::local, here, Access::load);
    mistake.tensor = "accumulator";
    add_mistake(std::move(mistake));
  }
}

void BlockRecorder::count_multiply_adds() {
  if (multiply_adds_ == 0) return;
  counters_at(multiply_add_here_).fma_threads += multiply_adds_;  // the operations: add_flops()
  epoch_counters_.fma_threads += multiply_adds_;
  multiply_adds_ = 0;
}

void BlockRecorder::matrix_flops(std::int64_t flops, Here here) {
  counters_at(here).mma_flops += flops;
  epoch_counters_.mma_flops += flops;
}

void BlockRecorder::commit(Here here) {
  async_rules_.commits_async();
  if (!failed_) log({0, &point_of(here.file, key_of(here, EventKind::commit, 0, 1)), 0});
}
void BlockRecorder::wait(int pending, Here here) {
  async_rules_.awaits_async(pending);
  if (!failed_)
    log({0, &point_of(here.file, key_of(here, EventKind::wait, 0, 1)),
         static_cast<std::uint64_t>(pending)});
}

std::uint16_t BlockRecorder::find_site(Here here) {
  auto& bucket = site_index_[static_cast<std::uint64_t>(here.line) << 12 ^
                             static_cast<std::uint64_t>(here.column)];
  last_site_here_ = here;
  for (const std::uint16_t each : bucket) {
    const Here& a = sites_[each].here;
    if (a.line == here.line && a.column == here.column && a.file == here.file)
      return last_site_ = each;
  }
  if (sites_.size() == 0xffff) return last_site_ = 0;
  bucket.push_back(static_cast<std::uint16_t>(sites_.size()));
  sites_.push_back({});
  sites_.back().here = here;
  return last_site_ = bucket.back();
}

Counters& BlockRecorder::counters_at(Here here) {
  Site& site = sites_[site_of(here)];
  site.used = true;
  return site.counters;
}

void BlockRecorder::reopen(int warp) {
  open_[static_cast<std::size_t>(warp)] = alive_[static_cast<std::size_t>(warp)];
}

void BlockRecorder::waits(int thread, const Here& here) {
  const auto warp = static_cast<std::size_t>(warp_of(thread));
  open_[warp] &= ~(std::uint64_t{1} << (thread & (warp_size_ - 1)));
  last_here_[static_cast<std::size_t>(thread)] = here;
}

void BlockRecorder::ends(int thread) {
  const auto warp = static_cast<std::size_t>(warp_of(thread));
  const std::uint64_t lane = std::uint64_t{1} << (thread & (warp_size_ - 1));
  alive_[warp] &= ~lane;
  open_[warp] &= ~lane;
  if (first_ended_ < 0 || thread < first_ended_) first_ended_ = thread;
  bool (*const has_returned)() = context_.launch.has_returned;
  if (ran_through_ < 0 && has_returned != nullptr && !has_returned())
    ran_through_ = thread, barriers_before_ = barriers_.size();
  if (!failed_) async_rules_.ends(thread);
  if (!failed_ && rules_ && async_rules_.is_in_cluster()) ends_in_cluster();
  if (alive_[warp] == 0) drain(static_cast<int>(warp));
}

void BlockRecorder::warp_met(int warp, const char* verb, const Here& here) {
  drain(warp);
  reopen(warp);
  Counters& counters = counters_at(here);
  const auto add = [&](std::int64_t Counters::*which) {
    ++(counters.*which);
    ++(epoch_counters_.*which);
  };
  if (verb == nullptr) {
    add(&Counters::warp_barriers);
    ++warp_epoch_[static_cast<std::size_t>(warp)];  // shuffles and votes order no memory
    const int first = warp * warp_size_, lanes = std::min(warp_size_, threads_ - first);
    join_all(first, lanes);
    async_rules_.meet(first, lanes);
  } else if (std::strcmp(verb, "mma") == 0) {
    add(&Counters::mma_instructions);
  } else if (std::strcmp(verb, "ldmatrix") != 0) {  // whose loads are recorded
    add(std::strcmp(verb, "ballot") == 0 ? &Counters::votes : &Counters::shuffles);
  }
}

bool BlockRecorder::block_met(const char* name, const Here& here, int ended) {
  if (ended > left_) report_early_return(here, ended);
  drain_all();
  find_unseen_writes();
  for (int warp = 0; warp < warps_; ++warp) reopen(warp);
  Counters& counters = counters_at(here);
  ++counters.block_barriers;
  ++epoch_counters_.block_barriers;
  if (!has_met(here)) barriers_.push_back(here);
  std::string label;
  if (name != nullptr) label = name;
  else {
    const std::string file = here.file;
    label = cat(file.substr(file.rfind('/') + 1), ":", here.line);
  }
  label_mistakes(label);
  close_superstep(label);
  ++epoch_;
  join_all(0, threads_);
  async_rules_.meet(0, threads_);
  std::fill(superstep_of_.begin(), superstep_of_.end(), nullptr);
  return true;
}

BlockResult BlockRecorder::finish() {
  in_kernel_ = false;
  std::fill(open_.begin(), open_.end(), 0);
  drain_all();
  find_unseen_writes();
  if (rules_ && !failed_) async_rules_.finish();
  for (int thread = 0; rules_ && !failed_ && thread < threads_; ++thread) never_waited(thread);
  label_mistakes(failed_ ? cat(epoch_ - 1) : "end");
  count_multiply_adds();
  if (epoch_counters_ != Counters{} || supersteps_.empty()) close_superstep("end");
  BlockResult out;
  out.block = block_.linear;
  out.mistakes = std::move(mistakes_);
  mistakes_.clear();
  for (auto& site : sites_) {
    if (!site.used) continue;
    add_flops(site.counters);
    out.places.push_back({site.here, site.counters});
    site.counters = {};
    site.used = false;
  }
  out.supersteps = std::move(supersteps_);
  supersteps_.clear();
  for (auto& point : points_) {
    if (point->sample.requests == 0) continue;
    if (region_of(point->key) == kSharedRegion)
      point->sample.tiles = tiles_between(point->first_byte, point->last_byte);
    point->first_byte = ~std::uint64_t{0}, point->last_byte = 0;
    out.accesses.push_back({sites_[point->site].here, point->sample});
    point->sample = {};
  }
  if (rules_) collect_touched(out);
  if (rules_) collect_order(out);
  out.box_reads = std::move(box_reads_);
  out.unwritten = std::move(unwritten_outputs_);
  out.unwritten_mistakes = std::move(unwritten_mistakes_);
  out.gate_phases = async_counts_.take_phases();
  out.gates = async_counts_.take_gates();
  out.tiles = async_counts_.take_tiles();
  return out;
}

}  // namespace tessera::check
