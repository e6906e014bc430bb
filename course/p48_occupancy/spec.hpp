#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  // threads, registers of a thread, bytes of shared memory, occupancy in 64ths
  static constexpr int kernels[4][4] = {
      {1024, 32, 0, 64}, {256, 72, 0, 24}, {160, 32, 49152, 20}, {32, 16, 512, 32}};
  const auto of = [](index_t j, int which) { return kernels[j][which]; };
  static constexpr int warps[4] = {2, 8, 12, 64}, registers[4] = {2, 3, 12, 128},
                       shared[4] = {228, 228, 4, 152};
  run.values(
      "blocks by their warps, for 1024, 256, 160, 32 threads", 1, 4,
      [&](index_t, index_t j) { return by_warps(of(j, 0)); },
      [](index_t, index_t j) { return warps[j]; },
      {{"all-wrong", [&](index_t, index_t j) { return (of(j, 0) + 31) / 32; },
        "these are the warps of a block", "how many times do they fit into WARPS?"}});
  run.values(
      "blocks by their registers, for 32, 72, 32, 16 of a thread", 1, 4,
      [&](index_t, index_t j) { return by_registers(of(j, 0), of(j, 1)); },
      [](index_t, index_t j) { return registers[j]; },
      {{"all-wrong", [&](index_t, index_t j) { return 65536 / (32 * of(j, 1)); },
        "these are warps, not blocks", "divide by the warps of a block, too"}});
  run.values(
      "blocks by their shared memory, for 0, 0, 49152, 512 bytes", 1, 4,
      [&](index_t, index_t j) { return by_shared_memory(of(j, 2)); },
      [](index_t, index_t j) { return shared[j]; },
      {{"not-all", [&](index_t, index_t j) { return 233472 / std::max(1, of(j, 2)); },
        "the reserved bytes are missing",
        "each block takes RESERVED_BYTES more than it asks for"}});
  run.values(
      "occupancy of these four kernels, in 64ths", 1, 4,
      [&](index_t, index_t j) { return 64 * occupancy(of(j, 0), of(j, 1), of(j, 2)); },
      [](index_t, index_t j) { return kernels[j][3]; },
      {{"not-all",
        [](index_t, index_t j) {
          return std::min({warps[j], registers[j], shared[j]}) * ((kernels[j][0] + 31) / 32);
        },
        "the last kernel has more than 32 blocks", "a multiprocessor takes at most BLOCKS"}});
}
