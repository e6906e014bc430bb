// Searches the schedule for one memory. For each kind of residency it tries the number of blocks
// along one extent, from few to many; the remaining memory gives the other extent. Memory that is
// then free makes the slices deeper, so that they are read in long pieces.
#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "bounds.hpp"
#include "depth_unit.hpp"
#include "plan.hpp"
#include "real.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::scale {

namespace {

/// A slice needs two buffers, so that one is read while the other is multiplied. So do the sums of
/// a panel, of which one is written.
constexpr index_t kBuffers = 2;
/// The least depth of slices, if a sixteenth of the side of a tile of sums allows it: short pieces
/// of rows are slow to read.
constexpr index_t kDeepSlice = 1024, kTilePart = 16;
/// Unless shallower ones move less than this fraction of the bytes.
constexpr double kShortPieces = 0.95;
/// The least number of rows or columns in a streamed slice.
constexpr index_t kStreamed = 32;
/// If memory allows, a streamed operand has this many slices: the first is read before any
/// arithmetic, and the last is multiplied after all reads.
constexpr index_t kParts = 16;
constexpr index_t kMostBlocks = 1 << 20;  // along one extent: bounds the search
/// Strips of a symmetric C: half of a strip beside the diagonal is computed in vain, and each packs
/// its rows of A.
constexpr index_t kStrips = 16, kNarrowStrip = 256, kWideStrip = 1024;

index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }
class Search {
 public:
  explicit Search(const ScheduleRequest& request)
      : request_(request),
        M_(request.shape.M),
        N_(request.shape.N),
        K_(request.shape.K),
        a_(size_of(request.types.in_a)),
        b_(size_of(request.types.in_b)),
        sum_(size_of(request.types.sum)) {}

  std::optional<Schedule> best() const {
    std::optional<Schedule> out;
    const auto take = [&](const std::optional<Schedule>& found) {
      if (!found) return;
      // Whole rows of C are contiguous in its file; those of a symmetric C come in parts anyway.
      const auto rank = [](const Schedule& s) {
        return std::tuple(s.moved(), s.blocks_across() > 1 && !s.symmetric, s.memory);
      };
      if (!out || rank(*found) < rank(*out)) out = found;
    };
    take(panel(Resident::rows_of_a));
    if (!request_.symmetric) take(panel(Resident::columns_of_b));
    if (request_.chains == Chains::may_be_cut) take(tile());
    return out;
  }

  /// The bytes that the smallest blocks of any kind need.
  index_t least_memory() const {
    const index_t panels = bytes_of_panel(Resident::rows_of_a, 1, 1);
    const index_t others = bytes_of_panel(Resident::columns_of_b, 1, 1);
    const index_t least = std::min(panels, others);
    return request_.chains == Chains::whole ? least
                                            : std::min(least, bytes_of_tile(1, 1, least_depth()));
  }

 private:
  index_t least_depth() const { return std::min(std::max<index_t>(K_, 1), kDepthUnit); }

  /// Bytes of all buffers; 2^62 for all larger sums.
  index_t bytes(index_t buffers_a, index_t buffers_b, index_t buffers_of_sums, index_t block_m,
                index_t block_n, index_t depth) const {
    const double all = real(buffers_a * a_) * real(block_m) * real(depth) +
                       real(buffers_b * b_) * real(block_n) * real(depth) +
                       real(buffers_of_sums * sum_) * real(block_m) * real(block_n);
    return static_cast<index_t>(std::min(all, 0x1p62));
  }
  index_t bytes_of_panel(Resident resident, index_t block_m, index_t block_n) const {
    const bool rows = resident == Resident::rows_of_a;
    return bytes(rows ? 1 : kBuffers, rows ? kBuffers : 1, kBuffers, block_m, block_n, K_);
  }
  index_t bytes_of_tile(index_t block_m, index_t block_n, index_t depth) const {
    return bytes(kBuffers, kBuffers, 1, block_m, block_n, depth);
  }

  Schedule finished(Resident resident, index_t block_m, index_t block_n, index_t depth,
                    index_t memory) const {
    Schedule out;
    out.resident = resident, out.shape = request_.shape;
    out.block_m = block_m, out.block_n = block_n, out.depth = depth, out.memory = memory;
    const Types& types = request_.types;
    out.read_a = real(M_) * real(K_) * size_of(types.a) * real(out.loads_of_a());
    out.read_b = real(K_) * real(N_) * size_of(types.b) * real(out.loads_of_b());
    out.symmetric = request_.symmetric;
    if (out.symmetric) take_half(out);
    out.read_c0 = request_.reads_c0 ? real(M_) * real(N_) * size_of(types.c0) : 0;
    out.written = real(M_) * real(N_) * size_of(types.out);
    return out;
  }

