// Judges accesses in blocks with gates: see rules.hpp.
#include <cstring>
#include <utility>

#include "check/block/recorder.hpp"
#include "rules.hpp"

namespace tessera::check {

using tessera::detail::Access;

Trace AsyncRules::trace_of(int thread, Access how, Here here) const {
  return {agent_of(thread),
          now(thread),
          recorder_.site_of(here),
          static_cast<std::uint16_t>(thread),
          static_cast<std::uint8_t>(rank_),
          how};
}

void AsyncRules::access(int region, std::uint64_t offset, std::size_t bytes, Access how,
                        Here here) {
  const int thread = recorder_.thread_;
  judge(region, offset, bytes, {trace_of(thread, how, here), &clock(thread)});
}

void AsyncRules::copies_async(std::uint64_t offset, std::size_t bytes, Here here) {
  const int thread = recorder_.thread_;
  Trace trace = trace_of(thread, Access::store, here);
  trace.agent = agent_of(AgentKind::copier, thread);
  Mine& m = mine(thread);
  trace.time = static_cast<std::uint32_t>(m.copies);
  m.last_copy = m.copies, m.last_copied = offset, m.last_copy_here = here;
  judge(kSharedRegion, offset, bytes, {trace, &clock(thread)});
}

bool AsyncRules::is_ordered(const Trace& earlier, const Doer& doer) const {
  // Operations of one kind that a thread starts are ordered among themselves, except copies of one
  // gate and the writes of bulk stores.
  const AgentKind kind = agent(earlier).kind;
  const bool in_any_order = kind == AgentKind::gate || kind == AgentKind::storer;
  if (doer.trace.agent == earlier.agent && !in_any_order) return true;
  return doer.before->covers(earlier.agent, earlier.time);
}

bool AsyncRules::is_of_copy_to_come(const Trace& earlier, const Doer& doer) const {
  return earlier.of_nothing && earlier.how == Access::load &&
         agent(doer.trace).kind == AgentKind::gate;
}

void AsyncRules::add_other(AgentCell& cell, const Doer& doer) {
  std::erase_if(cell.others, [&](const Trace& each) {
    return each.how == doer.trace.how && is_ordered(each, doer);
  });
  cell.others.push_back(doer.trace);
}

void AsyncRules::judge(int region, std::uint64_t offset, std::uint64_t bytes, const Doer& doer) {
  const bool writes = doer.trace.how == Access::store;
  std::uint64_t nothing = 0;  // bytes that were never written
  int reported = -1;          // the position of the last finding of this access
  shadows_[static_cast<std::size_t>(region)].for_each(
      offset, bytes, [&](std::uint64_t at, AgentCell& cell) {
        Doer mine = doer;
        if (cell.write.any()) meet(region, at, cell.write, cell, doer, reported);
        else mine.trace.of_nothing = !writes;
        for (const Trace& each : cell.others) meet(region, at, each, cell, doer, reported);
        if (!writes) {
          if (mine.trace.of_nothing && nothing++ == 0 && region == kSharedRegion)
            nothing_.push_back({mine.trace, at, last_wait_of(mine.trace)});
          return add_other(cell, mine);
        }
        cell.write = doer.trace;
        cell.epoch = recorder_.epoch_;
        cell.others.clear();
        cell.is_reported = false;
      });
}

void AsyncRules::meet(int region, std::uint64_t offset, const Trace& earlier, AgentCell& cell,
                      const Doer& doer, int& reported) {
  if (cell.is_reported || !conflict(earlier.how, doer.trace.how)) return;
  const bool is_conflict = !is_ordered(earlier, doer) || is_of_copy_to_come(earlier, doer);
  if (!is_conflict && !lacks_fence(region, earlier, doer)) return;
  cell.is_reported = true;
  if (std::exchange(reported, earlier.site) == earlier.site) return;
  if (is_conflict) report_conflict(region, offset, earlier, doer);
  else report_missing_fence(region, offset, earlier, doer);
}

bool AsyncRules::lacks_fence(int region, const Trace& earlier, const Doer& doer) const {
  const bool is_write = earlier.how == Access::store || earlier.how == Access::atomic;
  if (!doer.is_bulk || !is_write || agent(earlier).kind != AgentKind::thread) return false;
  if (region == kSharedRegion)
    return !doer.before->covers(fence_agent(earlier.agent), earlier.time);
  const auto fence =
      cluster_->agent_index.find({earlier.rank, AgentKind::global_fence, earlier.thread});
  return fence == cluster_->agent_index.end() || !doer.before->covers(fence->second, earlier.time);
}

void AsyncRules::report_missing_fence(int region, std::uint64_t offset, const Trace& earlier,
                                      const Doer& doer) {
  Mistake mistake = recorder_.mistake_at(Kind::missing_async_fence, recorder_.region(region).memory,
                                         here_of(doer.trace.site), doer.trace.thread);
  mistake.other_here = here_of(earlier.site);
  mistake.other_thread = earlier.thread;
  name_blocks(mistake, doer.trace.rank, earlier.rank);
  mistake.detail = verb_of(doer.trace);
  report(std::move(mistake), region, offset);
}

// ---- boxes --------------------------------------------------------------------------------------

template <class Body>
bool AsyncRules::for_each_element(const BulkMove& move, Access how, Here here, const Body& body) {
  const BulkFields& f = move.fields;
  const auto size = static_cast<std::size_t>(f.element_bytes);
  const std::size_t mixed = (std::size_t{1} << static_cast<int>(f.swizzle)) - 1;
  const auto first = reinterpret_cast<std::uint64_t>(f.data);
  int number = 0;
  const Region* const found = recorder_.find_region(first, &number);
  if (found == nullptr) return true;  // memory of no argument
  std::uint64_t outside = 0;          // the first address that is not the matrix's
  for (int row = 0; row < f.box[1]; ++row) {
    const std::int64_t y = std::int64_t{move.y} + row;
    if (y < 0 || y >= f.extent[1]) continue;
    for (int col = 0; col < f.box[0]; ++col) {
      const std::int64_t x = std::int64_t{move.x} + col;
      if (x < 0 || x >= f.extent[0]) continue;
      const std::uint64_t address =
          first +
          static_cast<std::uint64_t>(y * f.stride_bytes + x * static_cast<std::int64_t>(size));
      if (address + size > found->end) {
        if (outside == 0) outside = address;
        continue;
      }
      std::size_t at =
          move.shared + (static_cast<std::size_t>(row) * static_cast<std::size_t>(f.box[0]) +
                         static_cast<std::size_t>(col)) *
                            size;
      at ^= (at >> 7 & mixed) << 4;
      body(number, address - found->begin, at);
    }
  }
  if (outside != 0 && here.line > 0) recorder_.report_away(number, outside, how, here);
  return outside == 0;
}

namespace {
std::uint64_t bytes_of_box(const BulkFields& f) {
  return static_cast<std::uint64_t>(f.box[0]) * static_cast<std::uint64_t>(f.box[1]) *
         static_cast<std::uint64_t>(f.element_bytes);
}
}  // namespace

void AsyncRules::loads(int thread, const BulkMove& move, Here here) {
  begin();
  const int bytes = move.fields.element_bytes;
  const Trace read = trace_of(thread, Access::load, here);
  const int from = memory_of(move.fields);
  const bool is_judged = from >= 0 && (recorder_.region(from).is_output || is_stored_[nth(from)]);
  if (from >= 0 && !recorder_.region(from).is_output) recorder_.keep_read(from, move, thread, here);
  if (from >= 0 && !is_judged) reads_.push_back({read, move.fields, move.x, move.y});
  recorder_.in_current_order(thread, [&] {
    for_each_element(move, Access::load, here, [&](int region, std::uint64_t offset, std::size_t) {
      recorder_.cover_element(region, offset, Touches::kRead);
      if (!is_judged) return;
      judge(region, offset, static_cast<std::uint64_t>(bytes), {read, &clock(thread), true});
      if (recorder_.region(region).is_output)
        recorder_.read_by({region, bytes, thread, offset, 0, read.site}, Access::load);
    });
  });
}

void AsyncRules::complete_stores(int thread, std::int64_t groups) {
  auto& writing = mine(thread).writing;
  const auto is_done = [&](const Writing& each) { return each.group < groups; };
  recorder_.in_current_order(thread, [&] {
    for (const Writing& each : writing) {
      if (!is_done(each)) continue;
      for_each_element(
          {each.fields, each.x, each.y, 0}, Access::store, {},
          [&](int region, std::uint64_t offset, std::size_t) {
            recorder_.renew_past({region, each.fields.element_bytes, thread, offset, 0, each.site});
          });
    }
  });
  std::erase_if(writing, is_done);
}

int AsyncRules::memory_of(const BulkFields& fields) {
  int number = -1;
  recorder_.find_region(reinterpret_cast<std::uint64_t>(fields.data), &number);
  return number;
}

void AsyncRules::begin_stores_to(int region) {
  if (region < 0 || recorder_.region(region).is_output || is_stored_[nth(region)]) return;
  is_stored_[nth(region)] = true;
  for (const BulkRead& each : reads_) {
    if (memory_of(each.fields) != region) continue;
    for_each_element(
        {each.fields, each.x, each.y, 0}, Access::load, {},
        [&](int, std::uint64_t offset, std::size_t) {
          shadows_[nth(region)].for_each(
              offset, static_cast<std::uint64_t>(each.fields.element_bytes),
              [&](std::uint64_t, AgentCell& cell) { cell.others.push_back(each.read); });
        });
  }
}

void AsyncRules::copies(int thread, int rank, int number, const BulkMove& move, Here here) {
  block_at(rank).take_copy(*this, thread, number, move, here);
}

void AsyncRules::take_copy(AsyncRules& by, int thread, int number, const BulkMove& move,
                           Here here) {
  require_open(by, thread, number, true, here);
  GateAt& g = gate(number);
  const std::uint64_t bytes = bytes_of_box(move.fields);
  g.copied = {thread, here, by.rank_};
  count_bytes(by, thread, number, move.shared, static_cast<std::int64_t>(bytes));
  g.copied_phase = g.phases, g.copied_to = move.shared;
  g.bytes -= static_cast<std::int64_t>(bytes);
  // The copying block has passed its tile on.
  if (const auto* tile = &by == this ? nullptr : by.recorder_.tile_at(move.shared))
    recorder_.shared_tile(tile->base, *tile->info);
  Trace trace = by.trace_of(thread, Access::store, here);
  trace.site = recorder_.site_of(here);
  trace.agent = g.agent;
  trace.time = static_cast<std::uint32_t>(g.phases);
  judge(kSharedRegion, move.shared, bytes, {trace, &by.clock(thread), true});
  if (&by == this) return;
  is_reached(trace);
  // The copy starts after these phases of gates, so its bytes come after them.
  for (const int agent : cluster_->gates) g.pending.join(by.clock(thread), agent);
}

bool AsyncRules::stores(int thread, const BulkMove& move, Here here) {
  begin();
  Mine& m = mine(thread);
  const BulkFields& f = move.fields;
  const std::uint64_t bytes = bytes_of_box(f);
  m.last_store = m.stores;
  m.last_store_here = here;
  m.last_source = {move.shared, static_cast<std::size_t>(bytes)};
  m.store_times.resize(static_cast<std::size_t>(m.stores) + 1, now(thread));
  Trace trace = trace_of(thread, Access::load, here);
  trace.agent = agent_of(AgentKind::reader, thread);
  trace.time = static_cast<std::uint32_t>(m.stores);
  judge(kSharedRegion, move.shared, bytes, {trace, &clock(thread), true});
  trace.agent = agent_of(AgentKind::storer, thread);
  trace.how = Access::store;
  begin_stores_to(memory_of(f));
  m.writing.push_back({m.stores, f, move.x, move.y, trace.site});
  bool is_possible = true;
  recorder_.in_current_order(thread, [&] {
    is_possible = for_each_element(
        move, Access::store, here, [&](int region, std::uint64_t offset, std::size_t from) {
          recorder_.cover_element(region, offset, Touches::kWritten);
          judge(region, offset, static_cast<std::uint64_t>(f.element_bytes),
                {trace, &clock(thread), true});
          std::uint64_t bits = 0;
          std::memcpy(
              &bits, reinterpret_cast<const void*>(recorder_.shared_begin_ + from),
              std::min<std::size_t>(static_cast<std::size_t>(f.element_bytes), sizeof bits));
          recorder_.write_by({region, f.element_bytes, thread, offset, bits, trace.site},
                             Access::store);
        });
  });
  return is_possible;
}

}  // namespace tessera::check
