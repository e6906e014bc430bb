// Which kernels can run a problem, with which tiles, on which device, and why others cannot.
// Private to src/matmul.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ladder.hpp"
#include "tessera/device/devices.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::detail {

/// The device of an option or a plan, any but `checked`. Throws Error for other names, for CUDA
/// where this build has none, and for an OpenCL or AMD device that is not there.
Device planned_device(std::string_view name);
/// Why a CUDA device cannot use bulk copies and warpgroup instructions; empty where it can. A
/// device that is not present is assumed to be able.
std::string why_not_hopper(const Device& device);
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
/// Why an algorithm cannot run a problem with a tile on a device.
Refusal refusal(const LadderEntry& entry, const Problem& p, const TileShape& tile,
                const Device& device);
/// The tile of options that an algorithm must take. Throws Error(argument) where it cannot.
TileShape required_tile(const LadderEntry& entry, const Problem& p, const TileShape& wanted,
                        const Device& device, std::string_view prefix = {});

}  // namespace tessera::detail
