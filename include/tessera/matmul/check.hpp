// check_matmul(plan, A, B, C): runs the plan's kernel under the checker. C is afterwards as after
// run().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/check/product.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera {

/// Names of the algorithms that can be checked: the kernels of the ladder.
std::vector<std::string> checked_algorithms();

/// A kernel of the ladder as C++ source text.
struct KernelSpelling {
  std::string header;  ///< "tessera/kernels/tiled.hpp"; empty: check_product() cannot run it
  std::string kernel;  ///< "Tiled<TileShape{.bm = 24, .bn = 24, .bk = 24}>"
  std::string type;    ///< of the elements: "float", or "f16, float" for another one of C
  TileShape tile;
  bool is_compiled;  ///< check_matmul() has it
  /// Of a kernel with bulk copies: BK and the stages of its ring, and strides that it can read.
  int depth = 0, stages = 0;
  check::ProductStrides strides = check::ProductStrides::rows;
};
/// With the kernel's own tile where `tile` is all zero. Throws Error(argument) where the algorithm
/// is unknown or none of threads and blocks, or cannot have this type or tile, with the reason.
KernelSpelling spell_kernel(std::string_view algorithm, DType in, DType out, const TileShape& tile);

/// The report of the plan's kernel. Names of tensors, the problem's text, order, seed and whether
/// C holds anything (beta = 0: nothing) come from the plan. Throws Error(unavailable) where the
/// algorithm is no kernel of threads and blocks, or is not compiled for the checker in this tile
/// and type.
check::Report check_matmul(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B,
                           const Matrix& C, const check::Options& options = {},
                           const void* bias = nullptr);

}  // namespace tessera
