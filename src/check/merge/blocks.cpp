// Adds up the results of blocks: see blocks.hpp.
#include "blocks.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tessera::check {

namespace {

std::vector<std::string> union_of(std::vector<std::string> tiles,
                                  const std::vector<std::string>& others) {
  for (const auto& each : others)
    if (std::find(tiles.begin(), tiles.end(), each) == tiles.end()) tiles.push_back(each);
  return tiles;
}

}  // namespace

void MergedBlocks::add(std::size_t index, BlockResult result) {
  const std::lock_guard lock(mutex_);
  waiting_.emplace(index, std::move(result));
  for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
       first = waiting_.begin()) {
    merge(first->second);
    waiting_.erase(first);
    ++next_;
  }
}

void MergedBlocks::add_mistake(const Mistake& mistake) {
  for (auto& each : mistakes_) {
    if (is_same_mistake(each, mistake) && each.tensor == mistake.tensor)
      return merge_mistake(each, mistake);
  }
  mistakes_.push_back(mistake);
}

void MergedBlocks::merge(const BlockResult& result) {
  for (const auto& mistake : result.mistakes) add_mistake(mistake);
  for (const auto& place : result.places)
    lines_[{place.here.file, place.here.line}] += place.counters;
  for (const auto& superstep : result.supersteps) {
    const auto found = std::find_if(supersteps_.begin(), supersteps_.end(),
                                    [&](const auto& each) { return each.name == superstep.name; });
    if (found == supersteps_.end()) {
      supersteps_.push_back(superstep);
    } else {
      found->times += superstep.times;
      found->counters += superstep.counters;
    }
  }
  for (const auto& access : result.accesses) {
    const AccessSample& mine = access.sample;
    const int flags = (mine.is_store ? 1 : 0) + (mine.is_atomic ? 2 : 0) + (mine.is_async ? 4 : 0) +
                      8 * static_cast<int>(mine.memory) + 64 * mine.bytes;
    const bool by_tensor = mine.memory == Memory::global;  // tiles of one line are shown together
    const auto [at, is_new] = sample_index_.try_emplace(
        std::tuple(std::string(access.here.file), access.here.line, access.here.column, flags,
                   by_tensor ? mine.tensor : std::string()),
        samples_.size());
    if (is_new) {
      samples_.push_back(mine);
      samples_.back().location = {access.here.file, access.here.line, access.here.column};
      continue;
    }
    AccessSample& known = samples_[at->second];
    const std::int64_t requests = known.requests + mine.requests;
    const std::int64_t all_transfers = known.all_transfers + mine.all_transfers;
    const std::vector<std::string> tiles = union_of(known.tiles, mine.tiles);
    if (mine.transfers > known.transfers) {
      const Location location = known.location;
      known = mine;
      known.location = location;
    }
    known.tiles = tiles;
    known.requests = requests;
    known.all_transfers = all_transfers;
  }
  if (gate_phases_.empty()) gate_phases_ = result.gate_phases;
  if (gates_.empty()) gates_ = result.gates, tiles_ = result.tiles;
  if (!result.atomics.empty()) atomics_[result.block] = result.atomics;
  if (result.near_fence.line > 0) near_fences_[result.block] = result.near_fence;
  for (const auto& touched : result.touched) {
    Boxes& boxes = boxes_[static_cast<std::size_t>(touched.region)];
    if (touched.plain_write || touched.atomic_write) boxes.is_written = true;
    if (boxes.is_written && !boxes.reads.empty()) {
      for (const auto& [read, is_ordered] : std::exchange(boxes.reads, {}))
        meet_box(read, is_ordered);
    }
    meet(touched, result.block, result.is_ordered);
    if (!result.is_ordered && !ordered_.empty()) meet_others(touched, result.block);
  }
  meet_ordered(result);
  for (const BoxRead& read : result.box_reads) keep_box(read, result.is_ordered);
}

void MergedBlocks::keep_box(const BoxRead& read, bool is_ordered) {
  Boxes& boxes = boxes_[static_cast<std::size_t>(read.region)];
  if (boxes.is_written) meet_box(read, is_ordered);
  else boxes.reads.emplace_back(read, is_ordered);
}

