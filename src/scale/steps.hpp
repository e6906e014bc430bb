// The steps of a schedule: which slices of A and B are loaded and multiplied, in which order. One
// memory runs them, and a rank also those of the others, to know what to send them when.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "shares.hpp"

namespace tessera::scale {

/// Row and column of a block among the blocks of C.
struct BlockPlace {
  index_t i, j;
};
inline BlockPlace place_of(const Schedule& s, index_t block) {
  if (s.resident == Resident::columns_of_b)
    return {block % s.blocks_down(), block / s.blocks_down()};
  return {block / s.blocks_across(), block % s.blocks_across()};
}

inline Part clipped(index_t i, index_t rows, index_t j, index_t cols, index_t most_i,
                    index_t most_j) {
  return {i, std::min(i + rows, most_i), j, std::min(j + cols, most_j)};
}
inline Part c_of(const Schedule& s, index_t i, index_t j) {
  return clipped(i * s.block_m, s.block_m, j * s.block_n, s.block_n, s.shape.M, s.shape.N);
}

/// Elements of C that a block computes. The rows above `mirror`'s first one are also the columns of
/// `mirror`, a part left of the diagonal; without symmetry it is empty.
struct BlockPart {
  Part computed, mirror;
};

/// The parts of a block, in the order in which they are written: of a symmetric C, strips of
/// columns down to the diagonal. A block left of the diagonal has none.
inline std::vector<BlockPart> parts_of(const Schedule& s, BlockPlace at) {
  const Part all = c_of(s, at.i, at.j);
  if (!s.symmetric) return {{all, {}}};
  const index_t wide = all.j0 >= all.i1 ? s.block_n : s.strip();
  std::vector<BlockPart> out;
  for (index_t j = all.j0; j < all.j1; j += wide) {
    const index_t end = std::min(j + wide, all.j1);
    const Part computed{all.i0, std::min(all.i1, end), j, end};
    if (!computed.is_empty()) out.push_back({computed, {j, end, all.i0, std::min(all.i1, j)}});
  }
  return out;
}
inline bool has_parts(const Schedule& s, BlockPlace at) {
  const Part all = c_of(s, at.i, at.j);
  return !s.symmetric || all.i0 < all.j1;
}

/// Multiplies slice k of block (i, j) of C; loads A and B unless the previous step loaded them.
struct Step {
  index_t block, i, j, k;
  bool loads_a, loads_b, first, last;
};

/// The steps in order; each is computed on request, since there may be many.
class Steps {
 public:
  explicit Steps(
      const Schedule& s,
      const std::function<bool(index_t)>& is_finished = [](index_t) { return false; })
      : s_(s), slices_(std::max<index_t>(1, s.slices())) {
    for (index_t block = 0; block < s.blocks_down() * s.blocks_across(); ++block)
      if (has_parts(s, place_of(s, block)) && !is_finished(block)) blocks_.push_back(block);
  }
  index_t count() const { return static_cast<index_t>(blocks_.size()) * slices_; }
  Step at(index_t number) const {
    const Place now = place(number);
    Step out{now.block, now.i, now.j, now.k, true, true, now.k == 0, now.k + 1 == slices_};
    if (number == 0) return out;
    const Place before = place(number - 1);
    out.loads_a = before.i != now.i || before.k != now.k;
    out.loads_b = before.j != now.j || before.k != now.k;
    return out;
  }
  const Schedule& schedule() const { return s_; }

 private:
  struct Place {
    index_t block, i, j, k;
  };
  Place place(index_t number) const {
    const index_t block = blocks_[static_cast<std::size_t>(number / slices_)];
    const BlockPlace at = place_of(s_, block);
    return {block, at.i, at.j, number % slices_};
  }
  const Schedule& s_;
  index_t slices_;
  std::vector<index_t> blocks_;  ///< unfinished blocks
};

/// By rank and block: what needs no work, and so neither loads nor messages. Empty: nothing.
using Finished = std::vector<std::vector<bool>>;

inline Steps steps_of(const ScalePlan& plan, std::size_t rank, const Finished& finished) {
  return Steps(plan.ranks[rank].schedule, [&](index_t block) {
    return !finished.empty() && finished[rank][static_cast<std::size_t>(block)];
  });
}

/// What a step needs of A and of B, in the schedule's own product.
inline Part a_of(const Schedule& s, const Step& t) {
  return clipped(t.i * s.block_m, s.block_m, t.k * s.depth, s.depth, s.shape.M, s.shape.K);
}
inline Part b_of(const Schedule& s, const Step& t) {
  return clipped(t.k * s.depth, s.depth, t.j * s.block_n, s.block_n, s.shape.K, s.shape.N);
}

}  // namespace tessera::scale
