// What P8 is expected to leave, and what mistakes would: see gates.hpp.
#include "gates.hpp"

#include "readings.hpp"
#include "tessera/core/text.hpp"

namespace tessera::primitives {

namespace {

/// The dump in which a lane of block `rank` has, of turn i and piece p, the word of place(rank, i,
/// p): the turn and the sender of what it finds there. A turn before the first: nothing.
struct Found {
  int turn, sender;
};
template <class Place>
Dump found(const Dump& right, const Place& place) {
  Dump out = right;
  std::size_t at = 0;
  for (int rank = 0; rank < 2; ++rank) {
    for (int i = 0; i < Rounds::turns; ++i) {
      for (int p = 0; p < Rounds::pieces; ++p) {
        const Found there = place(rank, i, p);
        const int row = Rounds::row_of(there.turn, there.sender, p < 2) + i % 8;
        for (int lane = 0; lane < 32; ++lane, ++at)
          out[at] = there.turn < 0 ? 0 : static_cast<std::uint32_t>(row * 32 + lane);
      }
    }
  }
  return out;
}

int sender_of(int rank, int piece) { return piece < 2 ? piece : 1 - rank; }

}  // namespace

std::vector<Reading> p8_readings() {
  CpuMachine machine;
  const Dump right = record_p8(machine);
  const auto with_waits = [&](std::uint32_t reader, std::uint32_t loader) {
    Dump out = right;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      out[Rounds::lane_words + rank * 2] = loader;
      out[Rounds::lane_words + rank * 2 + 1] = reader;
    }
    return out;
  };
  constexpr int stages = Rounds::stages, last = Rounds::turns - stages;
  return {
      {"as the engine's gates work", right},
      {"a wait for a parity passes while its phase runs: readers find the round before",
       found(right,
             [](int rank, int i, int p) {
               return Found{i - stages, sender_of(rank, p)};
             })},
      {"bit r of a multicast's mask is not block r", found(right,
                                                           [](int rank, int i, int p) {
                                                             return Found{i, p < 2 ? p : rank};
                                                           })},
      {"a remote arrival reaches the sender's own gate: block 1 finds the next round of block 0",
       found(right,
             [](int rank, int i, int p) {
               const bool early = rank == 1 && sender_of(rank, p) == 0 && i < last;
               return Found{i + (early ? stages : 0), sender_of(rank, p)};
             })},
      {"bytes of a multicast count only at the sender's gate: no phase ends", with_waits(0, 0)},
      {"arrivals are counted wrongly: stages are never free", with_waits(1, 0)}};
}

std::string p8_place(std::size_t word) {
  if (word >= Rounds::lane_words) {
    const auto at = word - Rounds::lane_words;
    return cat("whether every wait of the ", at % 2 == 0 ? "loader" : "reader", " of block ",
               at / 2, " ended");
  }
  const auto turn = word / 32 / Rounds::pieces;
  return cat("block ", turn / Rounds::turns, ", turn ", turn % Rounds::turns, ", piece ",
             word / 32 % Rounds::pieces, ", lane ", word % 32);
}

}  // namespace tessera::primitives
