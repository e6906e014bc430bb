// What one memory instruction of a warp costs on a GPU, counted from the addresses of its lanes:
// sectors of a request to global memory, wavefronts of an access to shared memory. Pure functions
// of their argument, equal to the source-level counters of Nsight Compute for sm_80 and sm_90 where
// a rule is known; Basis says where it is not. The checker calls them for every warp instruction:
// nothing is allocated, and contiguous, broadcast and strided warps take a fast path.
#pragma once

#include <cstdint>

#include "tessera/core/config.hpp"

namespace tessera::check {

inline constexpr int kWarpLanes = 32;
inline constexpr int kSectorBytes =
    32;  ///< the unit that L2 delivers: an aligned part of a 128-byte line
inline constexpr int kBanks = 32;
inline constexpr int kBankBytes = 4;
inline constexpr std::uint32_t kAllLanes = 0xffffffffu;

/// One load or store of a warp.
struct WarpAccess {
  /// (32): the first byte that each lane touches. Shared memory: counted from its start. Only the
  /// entries of active lanes are read.
  const std::uint64_t* address;
  int bytes;                         ///< per lane: 1, 2, 4, 8 or 16
  std::uint32_t active = kAllLanes;  ///< bit n: lane n takes part
};

/// Where a count comes from.
enum class Basis {
  rule,      ///< documented by NVIDIA or confirmed by measurement
  merging,   ///< the rule of merging wide loads applied
  estimate,  ///< no closed rule is known
};

/// A request to global memory.
struct GlobalCost {
  int sectors;  ///< distinct 32-byte sectors that the active lanes touch; 0 without active lanes
  int ideal;    ///< the fewest sectors that hold as many distinct bytes; of aligned accesses

  friend bool operator==(const GlobalCost&, const GlobalCost&) = default;
};

/// An access to shared memory.
struct SharedCost {
  int wavefronts;  ///< passes of the data stage; 0 without active lanes
  int ideal;       ///< passes the same lanes would need without conflicts
  int ways;        ///< the most passes that one phase needs: 1 is free of conflicts
  Basis basis = Basis::rule;

  int conflicts() const { return wavefronts - ideal; }
  friend bool operator==(const SharedCost&, const SharedCost&) = default;
};

/// Sectors of one request, load or store: the order of the lanes does not matter, two lanes at one
/// address cost nothing more. Nsight Compute: memory_l2_theoretical_sectors_global; forum threads
/// 312884, 165293, 273699 of NVIDIA's developer forum.
GlobalCost global_access(const WarpAccess& access);

/// Wavefronts of a load. The lanes are served in phases of 32 lanes (up to 4 bytes), 16 (8 bytes)
/// or 8 (16 bytes); a phase takes as many passes as the largest number of distinct 4-byte words in
/// one bank, and a phase without active lanes none. Wide loads of which every active lane has the
/// address of lane n xor 1, or every one that of lane n xor 2, take half the phases, if nothing
/// conflicts then (forum thread 77228; an inactive neighbour does not hinder). Nsight Compute:
/// memory_l1_wavefronts_shared, derived__memory_l1_conflicts_shared_nway.
SharedCost shared_load(const WarpAccess& access);

/// Wavefronts of a store: the same phases, never merged, so that a broadcast of 16 bytes takes 4.
SharedCost shared_store(const WarpAccess& access);

/// The shared side of an asynchronous copy from global memory (cp.async), 4, 8 or 16 bytes per
/// lane: the rule of stores, always marked as an estimate. The global side is global_access().
SharedCost shared_async_copy(const WarpAccess& access);

/// ldmatrix of `matrices` (1, 2 or 4) blocks of 8 rows of 16 bytes: lane 8 m + r has the address of
/// row r of block m, each block is one phase. Lanes of `row` beyond 8 * matrices are not read.
SharedCost shared_matrix_load(const std::uint64_t* row, int matrices);

}  // namespace tessera::check
