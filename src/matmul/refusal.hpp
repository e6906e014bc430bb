// Which kernels can run a problem, with which tiles, on which device, and why others cannot.
// Private to src/matmul.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ladder.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::detail {

/// "cpu" or "cuda:N". Throws Error for other names, and for CUDA where this build has none.
std::string canonical_device(std::string_view name);
/// The device number of a canonical name; -1 for the CPU.
int number_of(std::string_view device);
/// Why a CUDA device cannot use bulk copies and warpgroup instructions; empty where it can. A
/// device that is not present is assumed to be able.
std::string why_not_hopper(int device);
/// Why bulk copies cannot bring the operands of a problem to an algorithm's kernels.
std::string why_no_maps(const Algorithm& a, const Problem& p);

/// That, and which kernel multiplies in its place: "tensor_core takes its place. B: ..."; empty
/// where the algorithm itself can.
std::string substitution(const Algorithm& a, const Problem& p);

/// The built-in tile that `wanted` means: "64,64,32/32,32" fits a warp tile as well as a thread
/// tile.
TileShape resolve_tile(std::span<const TileShape> tiles, const TileShape& wanted);

struct Refusal {
  std::string why, advice;  ///< empty `why`: it is possible
};
/// Why an algorithm cannot run a problem with a tile on a device, by its number.
Refusal refusal(const LadderEntry& entry, const Problem& p, const TileShape& tile, int device);
/// The tile of options that an algorithm must take. Throws Error(argument) where it cannot.
TileShape required_tile(const LadderEntry& entry, const Problem& p, const TileShape& wanted,
                        int device, std::string_view prefix = {});

}  // namespace tessera::detail
