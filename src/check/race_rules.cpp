// Finds unordered accesses. Within a block, a barrier orders all accesses before it with all after
// it; a warp barrier those of its warp; nothing else does, and the order in which the engine
// happened to run the threads means nothing. Blocks are never ordered (merge/blocks.cpp). See
// block/recorder.hpp.
#include <algorithm>
#include <bit>
#include <tuple>

#include "block/recorder.hpp"

namespace tessera::check {

using tessera::detail::Access;

Mistake BlockRecorder::mistake_of(Kind kind, const LaneAccess& access, Access how) const {
  Mistake out =
      mistake_at(kind, region(access.region).memory, sites_[access.site].here, access.thread);
  out.writes = how != Access::load && how != Access::atomic_load;
  out.is_atomic = how == Access::atomic || how == Access::atomic_load;
  out.is_volatile = out.is_atomic && sites_[access.site].is_volatile;
  return out;
}

void BlockRecorder::report(Mistake mistake, const LaneAccess& access) {
  mistake.object = object_at(access.region, access.offset);
  if (is_repeated(mistake)) return;
  locate(mistake, access.region, access.offset);
  add_mistake(std::move(mistake));
}

bool BlockRecorder::is_at_once(const Side& earlier, const LaneAccess& access, Access how) const {
  const int lane = earlier.thread & (warp_size_ - 1);
  if (earlier.how != Access::store || how != Access::store || earlier.site != access.site ||
      warp_of(earlier.thread) != warp_of(access.thread) || (active_ >> lane & 1) == 0)
    return false;
  return access.offset - offset_[lane] < static_cast<std::uint64_t>(bytes_);
}

void BlockRecorder::report_race(const Side& earlier, const LaneAccess& access, Access how,
                                bool one_warp, bool same_value, Order order) {
  // The race is reported at the write; of two writes at the later line, so that one pair is one
  // finding.
  const Here earlier_here = sites_[earlier.site].here, my_here = sites_[access.site].here;
  Mistake mistake = mistake_of(Kind::race, access, how);
  mistake.one_instruction = is_at_once(earlier, access, how);
  // In CUDA one of an instruction's stores to an address takes effect; which one does not matter
  // here.
  if (context_.launch.is_cuda && mistake.one_instruction && same_value) return;
  const bool is_warning = (one_warp && !mistake.one_instruction) || order == Order::lacks_acquire;
  mistake.severity = is_warning ? Severity::warning : Severity::error;
  mistake.order = order;
  if (!mistake.one_instruction)  // an access before or after one instruction is not between
    mistake.atomic_here = atomic_between(earlier.thread, access.thread);
  mistake.polls = std::any_of(polled_.begin(), polled_.end(), [&](const Here& each) {
    return is_same_place(each, my_here) || is_same_place(each, earlier_here);
  });
  mistake.same_value = same_value;
  mistake.other_here = earlier_here;
  mistake.other_thread = earlier.thread;
  mistake.other_writes = earlier.how != Access::load && earlier.how != Access::atomic_load;
  mistake.other_is_atomic = earlier.how == Access::atomic || earlier.how == Access::atomic_load;
  mistake.other_is_volatile = mistake.other_is_atomic && sites_[earlier.site].is_volatile;
  mistake.by_copy = (mistake.writes && sites_[access.site].copies) ||
                    (mistake.other_writes && sites_[earlier.site].copies);
  const bool keep = mistake.writes && (!mistake.other_writes || earlier_here.line <= my_here.line);
  if (!keep) {
    std::swap(mistake.here, mistake.other_here);
    std::swap(mistake.thread, mistake.other_thread);
    std::swap(mistake.writes, mistake.other_writes);
    std::swap(mistake.is_atomic, mistake.other_is_atomic);
    std::swap(mistake.is_volatile, mistake.other_is_volatile);
  }
  report(std::move(mistake), access);
}

bool BlockRecorder::meet(const Marks& earlier, Access theirs, const LaneAccess& access, Access how,
                         bool same_value) {
  if (async_rules_.is_on()) return false;
  return earlier.unordered(mark_of(access), warp_shift_, [&](int thread, int site, bool one_warp) {
    report_race({thread, static_cast<std::uint16_t>(site), theirs}, access, how, one_warp,
                same_value);
  });
}

bool BlockRecorder::has_waited_like(int owner, const LaneAccess& access) const {
  const Async& theirs = async_[static_cast<std::size_t>(owner)];
  const Async& mine = async_[static_cast<std::size_t>(access.thread)];
  const auto copy =
      std::find_if(theirs.copies.begin(), theirs.copies.end(), [&](const Pending& each) {
        return each.region == access.region &&
               access.offset - each.offset < static_cast<std::uint64_t>(each.bytes);
      });
  if (copy == theirs.copies.end() || owner == access.thread || mine.committed <= copy->group)
    return false;
  return std::none_of(mine.copies.begin(), mine.copies.end(),
                      [&](const Pending& each) { return each.group <= copy->group; });
}

bool BlockRecorder::meet_pending(const LaneAccess& access, const Cell& cell, Access how) {
  const Side owner{cell.pending - 1, cell.pending_site, Access::store};
  const bool is_race = is_at_once(owner, access, how) || has_waited_like(owner.thread, access);
  if (!is_race) report_pending(access, cell, how);
  else if (cell.write.epoch == epoch_) return false;  // ordered by the barrier
  else report_race(owner, access, how, warp_of(owner.thread) == warp_of(access.thread), false);
  return true;
}

void BlockRecorder::report_pending(const LaneAccess& access, const Cell& cell, Access how) {
  Mistake mistake = mistake_of(Kind::async_not_waited, access, how);
  mistake.other_here = sites_[cell.pending_site].here;
  mistake.other_thread = cell.pending - 1;
  report(std::move(mistake), access);
}

void BlockRecorder::read_by(const LaneAccess& whole, Access how) {
  const Mark mine = mark_of(whole);
  std::uint64_t judged = 0;
  for_each_piece(whole, [&](const LaneAccess& access, Cell& cell) {
    if (cell.written()) {
      const bool met = cell.pending != 0 && meet_pending(access, cell, Access::load);
      if (!orders_.empty()) [[unlikely]] {
        if (!met) meet_pasts(access, how);
      } else {
        if (!met && cell.write.epoch == epoch_)
          meet(cell.write, Access::store, access, Access::load, false);
        if (cell.update.epoch == epoch_)
          meet(cell.update, Access::atomic, access, Access::load, false);
      }
    } else {
      if (!orders_.empty()) [[unlikely]]
        meet_pasts(access, how);
      if (lacks_first_value(access)) {
        if (context_.launch.is_cuda) add_missing(whole, access, how, judged);
        else add_unwritten(access, how);
      }
    }
    if (context_.options.forget_tiles && access.region == kSharedRegion) read_tile(access, cell);
    if (how == Access::load) cell.read.add(mine, warp_shift_);
  });
}

std::uint64_t BlockRecorder::bits_of_piece(const LaneAccess& whole, std::uint64_t offset) {
  const std::size_t piece = shadow(whole.region).piece();
  if (piece >= 8) return whole.bits;
  const std::uint64_t mask = (std::uint64_t{1} << piece * 8) - 1;
  return whole.bits >> (offset - whole.offset) % 8 * 8 & mask;
}

void BlockRecorder::read_tile(const LaneAccess& access, const Cell& cell) {
  TileAt* const tile = tile_at(access.offset);
  if (tile == nullptr) return;
  tile->read_epoch = epoch_;
  if (!cell.written() || cell.generation == tile->generation) return;
  const Marks& writers = cell.write.any() ? cell.write : cell.update;
  Mistake mistake = mistake_of(Kind::stale_read, access, Access::load);
  mistake.other_here = sites_[writers.site[0]].here;
  mistake.other_thread = writers.thread[0];
  report(std::move(mistake), access);
}

void BlockRecorder::write_by(const LaneAccess& whole, Access how) {
  const Mark mine = mark_of(whole);
  for_each_piece(whole, [&](const LaneAccess& access, Cell& cell) {
    const std::uint64_t bits = bits_of_piece(whole, access.offset);
    const bool is_plain = how == Access::store;
    const bool met =
        cell.pending != 0 && cell.pending != access.thread + 1 && meet_pending(access, cell, how);
    if (!orders_.empty()) [[unlikely]] {
      LaneAccess ordered = access;
      if (is_plain) ordered.bits = bits;
      if (!met) meet_pasts(ordered, how);
    } else {
      if (!met && cell.write.epoch == epoch_)
        meet(cell.write, Access::store, access, how, is_plain && cell.bits == bits);
      if (cell.update.epoch == epoch_ && is_plain)
        meet(cell.update, Access::atomic, access, how, false);
      if (cell.read.epoch == epoch_) meet(cell.read, Access::load, access, how, false);
    }
    if (is_plain) cell.bits = bits;
    else if (sites_[access.site].uses_value && !cell.written() && lacks_first_value(access))
      add_unwritten(access, how);
    (is_plain ? cell.write : cell.update).add(mine, warp_shift_);
    if (context_.options.forget_tiles && access.region == kSharedRegion) write_tile(access, cell);
  });
}

void BlockRecorder::renew_past(const LaneAccess& write) {
  if (orders_.empty()) return;
  for_each_piece(write, [&](const LaneAccess& piece, const Cell& cell) {
    auto& pasts = pasts_at(piece);
    std::erase_if(pasts, [&](const Past& each) {
      return each.when.thread == piece.thread && each.site == piece.site &&
             each.how == Access::store;
    });
    pasts.push_back(past_of(piece, Access::store));
    pasts.back().bits = cell.bits;
  });
}

void BlockRecorder::write_tile(const LaneAccess& access, Cell& cell) {
  TileAt* const tile = tile_at(access.offset);
  if (tile == nullptr) return;
  if (tile->load_epoch != epoch_ && tile->read_epoch > tile->load_epoch) ++tile->generation;
  tile->load_epoch = epoch_;
  cell.generation = tile->generation;
}

void BlockRecorder::issue_async(const LaneAccess& access) {
  sites_[access.site].copies = true;
  write_by(access, Access::store);
  auto& async = async_[static_cast<std::size_t>(access.thread)];
  if (async.copies.size() >= async.room) forget_overwritten(async);
  async.copies.push_back(
      {async.committed, access.region, access.offset, access.bytes, access.site});
  for_each_piece(access, [&](const LaneAccess&, Cell& cell) {
    cell.pending = static_cast<std::uint16_t>(access.thread + 1);
    cell.pending_site = access.site;
  });
}

void BlockRecorder::forget_overwritten(Async& async) {
  const auto key = [](const Pending& p) { return std::tuple(p.region, p.offset, p.bytes); };
  std::stable_sort(async.copies.begin(), async.copies.end(),
                   [&](const Pending& a, const Pending& b) { return key(a) < key(b); });
  std::reverse(async.copies.begin(), async.copies.end());  // the newest of each position first
  const auto last =
      std::unique(async.copies.begin(), async.copies.end(),
                  [&](const Pending& a, const Pending& b) { return key(a) == key(b); });
  async.copies.erase(last, async.copies.end());
  async.room = std::max(async.room, 2 * async.copies.size());
}

void BlockRecorder::judge(const AccessPoint& point, int warp, std::uint64_t active) {
  const EventKind kind = kind_of(point.key);
  const int number = region_of(point.key);
  active_ = active, bytes_ = bytes_of(point.key);
  LaneAccess access{number, bytes_, 0, 0, 0, point.site};
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    access.thread = warp * warp_size_ + lane;
    access.offset = offset_[lane];
    access.bits = bits_[lane];
    if (kind == EventKind::load || kind == EventKind::async_load) read_by(access, Access::load);
    else if (kind == EventKind::atomic_load) read_by(access, Access::atomic_load);
    else if (kind == EventKind::async_store) issue_async(access);
    else write_by(access, kind == EventKind::atomic ? Access::atomic : Access::store);
    if (kind == EventKind::atomic || kind == EventKind::atomic_load) note_atomic(access);
  }
}