void MergedBlocks::meet_box(const BoxRead& read, bool is_ordered) {
  const std::int64_t block = read.past.when.block;
  Touched touched{};
  touched.region = read.region;
  touched.bytes = static_cast<std::uint64_t>(read.element_bytes);
  touched.read = read.here;
  touched.reader = read.past.when.thread;
  touched.plain_read = true;
  for (std::int64_t row = 0; row < read.rows; ++row) {
    for (std::int64_t col = 0; col < read.cols; ++col) {
      touched.offset = read.offset + static_cast<std::uint64_t>(row * read.stride_bytes +
                                                                col * read.element_bytes);
      meet(touched, block, is_ordered);
      if (is_ordered) {
        const OrderedTouch touch{read.region, touched.offset, read.here, read.past};
        compare(touch);
        add_ordered(touch);
      } else if (!ordered_.empty()) {
        meet_others(touched, block);
      }
    }
  }
}

MergedBlocks::First& MergedBlocks::first_at(int region, std::uint64_t offset) {
  const std::uint64_t piece = piece_[static_cast<std::size_t>(region)];
  if (const std::pair at(region, offset / kPageBytes); last_page_ == nullptr || at != last_at_) {
    last_page_ = &pages_[at];
    last_at_ = at;
    if (last_page_->empty()) last_page_->resize(static_cast<std::size_t>(kPageBytes / piece));
  }
  return (*last_page_)[static_cast<std::size_t>(offset % kPageBytes / piece)];
}

std::uint32_t MergedBlocks::place_of(const Here& here) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (is_same_place(places_[i], here)) return static_cast<std::uint32_t>(i);
  }
  places_.push_back(here);
  return static_cast<std::uint32_t>(places_.size() - 1);
}

void MergedBlocks::split(int region) {
  const std::uint64_t piece = std::exchange(piece_[static_cast<std::size_t>(region)], 1);
  for (auto& [at, page] : pages_) {
    if (at.first != region) continue;
    std::vector<First> bytes;
    for (const First& first : page) {
      for (std::uint64_t i = 0; i < piece; ++i) {
        bytes.push_back(first);
        bytes.back().value = first.value >> i % 8 * 8 & 0xff;
      }
    }
    page = std::move(bytes);
  }
}

void MergedBlocks::meet(const Touched& whole, std::int64_t block, bool is_ordered) {
  auto& piece = piece_[static_cast<std::size_t>(whole.region)];
  if (piece == 0) piece = whole.bytes;
  if (whole.bytes < piece) split(whole.region);
  if (whole.bytes == piece) return meet_piece(whole, block, is_ordered);
  for (std::uint64_t done = 0; done < whole.bytes; done += piece) {
    Touched touched = whole;
    touched.offset += done;
    touched.value = whole.value >> done % 8 * 8 & 0xff;
    meet_piece(touched, block, is_ordered);
  }
}

void MergedBlocks::meet_piece(const Touched& touched, std::int64_t block, bool is_ordered) {
  First& first = first_at(touched.region, touched.offset);
  const bool writes = touched.plain_write || touched.atomic_write;
  const bool is_written = first.writer_block >= 0 && first.writer_block != block,
             is_read = first.reader_block >= 0 && first.reader_block != block;
  if (writes && is_written) collide(touched, block, first, true, true);
  if (writes && is_read) collide(touched, block, first, true, false);
  if (touched.plain_read && is_written) collide(touched, block, first, false, true);
  if (is_ordered) return;  // compared by its clocks
  if (writes && first.writer_block < 0) {
    first.writer_block = block;
    first.value = touched.value;
    first.write = place_of(touched.write);
    first.writer = static_cast<std::uint16_t>(touched.writer);
    first.plain_write = touched.plain_write;
    first.atomic_write = touched.atomic_write;
    first.of_block = touched.of_block;
    first.is_volatile = touched.is_volatile;
  }
  if (touched.plain_read && first.reader_block < 0) {
    first.reader_block = block;
    first.read = place_of(touched.read);
    first.reader = static_cast<std::uint16_t>(touched.reader);
  }
}

namespace {
/// The place reported is the write; of two writes a plain one, then the later place, whichever
/// block came first: so a pair is the same finding in every run.
bool is_before(const Here& a, bool a_is_plain, const Here& b, bool b_is_plain) {
  return std::tie(a_is_plain, a.line, a.column) < std::tie(b_is_plain, b.line, b.column);
}
}  // namespace

