// `tessera check --sweep`: a kernel on many shapes, one table of what came of them.
#pragma once

#include "check_file.hpp"
#include "tessera/check/sweep.hpp"

namespace tessera::cli {

/// What is swept, as messages and the table call it.
struct SweepRequest {
  CheckedKernel kernel;    ///< its shape, strides and order are the sweep's
  bool only_rows = false;  ///< the kernel takes no strides
  check::SweepExtents taken = {};
  std::string again;  ///< the command that checks one case, without its shape
  std::string format = "text";
  std::vector<std::string> others;
};

/// Checks one case of the kernel with its shape, strides, order and time limit.
using CheckKernelCase = std::function<check::Report(const CheckedKernel& kernel)>;

/// The table, or what else the formats say. `tile`: where shapes are chosen around.
FileReport sweep_kernel(const SweepRequest& request, const check::SweepTile& tile,
                        const CheckKernelCase& check_case);

/// Around the tile of a kernel.
check::SweepTile sweep_tile(const TileShape& tile);
/// Around blocks of one element for each thread: of a kernel whose tile nobody says.
check::SweepTile sweep_tile(const CheckedKernel& kernel, const CheckKernelCase& check_case);
/// The extents in a text such as "mn".
check::SweepExtents sweep_extents(std::string_view names);

}  // namespace tessera::cli
