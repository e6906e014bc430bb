// Sums of rows by the blocks of a cluster: each block copies a part of every tile into all of them,
// and each adds up all parts. Each ClusterFlaw is one word that is left out or wrong. Lines that
// findings name end with "// at" and a name.
#pragma once

#include <numeric>
#include <string_view>

#include "tessera/check/check.hpp"
#include "tessera/core/error.hpp"
#include "tessera/ops/bulk_matrix.hpp"
#include "tessera/simt/gate.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/tensor.hpp"

namespace tessera::broken {

inline constexpr std::string_view kClusterRingFile = __FILE__;

enum class ClusterFlaw {
  none,
  no_full_wait,
  no_free_wait,
  arrive_before_read,
  own_arrivals_only,
  free_count_of_one_block,
  expects_own_part,
  parity_constant,
  block_barrier_behind_open,
  no_publish,
  no_last_meeting,
  one_copy_too_many
};

struct ClusterRing {
  static constexpr const char* name = "cluster_ring";
  static constexpr int blocks = 2, stages = 2, rounds = 5;
  static constexpr Dim3 block{64}, cluster{blocks};
  using Part = UnitTile<float, row_major(8, 32)>;
  struct Shared {
    Part parts[stages][blocks];
    Part last;
    Gate full[stages], free[stages], end;
  };
  ClusterFlaw flaw = ClusterFlaw::none;

  bool is(ClusterFlaw which) const { return flaw == which; }

  void operator()(auto t, const BulkMatrix<Part>& in, auto out) const {
    auto& s = shared<Shared>(t);
    const int readers = is(ClusterFlaw::free_count_of_one_block) ? 1 : blocks;
    if (t.thread == 0) {
      for (auto& gate : s.full) open_gate(t, gate, 1);        // at open
      for (auto& gate : s.free) open_gate(t, gate, readers);  // at open_free
      open_gate(t, s.end, 1);                                 // at open_end
      if (!is(ClusterFlaw::no_publish)) publish_gates(t);
    }
    if (is(ClusterFlaw::block_barrier_behind_open)) t.barrier();
    else cluster_barrier(t);
    if (t.warp == 1) load(t, s, in);
    else add(t, s, out);
    if (!is(ClusterFlaw::no_last_meeting)) cluster_barrier(t);
  }

 private:
  void load(auto t, auto& s, const auto& in) const {
    const int rank = t.cluster_rank();
    Turn<stages> turn;
    for (int i = 0; i < rounds && t.lane == 0; ++i, turn.next()) {
      if (!is(ClusterFlaw::no_free_wait))
        wait(t, s.free[turn.stage], turn.before());  // at free_wait
      const int parts = is(ClusterFlaw::expects_own_part) ? 1 : blocks;
      expect(t, s.full[turn.stage], parts * Part::bytes);  // at expect
      Part& mine = s.parts[turn.stage][rank];
      const auto from = tile<8, 32>(in, blocks * i + rank, 0);
      copy_bulk(t, from, mine, s.full[turn.stage], 0b11u);  // at copy
    }
    if (is(ClusterFlaw::one_copy_too_many) && t.lane == 0 && rank == 0)
      copy_bulk(t, tile<8, 32>(in, 0, 0), s.last, s.end, 0b10u);  // at last_copy
  }

  void add(auto t, auto& s, auto out) const {
    Turn<stages> turn;
    float sum = 0;
    for (int i = 0; i < rounds; ++i, turn.next()) {
      const unsigned phase = is(ClusterFlaw::parity_constant) ? 0u : turn.phase;
      if (!is(ClusterFlaw::no_full_wait)) wait(t, s.full[turn.stage], phase);  // at full_wait
      if (is(ClusterFlaw::arrive_before_read)) give_back(t, s, turn.stage);
      for (auto& part : s.parts[turn.stage])
        for (int row = 0; row < 8; ++row) sum += part.view()(row, t.lane);  // at read
      t.warp_barrier();
      if (!is(ClusterFlaw::arrive_before_read)) give_back(t, s, turn.stage);
    }
    out(0, t.block * 32 + t.lane) = sum;
  }

  void give_back(auto t, auto& s, int stage) const {
    const bool is_own = t.lane == t.cluster_rank();
    if (t.lane < blocks && (is_own || !is(ClusterFlaw::own_arrivals_only)))
      arrive(t, s.free[stage], t.lane);  // at arrive
  }
};

/// Two clusters, and what they leave.
struct ClusterSums {
  static constexpr int rows = 8 * ClusterRing::blocks * ClusterRing::rounds, blocks = 4;
  alignas(64) float in[rows * 32];
  alignas(64) float out[blocks * 32];

  ClusterSums() {
    std::iota(std::begin(in), std::end(in), 0.f);
    std::fill(std::begin(out), std::end(out), -1.f);
  }
  template <class Body>
  auto with_operands(const Body& body) {
    using Part = ClusterRing::Part;
    const BulkMatrix<Part> from{software_map(bulk_fields<Part>(in, rows, 32, 32, 1)), rows, 32};
    return body(from,
                tensor<kRowMajorMatrix>(static_cast<float*>(out), 1, blocks * 32, blocks * 32));
  }
  bool is_right() const {
    for (int i = 0; i < blocks * 32; ++i) {
      const int sum = 32 * (rows * (rows - 1) / 2) + rows * (i % 32);
      if (out[i] != static_cast<float>(sum)) return false;
    }
    return true;
  }
};

inline check::Report checked_cluster(ClusterFlaw flaw, const check::Options& options) {
  ClusterSums sums;
  return sums.with_operands([&](const auto&... args) {
    return check::check(options, Dim3{ClusterSums::blocks}, ClusterRing{flaw}, args...);
  });
}

inline bool is_cluster_right(ClusterFlaw flaw, ThreadOrder order, std::uint64_t seed) {
  ClusterSums sums;
  try {
    sums.with_operands([&](const auto&... args) {
      launch({.grid = {ClusterSums::blocks},
              .block = ClusterRing::block,
              .order = order,
              .seed = seed},
             ClusterRing{flaw}, args...);
    });
  } catch (const Error&) {
    return false;
  }
  return sums.is_right();
}

}  // namespace tessera::broken
