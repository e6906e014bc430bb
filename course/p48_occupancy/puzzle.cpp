// Puzzle 48: occupancy.
// How many blocks of a kernel are on one multiprocessor of an H200 at the same time?
#include "tessera/puzzle/puzzle.hpp"

#include <algorithm>

using namespace tessera;

// Of a multiprocessor.
constexpr int WARPS = 64, BLOCKS = 32, REGISTERS = 65536, SHARED_BYTES = 233472;
constexpr int RESERVED_BYTES = 1024;  // of shared memory, for each block
constexpr int UNIT = 256;             // registers are given to a warp in units of this many

// Of a block of `threads` threads: threads that fill a warp in part take a whole one.
constexpr int warps_of(int threads) { return (threads + 31) / 32; }

// How many blocks have room for their warps?
constexpr int by_warps(int threads) {
  //> FILL ME IN (1 line)
  return WARPS / warps_of(threads);
  //> instead
  return 0 * threads;
  //> end
}
// How many have room for their registers?
constexpr int by_registers(int threads, int of_a_thread) {
  //> FILL ME IN (about 3 lines): a warp takes 32 * of_a_thread registers, rounded up to whole units
  const int of_a_warp = (32 * of_a_thread + UNIT - 1) / UNIT * UNIT;
  return REGISTERS / of_a_warp / warps_of(threads);
  //> instead
  return 0 * threads * of_a_thread;
  //> end
}
// How many have room for their shared memory?
constexpr int by_shared_memory(int bytes) {
  //> FILL ME IN (1 line)
  return SHARED_BYTES / (bytes + RESERVED_BYTES);
  //> instead
  return 0 * bytes;
  //> end
}
// The occupancy: the warps that are there, of those that there could be.
constexpr double occupancy(int threads, int registers_of_a_thread, int shared_bytes) {
  //> FILL ME IN (about 3 lines): the scarcest of the three, and never more than BLOCKS blocks
  const int blocks = std::min({BLOCKS, by_warps(threads), by_shared_memory(shared_bytes),
                               by_registers(threads, registers_of_a_thread)});
  return double(blocks * warps_of(threads)) / WARPS;
  //> instead
  return 0.0 * threads * registers_of_a_thread * shared_bytes;
  //> end
}