  /// Only blocks that reach the diagonal are loaded: about half of them, as an estimate that is
  /// cheap to search with.
  static void take_half(Schedule& s) {
    const auto part = [](index_t loads, index_t blocks) {
      return loads == 1 ? 1 : (1 + 1 / real(blocks)) / 2;
    };
    s.read_a *= part(s.loads_of_a(), s.blocks_across());
    s.read_b *= part(s.loads_of_b(), s.blocks_down());
  }

  /// Rows of A, or columns of B, with all of K stay resident; the other operand streams.
  std::optional<Schedule> panel(Resident resident) const {
    const bool rows = resident == Resident::rows_of_a;
    const index_t kept = rows ? M_ : N_, streamed = rows ? N_ : M_;
    const auto taken = [&](index_t kept_block, index_t streamed_block) {
      return rows ? bytes_of_panel(resident, kept_block, streamed_block)
                  : bytes_of_panel(resident, streamed_block, kept_block);
    };
    const index_t fewest = std::min(streamed, kStreamed);
    const auto largest = [&](index_t least_streamed) {  // the largest part that fits
      index_t low = 0, high = kept;
      while (low < high) {
        const index_t middle = high - (high - low) / 2;
        if (taken(middle, least_streamed) <= request_.memory) low = middle;
        else high = middle - 1;
      }
      return low;
    };
    index_t block = largest(fewest);
    index_t least = fewest;
    if (block == 0) least = 1, block = largest(1);
    if (block == 0) return std::nullopt;
    block = ceil_div(kept, ceil_div(kept, block));  // as few as possible, of equal size
    index_t low = least, high = std::max(least, ceil_div(streamed, kParts));
    while (low < high) {
      const index_t middle = high - (high - low) / 2;
      if (taken(block, middle) <= request_.memory) low = middle;
      else high = middle - 1;
    }
    const index_t other = ceil_div(streamed, ceil_div(streamed, low));
    return finished(resident, rows ? block : other, rows ? other : block, K_, taken(block, other));
  }

  /// The largest block_n for tiles of `block_m` rows; 0 if none fits.
  index_t columns_of_tile(index_t block_m, index_t depth) const {
    const double left = real(request_.memory) - real(kBuffers * depth * a_) * real(block_m);
    const double most = left / (real(kBuffers * depth * b_) + real(sum_) * real(block_m));
    return static_cast<index_t>(std::clamp(most, 0.0, real(N_)));
  }

  std::optional<Schedule> tile() const {
    const double side = std::sqrt(real(request_.memory) / real(sum_));
    const index_t deep = std::clamp<index_t>(static_cast<index_t>(side) / kTilePart, 1, kDeepSlice);
    std::optional<Schedule> out;
    for (index_t depth = ceil_div(deep, kDepthUnit) * kDepthUnit;; depth /= 2) {
      depth = std::max(depth / kDepthUnit * kDepthUnit, kDepthUnit);
      const auto found = tile(std::min(depth, std::max<index_t>(K_, 1)));
      if (found && (!out || found->moved() < kShortPieces * out->moved())) out = found;
      if (depth == kDepthUnit) return out;
    }
  }

  std::optional<Schedule> tile(index_t least_depth) const {
    std::optional<Schedule> out;
    const double once =
        real(K_) * real(N_) * size_of(request_.types.b) / (request_.symmetric ? 2 : 1);
    for (index_t down = 1; down <= std::min(M_, kMostBlocks); ++down) {
      if (out && once * real(down) > out->read()) break;
      const index_t block_m = ceil_div(M_, down);
      // a smaller `down` gives the same block_m
      if (ceil_div(M_, block_m) != down) continue;
      const index_t most = columns_of_tile(block_m, least_depth);
      if (most < 1) continue;
      const index_t block_n = ceil_div(N_, ceil_div(N_, most));
      const index_t depth = depth_of_tile(block_m, block_n, least_depth);
      const Schedule found =
          finished(Resident::sums, block_m, block_n, depth, bytes_of_tile(block_m, block_n, depth));
      if (!out || found.moved() < out->moved()) out = found;
    }
    return out;
  }

