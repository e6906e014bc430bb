// What the broken kernels have in common. Each file beside this one has one defect: Kernel<true>
// has it, Kernel<false> is its clean twin. The line that the finding names ends with "// here", the
// one it conflicts with "// other".
#pragma once

#include <cmath>
#include <string_view>
#include <vector>

#include "tessera/check/check.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"
#include "tessera/tensor/vectorize.hpp"

namespace tessera::broken {

/// One defect and what the checker must say of it.
struct Case {
  std::string_view name, file;
  check::Kind kind;
  check::Severity severity;
  check::Report (*broken)();
  check::Report (*clean)();
};

/// A block of T x T threads that stages tiles of that size.
template <int kTile>
struct StagedBy {
  static constexpr int T = kTile;
  static constexpr const char* name = "broken";
  static constexpr Dim3 block{T, T};
  struct Shared {
    Tile<float, T, T> a, b;
  };
};
/// Two warps.
using Staged = StagedBy<8>;

/// Checks C (M,N) = A (M,K) * B (K,N), compact, by blocks of the kernel's own size that cover C.
/// Behind C is memory that belongs to no tensor.
template <class Kernel>
check::Report product(index_t M, index_t N, index_t K, check::Options options = {}) {
  std::vector<float> a(static_cast<std::size_t>(M * K), 1), b(static_cast<std::size_t>(K * N), 2),
      c(static_cast<std::size_t>(4 * M * N), NAN);
  options.fresh_outputs = options.coverage = true;
  constexpr Dim3 block = Kernel::block;
  return check::check(
      options, Dim3{static_cast<int>(ceil_div(N, block.x)), static_cast<int>(ceil_div(M, block.y))},
      Kernel{}, tensor<kRowMajorMatrix>(std::as_const(a).data(), M, K, K),
      tensor<kRowMajorMatrix>(std::as_const(b).data(), K, N, N),
      tensor<kRowMajorMatrix>(c.data(), M, N, N));
}

/// Checks a kernel on one output (rows,cols) of T that holds zeros.
template <class T, class Kernel>
check::Report on_output(index_t rows, index_t cols, Dim3 grid, check::Options options = {}) {
  std::vector<T> c(static_cast<std::size_t>(rows * cols));
  return check::check(options, grid, Kernel{}, tensor<kRowMajorMatrix>(c.data(), rows, cols, cols));
}

}  // namespace tessera::broken
