// See counts.hpp.
#include "counts.hpp"

#include <algorithm>
#include <array>

#include "check/block/recorder.hpp"

namespace tessera::check {

namespace {

constexpr int kWarpgroupOfUnits = 128, kWarpOfUnits = 32;  // threads
constexpr std::int64_t kSector = 32, kCore = 128;

/// The part of a box that is inside the tensor.
struct InsideBox {
  std::int64_t sectors = 0, bytes = 0;
};
/// `base`: the distance of the matrix from the first byte of its tensor, which counts as aligned.
InsideBox inside_of(const BulkMove& move, std::int64_t base) {
  const BulkFields& f = move.fields;
  const std::int64_t size = f.element_bytes;
  const std::int64_t from = std::max<std::int64_t>(0, move.x),
                     to = std::min<std::int64_t>(f.extent[0], std::int64_t{move.x} + f.box[0]);
  InsideBox out;
  for (int row = 0; row < f.box[1] && from < to; ++row) {
    const std::int64_t y = std::int64_t{move.y} + row;
    if (y < 0 || y >= f.extent[1]) continue;
    const std::int64_t first = base + y * f.stride_bytes + from * size;
    const std::int64_t bytes = (to - from) * size;
    out.bytes += bytes;
    out.sectors += (first + bytes - 1) / kSector - first / kSector + 1;
  }
  return out;
}

std::int64_t bytes_of_whole(const BulkFields& f) {
  return std::int64_t{f.box[0]} * f.box[1] * f.element_bytes;
}

/// Passes through the banks for the eight rows of 16 bytes that a unit reads at once, for the first
/// rows that a descriptor names (facts of the descriptor: ops/unit_layout.hpp).
int passes_at(std::uint64_t descriptor) {
  const int mode = static_cast<int>(descriptor >> 62 & 3);  // none, 128, 64, 32 bytes
  const int width = mode == 0 ? 1 : 16 >> mode;             // in units of 16 bytes
  const std::uint64_t first = (descriptor & 0x3fff) << 4, mixed = width - 1;
  std::array<int, 8> rows{};  // by groups of four banks
  for (std::uint64_t row = 0; row < 8; ++row) {
    std::uint64_t at = first + row * 16 * static_cast<std::uint64_t>(width);
    at ^= (at >> 7 & mixed) << 4;
    ++rows[at >> 4 & 7];
  }
  return *std::max_element(rows.begin(), rows.end());
}

}  // namespace

template <class Body>
void AsyncCounts::count(Here here, const Body& body) {
  body(recorder_.counters_at(here));
  body(recorder_.epoch_counters_);
}

void AsyncCounts::start() {
  phases_.clear(), ended_.clear(), bytes_.clear(), passes_.clear();
  gates_.clear(), tiles_.clear();
  time_ = 0;
}

void AsyncCounts::opens(int thread, int gate, std::size_t shared, int arrivals, Here here) {
  const auto i = static_cast<std::size_t>(gate);
  if (i >= ended_.size()) ended_.resize(i + 1), gates_.resize(i + 1);
  ended_[i] = 0;
  gates_[i] = {static_cast<std::int64_t>(shared), {}, {}};
  if (rules_ != nullptr) rules_->opens(thread, gate, shared, arrivals, here);
}

void AsyncCounts::publishes(int thread) {
  if (rules_ != nullptr) rules_->publishes(thread);
}

void AsyncCounts::arrives(int thread, int rank, int gate, std::int64_t expected_bytes, Here here) {
  if (rank == recorder_.rank()) gates_[static_cast<std::size_t>(gate)].arrived = here;
  if (rules_ != nullptr) rules_->arrives(thread, rank, gate, expected_bytes, here);
}

void AsyncCounts::phase_ends(int gate) {
  ++ended_[static_cast<std::size_t>(gate)];
  if (rules_ != nullptr) rules_->phase_ends(gate);
}

void AsyncCounts::waits_at(int thread, int gate, unsigned phase, Here here) {
  gates_[static_cast<std::size_t>(gate)].waited = here;
  if (rules_ != nullptr) rules_->waits_at(thread, gate, phase, here);
}

void AsyncCounts::passes(int thread, int gate) {
  const std::int64_t last = ended_[static_cast<std::size_t>(gate)] - 1;
  const auto at = std::find_if(phases_.rbegin(), phases_.rend(), [&](const GatePhase& each) {
    return each.gate == gate && each.phase == last;
  });
  if (at != phases_.rend() && at->awaited == 0) at->awaited = ++time_;
  if (rules_ != nullptr) rules_->passes(thread, gate);
}

std::int64_t AsyncCounts::base_of(const BulkMove& move) {
  const auto address = reinterpret_cast<std::uint64_t>(move.fields.data);
  int number = 0;
  const Region* const found = recorder_.find_region(address, &number);
  return found == nullptr ? 0 : static_cast<std::int64_t>(address - found->begin);
}

void AsyncCounts::note_tile(std::size_t shared, Here here) {
  const auto* const tile = recorder_.tile_at(shared);
  if (tile == nullptr) return;
  const auto is_known = [&](const TileLine& each) {
    return each.byte == tile->base && is_identical(each.here, here);
  };
  if (std::any_of(tiles_.begin(), tiles_.end(), is_known)) return;
  tiles_.push_back({tile->base, here, BlockRecorder::name_of(*tile)});
}

void AsyncCounts::loads(int thread, const BulkMove& move, Here here) {
  const InsideBox inside = inside_of(move, base_of(move));
  count(here, [&](Counters& c) {
    ++c.bulk_copies;
    c.bulk_copy_sectors += inside.sectors;
  });
  if (rules_ != nullptr) rules_->loads(thread, move, here);
}

void AsyncCounts::copies(int thread, int rank, int gate, const BulkMove& move, Here here) {
  const std::int64_t bytes = bytes_of_whole(move.fields);
  count(here, [&](Counters& c) { c.bulk_copy_bytes += bytes; });
  if (rank == recorder_.rank()) {
    note_tile(move.shared, here);
    fills(gate, bytes);
  } else {
    recorder_.async_rules_.recorder_of(rank).async_counts_.fills(gate, bytes);
  }
  if (rules_ != nullptr) rules_->copies(thread, rank, gate, move, here);
}

void AsyncCounts::fills(int gate, std::int64_t bytes) {
  const std::int64_t phase = ended_[static_cast<std::size_t>(gate)];
  const auto at = std::find_if(phases_.rbegin(), phases_.rend(),
                               [&](const GatePhase& each) { return each.gate == gate; });
  if (at != phases_.rend() && at->phase == phase) at->bytes += bytes;
  else if (phases_.size() < kMostPhases) phases_.push_back({gate, phase, bytes, ++time_, 0});
}

bool AsyncCounts::stores(int thread, const BulkMove& move, Here here) {
  const InsideBox inside = inside_of(move, base_of(move));
  note_tile(move.shared, here);
  count(here, [&](Counters& c) {
    ++c.bulk_stores;
    c.bulk_store_sectors += inside.sectors;
    c.bulk_store_bytes += inside.bytes;
  });
  return rules_ == nullptr || rules_->stores(thread, move, here);
}

void AsyncCounts::commits_stores(int thread) {
  if (rules_ != nullptr) rules_->commits_stores(thread);
}

void AsyncCounts::awaits_stores(int thread, int pending, bool is_read) {
  if (rules_ != nullptr) rules_->awaits_stores(thread, pending, is_read);
}

void AsyncCounts::fences(int thread, Here here) {
  if (rules_ != nullptr) rules_->fences(thread, here);
}

void AsyncCounts::fences_global(int thread) {
  if (rules_ != nullptr) rules_->fences_global(thread);
}

void AsyncCounts::begins_units(int thread, Here here) {
  units_here_ = here;
  if (thread % kWarpgroupOfUnits == 0) bytes_.clear(), passes_.clear();
  if (rules_ != nullptr) rules_->begins_units(thread, here);
}

void AsyncCounts::starts_unit(int thread, const UnitCall& call) {
  if (thread % kWarpgroupOfUnits == 0 && passes_.empty())
    passes_ = {passes_at(call.a), passes_at(call.b)};
  if (thread % kWarpOfUnits == 0)
    count(units_here_, [&](Counters& c) {
      ++c.mma_instructions;
      c.mma_flops += std::int64_t{2} * call.multiply_adds * kWarpOfUnits;
    });
  if (rules_ != nullptr) rules_->starts_unit(thread, call);
}

void AsyncCounts::reads_operand(int thread, std::size_t shared, std::size_t bytes) {
  if (thread % kWarpgroupOfUnits == 0) bytes_.push_back(bytes);
  if (rules_ != nullptr) rules_->reads_operand(thread, shared, bytes);
}

void AsyncCounts::commits_units(int thread, Here here) {
  if (thread % kWarpgroupOfUnits == 0) {
    ++time_;
    count(here, [&](Counters& c) {
      for (std::size_t i = 0; i < std::min(bytes_.size(), passes_.size()); ++i) {
        const std::int64_t cores = static_cast<std::int64_t>(bytes_[i]) / kCore;
        ++c.unit_operands;
        c.unit_operand_wavefronts += cores * passes_[i];
        c.unit_operand_wavefronts_ideal += cores;
      }
    });
  }
  if (rules_ != nullptr) rules_->commits_units(thread, here);
}

void AsyncCounts::awaits_units(int thread, int pending) {
  if (rules_ != nullptr) rules_->awaits_units(thread, pending);
}

void AsyncCounts::touches_sums(const void* first, std::size_t bytes, Here here) {
  if (rules_ != nullptr) rules_->touches_sums(first, bytes, here);
}

void AsyncCounts::adds_to_nothing(Here here) {
  if (rules_ != nullptr) rules_->adds_to_nothing(here);
}

}  // namespace tessera::check
