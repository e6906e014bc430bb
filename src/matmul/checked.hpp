// The kernels of the ladder compiled again, for the checker: a file for each, made from
// checked/kernel.cpp.in or called checked/NAME.cpp, is compiled with TESSERA_CHECK=1. Private to
// src/matmul; see ladder.hpp for the kernels as they run.
#pragma once

#include <span>

#include "ladder.hpp"
#include "tessera/check/product.hpp"

namespace tessera::detail {

/// The ring of a kernel with bulk copies: see KernelSpelling.
struct RingOf {
  int depth = 0, stages = 0;
  check::ProductStrides strides = check::ProductStrides::rows;
};

/// One kernel that can be checked, in its tiles.
struct CheckedEntry {
  std::string_view name;
  std::span<const TileShape> tiles;
  bool (*has_type)(DType in, DType out, const TileShape& tile);
  check::Report (*run)(const LadderCall& call, const check::Options& options);
  /// Of kernels that take maps for bulk copies, which check_product() does not make.
  RingOf (*ring)(DType in, const TileShape& tile) = nullptr;
};

/// In the order of the ladder.
std::span<const CheckedEntry> checked_ladder();

#define TESSERA_LADDER(name, ...) CheckedEntry checked_##name();
#define TESSERA_LADDER_UNITS(name, ...) CheckedEntry checked_##name();
#define TESSERA_LADDER_BULK(name, ...) CheckedEntry checked_##name();
#define TESSERA_LADDER_HOST(...)
#include "ladder.inc"

/// Operands that bulk copies cannot read: by `tensor_core` with its first tile, as in every run.
check::Report check_by_tensor_core(const LadderCall& call, const check::Options& options);

/// As run_kernel() of ladder.hpp.
template <class Kernel, class In, class Out>
check::Report check_kernel(const LadderCall& call, const check::Options& options) {
  const Problem& p = call.problem;
  return with_operands<In, Out>(
      p, call.A, call.B, call.C, call.bias, [&](const auto& A, const auto& B, const auto& C) {
        return check::check(options, Kernel::grid(p.M, p.N), Kernel{}, A, B, C);
      });
}

/// The tiles of a list that are compiled for the checker. `tessera check` compiles others on
/// demand.
#if defined(TESSERA_FIRST_TILES)
template <class Tiles>
struct FirstTile;
template <int Typed, TileShape First, TileShape... Rest>
struct FirstTile<TileList<Typed, First, Rest...>> {
  using List = TileList<(Typed > 0), First>;
};
template <class Tiles>
using CompiledTiles = typename FirstTile<Tiles>::List;
#else
template <class Tiles>
using CompiledTiles = Tiles;
#endif

/// A kernel for f32 with every tile of its list, and with the first one for `Others` too.
template <template <TileShape> class Kernel, class Tiles, class... Others>
struct CheckedLadder;
template <template <TileShape> class Kernel, int Typed, TileShape First, TileShape... Rest,
          class... Others>
struct CheckedLadder<Kernel, TileList<Typed, First, Rest...>, Others...> {
  static bool has_type(DType in, DType out, const TileShape& tile) {
    return in == out && (in == DType::f32 ||
                         (is_first_tile<List>(tile, in) && ((in == dtype_of<Others>()) || ...)));
  }
  static check::Report run(const LadderCall& call, const check::Options& options) {
    check::Report report;
    [[maybe_unused]] const auto is_run = [&]<class T>(const TypeTag<T>&) {
      if (call.problem.in != dtype_of<T>()) return false;
      report = check_kernel<Kernel<kFirstTile<List, T>>, T, T>(call, options);
      return true;
    };
    return (is_run(TypeTag<Others>{}) || ...) ? report : run_tile<First, Rest...>(call, options);
  }
  static constexpr CheckedEntry entry(std::string_view name) {
    return {name, List::tiles, has_type, run};
  }

 private:
  using List = TileList<Typed, First, Rest...>;
  template <TileShape Tile, TileShape... More>
  static check::Report run_tile(const LadderCall& call, const check::Options& options) {
    if constexpr (sizeof...(More) > 0) {
      if (call.tile != Tile) return run_tile<More...>(call, options);
    }
    return check_kernel<Kernel<Tile>, float, float>(call, options);
  }
};

}  // namespace tessera::detail