void BlockRecorder::commit_async(int thread) {
  ++async_[static_cast<std::size_t>(thread)].committed;
}

void BlockRecorder::wait_async(int thread, int pending) {
  auto& async = async_[static_cast<std::size_t>(thread)];
  const auto arrived = [&](const Pending& copy) { return copy.group < async.committed - pending; };
  for (const Pending& copy : async.copies) {
    if (!arrived(copy)) continue;
    const LaneAccess access{copy.region, copy.bytes, thread, copy.offset, 0, copy.site};
    const Mark mine = mark_of(access);
    for_each_piece(access, [&](const LaneAccess&, Cell& cell) {
      if (cell.pending != thread + 1) return;
      cell.pending = 0;
      cell.write.add(mine, warp_shift_);  // now its bytes are written, for this thread
    });
  }
  std::erase_if(async.copies, arrived);
}

void BlockRecorder::never_waited(int thread) {
  auto& async = async_[static_cast<std::size_t>(thread)];
  forget_overwritten(async);
  for (const Pending& copy : async.copies) {
    const LaneAccess access{copy.region, copy.bytes, thread, copy.offset, 0, copy.site};
    report(mistake_of(Kind::async_never_waited, access, Access::store), access);
  }
}

void BlockRecorder::collect_touched(BlockResult& out) {
  out.touched.reserve(touched_before_);
  for (std::size_t number = kFirstBuffer; number < regions_.size(); ++number) {
    if (!regions_[number].is_output && !is_bulk(regions_[number])) continue;
    Shadow& cells = shadows_[number];
    cells.for_each([&](std::uint64_t i, const Cell& cell) {
      if (!cell.touched()) return;
      const Marks& writers = cell.write.any() ? cell.write : cell.update;
      const bool is_pair = cell.update.thread[1] != Marks::kNobody;
      const Site &one = sites_[cell.update.site[0]],
                 &two = sites_[cell.update.site[is_pair ? 1 : 0]];
      out.touched.push_back({static_cast<int>(number), i * cells.piece(), cells.piece(), cell.bits,
                             sites_[writers.site[0]].here, sites_[cell.read.site[0]].here,
                             writers.thread[0], cell.read.thread[0], cell.write.any(),
                             cell.update.any(), cell.read.any(), one.of_block || two.of_block,
                             one.is_volatile && two.is_volatile});
    });
  }
  touched_before_ = out.touched.size();
}

int BlockRecorder::object_at(int number, std::uint64_t offset) {
  if (number != kSharedRegion) return number;
  if (const auto* variable = shared_variable_at(offset))
    return -3 - static_cast<int>(variable - context_.launch.shared_variables.data());
  const TileAt* tile = tile_at(offset);
  return tile == nullptr ? -2 : -3 - static_cast<int>(tile - tiles_.data());
}

const detail::SharedVariable* BlockRecorder::shared_variable_at(std::uint64_t offset) const {
  for (const auto& each : context_.launch.shared_variables) {
    if (offset - each.offset < each.bytes) return &each;
  }
  return nullptr;
}

}  // namespace tessera::check
