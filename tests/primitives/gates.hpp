// P8: rounds of three stages in a cluster of two blocks. Each block loads one piece into both and
// one into the other block only; the readers of both blocks free each stage.
#pragma once

#include "machine.hpp"
#include "tessera/ops/bulk_matrix.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera::primitives {

struct Rounds {
  static constexpr const char* name = "rounds";
  static constexpr Dim3 block{64}, cluster{2};
  static constexpr bool needs_sm_90a = true;
  static constexpr int stages = 3, turns = 5 * stages, pieces = 3;
  static constexpr int lane_words = 2 * turns * pieces * 32, words = lane_words + 4;
  using Piece = UnitTile<float, row_major(8, 32)>;
  struct Shared {
    Piece piece[stages][pieces];  ///< of block 0 for both, of block 1 for both, of the other
    Gate full[stages], free[stages];
  };
  /// The first row of a piece of this turn: for both blocks, or for the other one.
  static TESSERA_HD constexpr int row_of(int turn, int rank, bool for_both) {
    return (turn * 4 + rank * 2 + (for_both ? 0 : 1)) * 8;
  }
  static constexpr int rows = turns * 4 * 8;

  TESSERA_KERNEL void operator()(auto t, const BulkMatrix<Piece>& from, std::uint32_t* out) const {
    auto& s = shared<Shared>(t);
    const int rank = t.cluster_rank();
    open_gates(t, s.full, s.free, 2);
    if (t.thread == 0) publish_gates(t);
    cluster_barrier(t);
    Turn<stages> turn;
    bool over = true;
    if (t.warp == 0) {
      for (int i = 0; i < turns && t.lane == 0; ++i, turn.next()) {
        over = wait_briefly(t, s.free[turn.stage], turn.before()) && over;
        expect(t, s.full[turn.stage], pieces * Piece::bytes);
        copy_bulk(t, tile_from(from, row_of(i, rank, true), 0), s.piece[turn.stage][rank],
                  s.full[turn.stage], 0b11u);
        copy_bulk(t, tile_from(from, row_of(i, rank, false), 0), s.piece[turn.stage][2],
                  s.full[turn.stage], 1u << (1 - rank));
      }
    } else {
      for (int i = 0; i < turns; ++i, turn.next()) {
        over = wait_briefly(t, s.full[turn.stage], turn.phase) && over;
        for (int p = 0; p < pieces; ++p) {
          const float got = s.piece[turn.stage][p].view()(i % 8, t.lane);
          out[((rank * turns + i) * pieces + p) * 32 + t.lane] = static_cast<std::uint32_t>(got);
        }
        t.warp_barrier();
#if defined(__CUDA_ARCH__)
        if (rank == 1) __nanosleep(20000);  // others would run ahead of it
#endif
        if (t.lane < 2) arrive(t, s.free[turn.stage], t.lane);
      }
    }
    if (t.lane == 0) out[lane_words + rank * 2 + t.warp] = over ? 1 : 0;
    cluster_barrier(t);
  }
};

template <class Machine>
Dump record_p8(Machine& machine) {
  std::vector<float> numbers(Rounds::rows * 32);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const BulkMatrix<Rounds::Piece> from{
      machine.map(bulk_fields<Rounds::Piece>(machine.upload(numbers), Rounds::rows, 32, 32, 1)),
      Rounds::rows, 32};
  void* const out = machine.upload(Dump(Rounds::words, kUntouched));
  machine.run(Dim3{2}, Rounds{}, from, static_cast<std::uint32_t*>(out));
  return machine.template download<std::uint32_t>(out, Rounds::words);
}

}  // namespace tessera::primitives
