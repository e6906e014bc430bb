// What `tessera check` and `tessera explain` share: a kernel of the ladder under the checker on
// seeded numbers of any shape, and the page made from its report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shell/options.hpp"
#include "tessera/check/device_model.hpp"
#include "tessera/check/product.hpp"
#include "tessera/check/suppressions.hpp"
#include "tessera/matmul/check.hpp"

namespace tessera::inspect {

/// No multiple of any tile, so that every kernel meets the edge.
inline constexpr index_t kUnevenExtent = 100;

/// What to run.
struct CheckedKernel {
  std::string name, dtype = "f32", tile, order = "forward", device = "h200";
  index_t m = kUnevenExtent, n = kUnevenExtent, k = kUnevenExtent;
  std::uint64_t seed = 0;
  int threads = 0, blocks = 0, seconds = 60;  ///< blocks 0: all
  int warp = 32;                              ///< lanes of a warp of plain CUDA
  int registers = 0;                          ///< of a thread; 0: unknown
  double beta = 0;
  std::string strides = "rows";  ///< see check::ProductStrides
  bool counters_only = false, forget_tiles = false, coverage = false;
  std::vector<check::Suppression> suppressions;
};

/// Adds NAME, extents, type, tile, order, seed, beta, blocks, time limit, device, registers,
/// threads; the defaults are those of `kernel`. `name_description` says what NAME may be.
void add_kernel_options(CLI::App& app, CheckedKernel& kernel, std::string name_type,
                        std::string name_description);

/// The type of A and B in "i8", "i8:i32" or "i8:i8:i32". Throws Error(argument) for other types of
/// C than those of a kernel that is checked.
std::string checked_dtype(const std::string& text);
/// Adds --strides.
void add_strides(CLI::App& app, CheckedKernel& kernel);
/// Adds --device: the name of a GPU model.
void add_device_model(CLI::App& app, CheckedKernel& kernel);
/// Throws Error(argument) for an unknown device or an impossible number of registers.
const check::DeviceModel& checked_device(const CheckedKernel& kernel);
/// Is NAME a file with a kernel of the user?
bool is_file(const CheckedKernel& kernel);

/// Runs it. Throws Error(argument) with the nearest name, Error(unavailable) if it could not be
/// checked.
check::Report checked(const CheckedKernel& kernel);

/// What to run, as source code spells it. Throws Error(argument) with the nearest name, or with the
/// reason why no kernel has this tile or type.
KernelSpelling spelling_of(const CheckedKernel& kernel);
/// The source of a `tessera check FILE.cpp` that runs it on any shape.
std::string source_text(const CheckedKernel& kernel, const KernelSpelling& spelling);
/// How that file's report names what it ran.
std::string problem_text(const CheckedKernel& kernel, const KernelSpelling& spelling);

/// The text of a source file as reports name it; for an installed command, of the installed header.
std::optional<std::string> source_of(const std::string& file);

}  // namespace tessera::inspect