  /// As deep as memory allows, in equal slices.
  index_t depth_of_tile(index_t block_m, index_t block_n, index_t least) const {
    const index_t left = request_.memory - block_m * block_n * sum_;
    const index_t most = left / (kBuffers * (block_m * a_ + block_n * b_));
    const index_t parts = std::max(least, ceil_div(ceil_div(K_, kParts), kDepthUnit) * kDepthUnit);
    const index_t deepest = std::clamp(most / kDepthUnit * kDepthUnit, least, parts);
    if (deepest >= K_) return std::max<index_t>(K_, 1);
    const index_t equal = ceil_div(ceil_div(K_, ceil_div(K_, deepest)), kDepthUnit) * kDepthUnit;
    return std::min(deepest, equal);
  }

  const ScheduleRequest& request_;
  index_t M_, N_, K_, a_, b_, sum_;
};

/// A lower bound of the bytes of any schedule: each operand once, and the loads that a small memory
/// forces, counted in elements of the smallest type.
double bound_of(const ScheduleRequest& request) {
  const Types& types = request.types;
  const Shape& s = request.shape;
  const double touched = real(s.M) * real(s.K) * size_of(types.a) +
                         (request.symmetric ? 0 : real(s.K) * real(s.N) * size_of(types.b)) +
                         real(s.M) * real(s.N) * size_of(types.out) +
                         (request.reads_c0 ? real(s.M) * real(s.N) * size_of(types.c0) : 0);
  const double word = std::min({size_of(types.a), size_of(types.b), size_of(types.out),
                                size_of(types.in_a), size_of(types.in_b), size_of(types.sum)});
  // Of a symmetric product half is computed, and each element of A is an element of B: Beaumont,
  // Eyraud-Dubois, Verite, Langou (SPAA 2022), M N K / sqrt(2 S).
  const double multiply_adds =
      real(s.M) * real(s.N) * real(s.K) / (request.symmetric ? std::sqrt(8) : 1);
  return std::max(touched, word * words_moved_bound(multiply_adds, real(request.memory) / word));
}

/// What the steps of a symmetric product read: see Steps.
void count_reads(const Types& types, Schedule& s) {
  double rows_of_a = 0, columns_of_b = 0;
  const index_t across = s.blocks_across();
  for (index_t i = 0; i < s.blocks_down(); ++i) {
    const index_t row = i * s.block_m, rows = std::min(s.block_m, s.shape.M - row);
    const index_t first = row / s.block_n;  // the blocks before it are left of the diagonal
    const bool whole = s.slices() <= 1;
    rows_of_a += real(rows) * real(whole ? 1 : across - first);
    if (whole && i > 0 && first + 1 == across) continue;  // the last block of the rows before
    columns_of_b += real(s.shape.N - first * s.block_n);
  }
  s.read_a = rows_of_a * real(s.shape.K) * size_of(types.a);
  s.read_b = columns_of_b * real(s.shape.K) * size_of(types.b);
}

}  // namespace

// A resident operand is loaded once, and so is a block that is needed again next, with all of K in
// one slice.
index_t Schedule::loads_of_a() const {
  const bool stays = resident != Resident::columns_of_b || blocks_down() == 1;
  return depth >= shape.K && stays ? 1 : blocks_across();
}

index_t Schedule::loads_of_b() const {
  const bool stays = resident == Resident::columns_of_b || blocks_across() == 1;
  return depth >= shape.K && stays ? 1 : blocks_down();
}

index_t Schedule::strip() const {
  const index_t wide = ceil_div(ceil_div(shape.N, kStrips), 64) * 64;
  return std::clamp(wide, kNarrowStrip, kWideStrip);
}

double Schedule::work() const {
  return symmetric && shape.N > 0 ? (1 + std::min(1.0, real(strip()) / real(shape.N))) / 2 : 1;
}

std::string_view name(Resident resident) {
  switch (resident) {
    case Resident::rows_of_a: return "rows of A";
    case Resident::columns_of_b: return "columns of B";
    default: return "sums";
  }
}

Schedule plan_schedule(const ScheduleRequest& request) {
  const Shape& shape = request.shape;
  Schedule out;
  if (shape.M > 0 && shape.N > 0) {
    const Search search(request);
    const auto found = search.best();
    if (!found) {
      const index_t least = search.least_memory();
      const bool differ = bytes_text(least) != bytes_text(request.memory);  // as rounded
      throw Error(
          Category::resource, "the memory is too small for one row of A and one column of B",
          cat("at least ", differ ? bytes_text(least) : cat(least, " bytes")),
          differ ? bytes_text(request.memory) : cat(request.memory, " bytes"), "allow more memory");
    }
    out = *found;
    if (out.symmetric) count_reads(request.types, out);
  }
  out.shape = shape;
  out.bound = bound_of(request);
  return out;
}

}  // namespace tessera::scale
