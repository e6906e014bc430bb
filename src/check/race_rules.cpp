// Which accesses nothing orders. Within a block a barrier orders all accesses before it with all
// behind it; a warp barrier those of its warp; nothing else does, and the order in which this
// machine happened to run the threads means nothing. Blocks are never ordered (merge_blocks.cpp).
// See block_recorder.hpp.
#include <algorithm>

#include "block_recorder.hpp"

namespace tessera::check {

Shadow& BlockRecorder::shadow(int number) { return shadows_[static_cast<std::size_t>(number)]; }

Mark BlockRecorder::mark_of(const LaneAccess& access) const {
  return {epoch_, warp_epoch_[static_cast<std::size_t>(warp_of(access.thread))],
          static_cast<std::uint16_t>(access.thread), access.site, access.is_atomic};
}

void BlockRecorder::report(Mistake mistake, const LaneAccess& access) {
  if (is_repeated(mistake)) return;
  locate(mistake, access.region, access.offset);
  add_mistake(std::move(mistake));
}

void BlockRecorder::check_pair(const Mark& earlier, bool earlier_writes, const Mark& mine,
                               bool mine_writes, bool same_value, const LaneAccess& access) {
  if (earlier.epoch != mine.epoch || earlier.thread == mine.thread) return;
  if (earlier.is_atomic && mine.is_atomic) return;
  const bool one_warp = warp_of(earlier.thread) == warp_of(mine.thread);
  if (one_warp && earlier.warp_epoch != mine.warp_epoch) return;
  // The place reported is the write; of two writes the later line, so that one pair is one finding.
  const Here earlier_here = sites_[earlier.site].here, my_here = sites_[mine.site].here;
  const bool swap = mine_writes && (!earlier_writes || earlier_here.line <= my_here.line);
  const Mark& at = swap ? mine : earlier;
  const Mark& other = swap ? earlier : mine;
  Mistake mistake =
      mistake_at(Kind::race, access.region == kSharedRegion ? Memory::shared : Memory::global,
                 swap ? my_here : earlier_here);
  mistake.severity = same_value ? Severity::note : one_warp ? Severity::warning : Severity::error;
  mistake.same_value = same_value;
  mistake.other_here = swap ? earlier_here : my_here;
  mistake.thread = at.thread;
  mistake.other_thread = other.thread;
  mistake.writes = swap ? mine_writes : earlier_writes;
  mistake.other_writes = swap ? earlier_writes : mine_writes;
  mistake.is_atomic = at.is_atomic;
  mistake.other_is_atomic = other.is_atomic;
  if (const char* name = superstep_of_[mine.thread]) mistake.superstep = name;
  report(std::move(mistake), access);
}

void BlockRecorder::read_by(const LaneAccess& access) {
  const Mark mine = mark_of(access);
  const auto range =
      shadow(access.region).range(access.offset, static_cast<std::size_t>(access.bytes));
  for (std::uint64_t i = range.first; i < range.last; ++i) {
    Cell& cell = shadow(access.region).cell(i);
    if (cell.pending != 0) {
      Mistake mistake =
          mistake_at(Kind::async_not_waited, Memory::shared, sites_[access.site].here);
      mistake.other_here = sites_[cell.pending_site].here;
      mistake.writes = false;
      mistake.thread = access.thread;
      mistake.other_thread = cell.pending - 1;
      report(std::move(mistake), access);
    } else if (cell.write.epoch == mine.epoch) {
      check_pair(cell.write, true, mine, false, false, access);
    } else if (cell.write.epoch == 0) {
      if (access.region == kSharedRegion || context_.options.fresh_outputs)
        unwritten_.push_back(access);
    }
    if (context_.options.forget_tiles && access.region == kSharedRegion) {
      if (TileAt* const tile = tile_at(access.offset)) {
        tile->read_epoch = epoch_;
        if (cell.write.epoch != 0 && cell.generation != tile->generation) {
          Mistake mistake = mistake_at(Kind::stale_read, Memory::shared, sites_[access.site].here);
          mistake.other_here = sites_[cell.write.site].here;
          mistake.writes = false;
          mistake.thread = access.thread;
          mistake.other_thread = cell.write.thread;
          report(std::move(mistake), access);
        }
      }
    }
    cell.plain_read = true;
    if (cell.read.epoch != mine.epoch) {
      cell.read = mine;
      cell.other_read = {};
    } else if (cell.read.thread != mine.thread &&
               (cell.other_read.epoch != mine.epoch ||
                warp_of(cell.other_read.thread) == warp_of(cell.read.thread))) {
      cell.other_read = mine;
    }
  }
}

void BlockRecorder::write_by(const LaneAccess& access) {
  const Mark mine = mark_of(access);
  const auto range =
      shadow(access.region).range(access.offset, static_cast<std::size_t>(access.bytes));
  for (std::uint64_t i = range.first; i < range.last; ++i) {
    Cell& cell = shadow(access.region).cell(i);
    const std::uint64_t bits =
        range.last - range.first == 1 || shadow(access.region).piece() >= 8
            ? access.bits
            : access.bits >> (i - range.first) * shadow(access.region).piece() % 8 * 8;
    if (cell.pending != 0 && cell.pending != access.thread + 1) {
      Mistake mistake =
          mistake_at(Kind::async_not_waited, Memory::shared, sites_[access.site].here);
      mistake.other_here = sites_[cell.pending_site].here;
      mistake.thread = access.thread;
      mistake.other_thread = cell.pending - 1;
      report(std::move(mistake), access);
    }
    if (cell.write.epoch == mine.epoch)
      check_pair(cell.write, true, mine, true,
                 cell.bits == bits && !cell.write.is_atomic && !access.is_atomic, access);
    if (cell.read.epoch == mine.epoch) check_pair(cell.read, false, mine, true, false, access);
    if (cell.other_read.epoch == mine.epoch)
      check_pair(cell.other_read, false, mine, true, false, access);
    cell.write = mine;
    cell.bits = bits;
    (access.is_atomic ? cell.atomic_write : cell.plain_write) = true;
    if (context_.options.forget_tiles && access.region == kSharedRegion) {
      if (TileAt* const tile = tile_at(access.offset)) {
        if (tile->load_epoch != epoch_ && tile->read_epoch > tile->load_epoch) ++tile->generation;
        tile->load_epoch = epoch_;
        cell.generation = tile->generation;
      }
    }
  }
}

void BlockRecorder::issue_async(const LaneAccess& access) {
  write_by(access);
  auto& async = async_[static_cast<std::size_t>(access.thread)];
  async.copies.push_back(
      {async.committed, access.region, access.offset, access.bytes, access.site});
  const auto range =
      shadow(access.region).range(access.offset, static_cast<std::size_t>(access.bytes));
  for (std::uint64_t i = range.first; i < range.last; ++i) {
    Cell& cell = shadow(access.region).cell(i);
    cell.pending = static_cast<std::uint16_t>(access.thread + 1);
    cell.pending_site = access.site;
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
    const LaneAccess access{copy.region, copy.bytes, thread, copy.offset, 0, copy.site, false};
    const Mark mine = mark_of(access);
    const auto range = shadow(copy.region).range(copy.offset, static_cast<std::size_t>(copy.bytes));
    for (std::uint64_t i = range.first; i < range.last; ++i) {
      Cell& cell = shadow(copy.region).cell(i);
      if (cell.pending != thread + 1) continue;
      cell.pending = 0;
      cell.write = mine;  // now it is there, for this thread
    }
  }
  std::erase_if(async.copies, arrived);
}

void BlockRecorder::never_waited(int thread) {
  for (const Pending& copy : async_[static_cast<std::size_t>(thread)].copies) {
    Mistake mistake = mistake_at(Kind::async_never_waited, Memory::shared, sites_[copy.site].here);
    mistake.thread = thread;
    locate(mistake, copy.region, copy.offset);
    add_mistake(std::move(mistake));
  }
}

void BlockRecorder::resolve_uninitialized() {
  for (const LaneAccess& access : unwritten_) {
    const auto range =
        shadow(access.region).range(access.offset, static_cast<std::size_t>(access.bytes));
    bool is_race = true;  // written by another thread since: reported as a race
    for (std::uint64_t i = range.first; i < range.last; ++i) {
      const Mark& write = shadow(access.region).cell(i).write;
      is_race = is_race && write.epoch != 0 && write.thread != access.thread;
    }
    if (is_race) continue;
    Mistake mistake = mistake_at(Kind::uninitialized_read,
                                 access.region == kSharedRegion ? Memory::shared : Memory::global,
                                 sites_[access.site].here);
    mistake.writes = false;
    mistake.thread = access.thread;
    if (const char* name = superstep_of_[static_cast<std::size_t>(access.thread)])
      mistake.superstep = name;
    report(std::move(mistake), access);
  }
  unwritten_.clear();
}

void BlockRecorder::collect_touched(BlockResult& out) {
  for (std::size_t number = kFirstBuffer; number < regions_.size(); ++number) {
    if (!regions_[number].is_output) continue;
    Shadow& cells = shadows_[number];
    cells.for_each([&](std::uint64_t i, const Cell& cell) {
      if (!cell.touched()) return;
      out.touched.push_back({static_cast<int>(number), i * cells.piece(), cells.piece(), cell.bits,
                             sites_[cell.write.site].here, sites_[cell.read.site].here,
                             cell.write.thread, cell.read.thread, cell.plain_write,
                             cell.atomic_write, cell.plain_read});
    });
  }
}

}  // namespace tessera::check
