// What changes in shared storage without being told: plain members of a kernel's Shared, and what
// raw pointers lead to. At each block barrier every byte that is another one than before belongs to
// an access since then, or is reported: the rules know nothing of it. See block_recorder.hpp.
#include <cstring>

#include "block_recorder.hpp"

namespace tessera::check {

void BlockRecorder::poison_shared(std::byte* shared, std::size_t bytes) {
  // NaN in every type of element, as at any launch; but no whole number that a kernel may mean.
  for (std::size_t i = 0; i < bytes; ++i) shared[i] = std::byte(i % 2 == 0 ? 0xff : 0x7f);
  seen_.assign(shared, shared + bytes);
}

void BlockRecorder::find_unseen_writes() {
  if (!rules_ || failed_ || shared_bytes_ == 0) return;
  const auto* const now = reinterpret_cast<const std::byte*>(shared_begin_);
  if (std::memcmp(now, seen_.data(), seen_.size()) == 0) return;
  Shadow& cells = shadow(kSharedRegion);
  bool is_inside = false;  // of a run of such bytes
  for (std::size_t at = 0; at < seen_.size(); ++at) {
    const bool has_changed = now[at] != seen_[at];
    if (has_changed) {
      const Cell& cell = cells.cell(at / cells.piece());
      const bool is_told = cell.write.epoch == epoch_ || cell.update.epoch == epoch_;
      if (!is_told && !is_inside) {
        Mistake mistake = mistake_at(Kind::unseen_write, Memory::shared, {}, -1);
        mistake.severity = Severity::warning;
        mistake.object = object_at(kSharedRegion, at);
        if (!is_repeated(mistake)) {
          locate(mistake, kSharedRegion, at);
          add_mistake(std::move(mistake));
        }
      }
      is_inside = !is_told;
    }
  }
  seen_.assign(now, now + seen_.size());
}

}  // namespace tessera::check
