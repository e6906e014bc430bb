// Reads of memory that held no value before the launch and that the reading block had not written:
// see blocks.hpp.
#include <algorithm>
#include <utility>

#include "blocks.hpp"

namespace tessera::check {

bool MergedBlocks::is_written_by_others(const UnwrittenOutput& read, std::int64_t block) {
  using tessera::detail::Access;
  if (piece_[static_cast<std::size_t>(read.region)] != 0) {
    const First& first = first_at(read.region, read.offset);
    const bool counts = first.plain_write || !read.is_update;
    if (counts && first.writer_block >= 0 && first.writer_block != block) return true;
  }
  const auto found = ordered_.find({read.region, read.offset});
  return found != ordered_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [&](const OrderedTouch& each) {
           const bool counts = read.is_update ? each.past.how == Access::store : writes(each);
           return counts && each.past.when.block != block;
         });
}

void MergedBlocks::meet_early(const OrderedTouch& read) {
  std::vector<OrderedTouch> writers;
  if (const auto found = ordered_.find({read.region, read.offset}); found != ordered_.end()) {
    if (std::ssize(found->second) >= kMostOrdered) return;  // not all are known
    for (const OrderedTouch& each : found->second) {
      if (writes(each) && each.past.when.block != read.past.when.block) writers.push_back(each);
    }
  }
  if (piece_[static_cast<std::size_t>(read.region)] != 0) {
    const First& first = first_at(read.region, read.offset);
    if (first.writer_block >= 0 && first.writer_block != read.past.when.block)
      writers.push_back(write_of(first, read.region, read.offset));
  }
  const auto is_settled = [&](const OrderedTouch& each) {  // a plain write was compared
    return conflict(each.past, read.past) || covers(read.past.before, each.past.when) ||
           covers(read.past.read, each.past.when);
  };
  if (!writers.empty() && std::none_of(writers.begin(), writers.end(), is_settled))
    race(read, writers.front(), Order::none);
}

void MergedBlocks::judge_unwritten() {
  for (const UnwrittenOutput& each : std::exchange(unwritten_, {})) {
    Mistake mistake = unwritten_mistakes_[each.mistake];
    if (is_written_by_others(each, mistake.block)) {
      if (each.poll != nullptr) meet_early({each.region, each.offset, mistake.here, *each.poll});
      continue;
    }
    mistake.thread = each.thread;
    mistake.count = each.count;
    mistake.bytes = each.bytes;
    set_raw(mistake, each.region, each.offset);
    add_mistake(mistake);
  }
}

}  // namespace tessera::check
