// Memory that changes without a recorded access: plain members of a kernel's Shared, and targets of
// raw pointers. At each block barrier, every changed byte of shared storage must belong to an
// access since the previous one; at the end, every changed element of an output must have been
// written. Other changes are reported, since the rules cannot judge them.
#include <algorithm>
#include <cstring>
#include <utility>

#include "filled.hpp"
#include "finish_report.hpp"

namespace tessera::check {

void BlockRecorder::poison_shared(std::byte* shared, std::size_t bytes) {
  fill_memory(shared, bytes, kNoValue);
  if (context_.launch.sees_everything) return;
  seen_.assign(shared, shared + bytes);
  seen_until_ = epoch_;
}

void BlockRecorder::find_unseen_writes() {
  if (!rules_ || failed_ || shared_bytes_ == 0 || context_.launch.sees_everything) return;
  const std::uint32_t since = std::exchange(seen_until_, epoch_ + 1);
  const auto* const now = reinterpret_cast<const std::byte*>(shared_begin_);
  if (std::memcmp(now, seen_.data(), seen_.size()) == 0) return;
  Shadow& cells = shadow(kSharedRegion);
  const auto is_unseen = [&](std::size_t at) {
    if (now[at] == seen_[at]) return false;
    if (async_rules_.is_on()) return !async_rules_.is_written(at, since);
    const Cell& cell = cells.cell(at / cells.piece());
    return cell.write.epoch < since && cell.update.epoch < since;
  };
  bool was_unseen = false;  // of the previous byte: a run of them is one occurrence
  for (std::size_t at = 0; at < seen_.size(); ++at) {
    if (!is_unseen(at)) {
      was_unseen = false;
      continue;
    }
    if (std::exchange(was_unseen, true)) continue;
    Mistake mistake = mistake_at(Kind::unseen_write, Memory::shared, {}, -1);
    mistake.severity = Severity::warning;
    mistake.object = object_at(kSharedRegion, at);
    if (is_repeated(mistake)) continue;
    locate(mistake, kSharedRegion, at);
    add_mistake(std::move(mistake));
  }
  seen_.assign(now, now + seen_.size());
}

void judge_unseen(const RunContext& context, const std::vector<const BlockRecorder*>& recorders,
                  MergedBlocks& merged) {
  for (std::size_t i = 0; i < context.before.size(); ++i) {
    const Region& region = context.regions[i];
    const auto& before = context.before[i];
    const auto& buffer = context.launch.buffers[static_cast<std::size_t>(region.buffer)];
    const auto* const now = reinterpret_cast<const std::byte*>(region.begin);
    const std::size_t bytes = buffer.element_bytes, count = before.size() / bytes;
    for (std::size_t element = 0; element < count; ++element) {
      const std::size_t at = element * bytes;
      if (std::memcmp(now + at, before.data() + at, bytes) == 0) continue;
      const bool is_told = std::any_of(recorders.begin(), recorders.end(), [&](const auto* each) {
        return (each->touches()[i + kFirstBuffer].at(element) & ~Touches::kRead) != 0;
      });
      if (is_told) continue;
      Mistake mistake;
      mistake.kind = Kind::unseen_write;
      mistake.severity = Severity::warning;
      mistake.memory = Memory::global;
      mistake.tensor = buffer.name;
      const auto from_data = static_cast<std::int64_t>(
          region.begin + at - reinterpret_cast<std::uint64_t>(buffer.data));
      if (!coordinates_of(buffer.layout, from_data / static_cast<std::int64_t>(bytes),
                          mistake.element))
        mistake.element.clear();
      merged.add_mistake(mistake);
    }
  }
}

}  // namespace tessera::check
