// Finds reads of memory without a value. A copy of an object in a kernel of plain CUDA also reads
// its padding: see padding.hpp, block/recorder.hpp.
#include <algorithm>
#include <bit>
#include <memory>
#include <tuple>

#include "block/recorder.hpp"
#include "filled.hpp"
#include "padding.hpp"

namespace tessera::check {

using tessera::detail::Access;

std::optional<std::uint16_t> BlockRecorder::fill_of(int number) const {
  const auto& launch = context_.launch;
  if (!rules_ || !launch.is_cuda) return std::nullopt;
  if (number == kSharedRegion) return kNoValue;
  const auto& buffer = launch.buffers[static_cast<std::size_t>(region(number).buffer)];
  return buffer.has_unwritten ? buffer.fill : std::nullopt;
}

bool BlockRecorder::has_value(int number, std::uint64_t offset) {
  Shadow& cells = shadow(number);
  if (cells.cell(offset / cells.piece()).written()) return true;
  return !lacks_first_value({number, 1, 0, offset, 0, 0});
}

bool BlockRecorder::lacks_first_value(const LaneAccess& piece) const {
  return piece.region == kSharedRegion || context_.options.fresh_outputs || holds_nothing(piece);
}

bool BlockRecorder::holds_unseen(const LaneAccess& whole) {
  for (std::uint64_t bits = whole.bits; bits != 0; bits &= bits - 1)
    if (!has_value(whole.region, whole.offset + static_cast<unsigned>(std::countr_zero(bits))))
      return true;
  return false;
}

void BlockRecorder::add_missing(const LaneAccess& whole, const LaneAccess& piece, Access how,
                                std::uint64_t& judged) {
  if (holds_unseen(whole)) return;
  const std::uint64_t end = piece.offset + static_cast<std::uint64_t>(piece.bytes),
                      end_of_whole = whole.offset + static_cast<std::uint64_t>(whole.bytes);
  std::uint64_t first = std::max(piece.offset, judged);
  while (first < end && !lacks_value(whole, first)) ++first;
  if (first >= end) return;
  judged = first;
  while (judged < end_of_whole && lacks_value(whole, judged)) ++judged;
  LaneAccess missing = whole;
  missing.offset = first, missing.bytes = static_cast<int>(judged - first);
  add_unwritten(missing, how);
}

bool BlockRecorder::is_padding(const LaneAccess& whole, std::uint64_t at) {
  if (!context_.launch.is_cuda) return false;
  std::uint64_t begin = 0;  // of the array
  std::size_t element = 1;
  const std::optional<detail::Gaps>* gaps = nullptr;
  if (whole.region == kSharedRegion) {
    const auto* const variable = shared_variable_at(at);
    if (variable != nullptr)
      begin = variable->offset, element = variable->element_bytes, gaps = &variable->gaps;
  } else {
    const Region& r = region(whole.region);
    const auto& buffer = context_.launch.buffers[static_cast<std::size_t>(r.buffer)];
    begin = reinterpret_cast<std::uint64_t>(buffer.data) - r.begin;
    element = buffer.element_bytes, gaps = &buffer.gaps;
  }
  if (gaps != nullptr && gaps->has_value()) return is_in_gap(**gaps, element, at - begin);
  const std::uint64_t end = whole.offset + static_cast<std::uint64_t>(whole.bytes);
  std::uint64_t first = at, last = at;
  while (first > whole.offset && !has_value(whole.region, first - 1)) --first;
  while (last < end && !has_value(whole.region, last)) ++last;
  return first > whole.offset && may_be_padding(first, last);
}

bool BlockRecorder::holds_nothing(const LaneAccess& piece) const {
  const auto& launch = context_.launch;
  return launch.buffers[static_cast<std::size_t>(region(piece.region).buffer)].has_unwritten &&
         !launch.holds_value(region(piece.region).begin + piece.offset,
                             static_cast<std::size_t>(piece.bytes));
}

void BlockRecorder::add_unwritten(const LaneAccess& piece, Access how) {
  if (unwritten_.size() >= unwritten_room_) merge_unwritten();
  const std::uint32_t warp_epoch = warp_epoch_[static_cast<std::size_t>(warp_of(piece.thread))];
  const std::uint32_t stamp =
      replayed_.empty() ? 0 : replayed_[static_cast<std::size_t>(piece.thread)];
  unwritten_.push_back({piece, how, warp_epoch, stamp, 1});
}

void BlockRecorder::merge_unwritten() {
  const auto key = [](const Unwritten& u) {
    const LaneAccess& a = u.access;
    return std::tuple(a.region, a.offset, a.bytes, a.site, a.thread, u.how, u.warp_epoch, u.stamp);
  };
  std::stable_sort(unwritten_.begin(), unwritten_.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (const Unwritten& each : unwritten_) {
    if (kept > 0 && key(unwritten_[kept - 1]) == key(each))
      unwritten_[kept - 1].count += each.count;
    else unwritten_[kept++] = each;
  }
  unwritten_.resize(kept);
  unwritten_room_ = std::max(unwritten_room_, 2 * kept);
}

void BlockRecorder::resolve_uninitialized() {
  if (stopped_) unwritten_.clear();  // the threads that write may not have run
  for (const Unwritten& each : unwritten_) {
    Mark mark = mark_of(each.access);
    mark.warp_epoch = each.warp_epoch;
    bool is_race = true;  // unordered threads have written all of it
    for_each_piece(each.access, [&](const LaneAccess&, const Cell& cell) {
      const auto meets = [&](const Marks& writers) {
        return writers.unordered(mark, warp_shift_, [](int, int, bool) {});
      };
      // Updates are ordered among themselves: the first one has read nothing.
      is_race =
          is_race && (meets(cell.write) || (each.how != Access::atomic && meets(cell.update)));
    });
    std::shared_ptr<Past> poll;
    if (!orders_.empty()) {
      const Stamp& stamp = stamps_[each.stamp];
      Past reader = past_of(each.access, each.how);
      reader.when.warp_epoch = each.warp_epoch;
      reader.when.tick = stamp.tick;
      reader.before = stamp.before, reader.read = stamp.read;
      if (each.how == Access::atomic_load &&
          context_.launch.is_cuda)  // what holds a value is known
        poll = std::make_shared<Past>(reader);
      is_race = true;
      for_each_piece(each.access, [&](const LaneAccess& piece, const Cell&) {
        is_race = is_race && is_written_before(piece, reader);
      });
    }
    if (is_race) continue;
    Mistake mistake = mistake_of(Kind::uninitialized_read, each.access, Access::load);
    mistake.count = each.count;
    mistake.bytes = each.access.bytes;
    // If another block may have written it, that race is the finding.
    if (each.access.region == kSharedRegion) report(std::move(mistake), each.access);
    else if (unwritten_outputs_.size() < kMostUnwritten)
      unwritten_outputs_.push_back({each.access.region, each.access.thread, each.access.offset,
                                    each.access.bytes, each.count, unwritten_mistake(mistake),
                                    each.how == Access::atomic, std::move(poll)});
  }
  unwritten_.clear();
}

std::uint32_t BlockRecorder::unwritten_mistake(const Mistake& mistake) {
  const auto found =
      std::find_if(unwritten_mistakes_.begin(), unwritten_mistakes_.end(), [&](const Mistake& m) {
        return m.superstep == mistake.superstep && is_same_mistake(m, mistake);
      });
  const auto index = static_cast<std::uint32_t>(found - unwritten_mistakes_.begin());
  if (found == unwritten_mistakes_.end()) unwritten_mistakes_.push_back(mistake);
  return index;
}

}  // namespace tessera::check