void MergedBlocks::collide(const Touched& touched, std::int64_t block, const First& first,
                           bool mine_writes, bool first_wrote) {
  const bool of_block = touched.of_block || first.of_block;
  if (mine_writes && first_wrote && !touched.plain_write && !first.plain_write && !of_block) return;
  Mistake mistake;
  mistake.kind = Kind::race;
  mistake.memory = Memory::global;
  mistake.same_value = mine_writes && first_wrote && touched.plain_write && first.plain_write &&
                       !touched.atomic_write && !first.atomic_write && touched.value == first.value;
  mistake.severity = Severity::error;
  const Here mine = mine_writes ? touched.write : touched.read;
  const Here theirs = places_[first_wrote ? first.write : first.read];
  const bool mine_first = mine_writes && (!first_wrote || !is_before(mine, touched.plain_write,
                                                                     theirs, first.plain_write));
  mistake.here = mine_first ? mine : theirs;
  mistake.other_here = mine_first ? theirs : mine;
  const int my_thread = mine_writes ? touched.writer : touched.reader;
  const int their_thread = first_wrote ? first.writer : first.reader;
  const std::int64_t their_block = first_wrote ? first.writer_block : first.reader_block;
  mistake.thread = mine_first ? my_thread : their_thread;
  mistake.other_thread = mine_first ? their_thread : my_thread;
  mistake.block = mine_first ? block : their_block;
  mistake.other_block = mine_first ? their_block : block;
  mistake.writes = true;
  mistake.other_writes = mine_first ? first_wrote : mine_writes;
  mistake.is_atomic = mine_first ? !touched.plain_write : !first.plain_write;
  mistake.other_is_atomic =
      mistake.other_writes && (mine_first ? !first.plain_write : !touched.plain_write);
  mistake.is_volatile = mistake.is_atomic && (mine_first ? touched.is_volatile : first.is_volatile);
  mistake.other_is_volatile =
      mistake.other_is_atomic && (mine_first ? first.is_volatile : touched.is_volatile);
  mistake.of_block = of_block && mistake.is_atomic && mistake.other_is_atomic;
  set_raw(mistake, touched.region, touched.offset);
  explain_order(mistake);
  add_mistake(mistake);
}

void MergedBlocks::explain_order(Mistake& mistake) const {
  mistake.atomic_here = atomic_between(mistake.block, mistake.other_block);
  for (const std::int64_t block : {mistake.block, mistake.other_block}) {
    const auto found = near_fences_.find(block);
    if (found != near_fences_.end() && mistake.near_fence.line == 0)
      mistake.near_fence = found->second;
  }
}

Here MergedBlocks::atomic_between(std::int64_t a, std::int64_t b) const {
  const auto mine = atomics_.find(a), theirs = atomics_.find(b);
  if (mine == atomics_.end() || theirs == atomics_.end()) return {};
  for (const auto& x : mine->second) {
    for (const auto& y : theirs->second)
      if (x.region == y.region && x.offset == y.offset) return x.here;
  }
  return {};
}

void MergedBlocks::race(const OrderedTouch& mine, const OrderedTouch& theirs, Order order) {
  const auto is_atomic = [](const OrderedTouch& t) {
    return t.past.how == tessera::detail::Access::atomic ||
           t.past.how == tessera::detail::Access::atomic_load;
  };
  const bool mine_first =
      writes(mine) &&
      (!writes(theirs) || !is_before(mine.here, !is_atomic(mine), theirs.here, !is_atomic(theirs)));
  const OrderedTouch& first = mine_first ? mine : theirs;
  const OrderedTouch& second = mine_first ? theirs : mine;
  Mistake mistake;
  mistake.kind = Kind::race;
  mistake.memory = Memory::global;
  mistake.same_value = mine.past.how == tessera::detail::Access::store &&
                       theirs.past.how == tessera::detail::Access::store &&
                       mine.past.bits == theirs.past.bits;
  mistake.severity = order == Order::lacks_acquire ? Severity::warning : Severity::error;
  mistake.order = order;
  mistake.here = first.here, mistake.other_here = second.here;
  mistake.thread = first.past.when.thread, mistake.other_thread = second.past.when.thread;
  mistake.block = first.past.when.block, mistake.other_block = second.past.when.block;
  mistake.other_writes = writes(second);
  mistake.is_atomic = is_atomic(first), mistake.other_is_atomic = is_atomic(second);
  mistake.is_volatile = first.past.is_volatile && mistake.is_atomic;
  mistake.other_is_volatile = second.past.is_volatile && mistake.other_is_atomic;
  mistake.of_block =
      (mine.past.of_block || theirs.past.of_block) && mistake.is_atomic && mistake.other_is_atomic;
  explain_order(mistake);
  if (is_atomic(mine) && is_atomic(theirs) && !mistake.of_block &&
      (mistake.atomic_here.line == 0 || mistake.near_fence.line == 0)) {
    mistake.atomic_here = {};
    mistake.advice =
        "the read may come first, and its memory has no value before the launch: set it to a value "
        "there, or order the two by an atomic update and fences around it";
  }
  set_raw(mistake, mine.region, mine.offset);
  add_mistake(mistake);
}

