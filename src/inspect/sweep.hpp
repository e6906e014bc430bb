// `tessera check --sweep`: a kernel on many shapes, and one table of the results.
#pragma once

#include "check_file.hpp"
#include "tessera/check/sweep.hpp"

namespace tessera::inspect {

/// The kernel of a sweep, as messages and the table name it.
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

/// Prints the table or the requested formats. Shapes are chosen around `tile`.
FileReport sweep_kernel(const SweepRequest& request, const check::SweepTile& tile,
                        const CheckKernelCase& check_case);

/// Around the tile of a kernel; of a kernel of the ladder, and the turns of its ring of stages.
check::SweepTile sweep_tile(const TileShape& tile);
check::SweepTile sweep_tile(const KernelSpelling& spelling);
/// The same for a file; without a requested tile around blocks with one element per thread.
check::SweepTile sweep_tile(const CheckedKernel& kernel, const CheckKernelCase& check_case);
/// The extents in a text such as "mn".
check::SweepExtents sweep_extents(std::string_view names);

}  // namespace tessera::inspect