void MergedBlocks::compare(const OrderedTouch& touch) {
  const auto found = ordered_.find({touch.region, touch.offset});
  if (found == ordered_.end()) return;
  for (const OrderedTouch& other : found->second) {
    if (other.past.when.block == touch.past.when.block || !conflict(other.past, touch.past))
      continue;
    const Order order = order_of(other.past, touch.past);
    if (order != Order::ordered) race(touch, other, order);
  }
}

void MergedBlocks::add_ordered(const OrderedTouch& touch) {
  auto& there = ordered_[{touch.region, touch.offset}];
  const auto is_alike = [&](const OrderedTouch& each) { return writes(each) == writes(touch); };
  if (std::ssize(there) < kMostOrdered ||
      std::count_if(there.begin(), there.end(), is_alike) < kMostOrdered)
    there.push_back(touch);
}

void MergedBlocks::meet_ordered(const BlockResult& result) {
  for (const OrderedTouch& touch : result.ordered) {
    compare(touch);
    if (touch.past.how == tessera::detail::Access::atomic_load) meet_first(touch);
    add_ordered(touch);
  }
  const auto base = static_cast<std::uint32_t>(unwritten_mistakes_.size());
  for (UnwrittenOutput each : result.unwritten) {
    if (unwritten_.size() == kMostUnwritten) break;
    if (each.poll == nullptr && is_written_by_others(each, result.block)) continue;
    each.mistake += base;
    unwritten_.push_back(each);
  }
  unwritten_mistakes_.insert(unwritten_mistakes_.end(), result.unwritten_mistakes.begin(),
                             result.unwritten_mistakes.end());
}

OrderedTouch MergedBlocks::write_of(const First& first, int region, std::uint64_t offset) const {
  using tessera::detail::Access;
  OrderedTouch write{region, offset, places_[first.write], {}};
  write.past.how = first.plain_write ? Access::store : Access::atomic;
  write.past.is_volatile = first.is_volatile;
  write.past.bits = first.value;
  write.past.when.block = first.writer_block;
  write.past.when.thread = first.writer;
  return write;
}

void MergedBlocks::meet_first(const OrderedTouch& load) {
  if (piece_[static_cast<std::size_t>(load.region)] == 0) return;
  const First& first = first_at(load.region, load.offset);
  if (first.plain_write && first.writer_block != load.past.when.block)
    race(load, write_of(first, load.region, load.offset), Order::none);
}

void MergedBlocks::meet_others(const Touched& touched, std::int64_t block) {
  using tessera::detail::Access;
  OrderedTouch touch{touched.region, touched.offset, touched.write, {}};
  touch.past.when.block = block;
  touch.past.when.epoch = ~std::uint32_t{0};  // no clock orders it
  touch.past.bits = touched.value;
  touch.past.when.thread = touched.writer;
  if (touched.plain_write) touch.past.how = Access::store, compare(touch);
  touch.past.of_block = touched.of_block, touch.past.is_volatile = touched.is_volatile;
  if (touched.atomic_write) touch.past.how = Access::atomic, compare(touch);
  touch.past.of_block = touch.past.is_volatile = false;
  touch.here = touched.read;
  touch.past.when.thread = touched.reader;
  if (touched.plain_read) touch.past.how = Access::load, compare(touch);
}

}  // namespace tessera::check
