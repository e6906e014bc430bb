// The kernels of the ladder as compiled functions: the list is ladder.inc, and its file,
// made from ladder/kernel.cpp.in, instantiates each for its element types and tile shapes. Private
// to src/matmul.
#pragma once

#include <span>

#include "ladder/tiles.hpp"
#include "operands.hpp"
#include "tessera/matmul/plan.hpp"
#include "tessera/simt/launch.hpp"
#include "tile_rules.hpp"

namespace tessera::detail {

/// Everything a kernel needs at run time. Checked before it gets here.
struct LadderCall {
  const Problem& problem;
  const TileShape& tile;
  LaunchConfig config;  ///< threads, order, seed; the kernel sets grid and block
  const void* A;
  const void* B;
  void* C;
  const void* bias;
  Arithmetic arithmetic = Arithmetic::chain;  ///< for `packed`
  int parts = 1;                              ///< of K, for `warpgroup` and `thin`
};

/// One compiled kernel.
struct LadderEntry {
  Algorithm algorithm;
  void (*run)(const LadderCall& call);
  std::string_view kernel;  ///< the class template; empty where there is none
  TileRule rule;
};

/// In the order of the ladder.
std::span<const LadderEntry> ladder();
/// By name; throws Error(argument) with the nearest known name.
const LadderEntry& find_entry(std::string_view name);

// run_NAME(call) of each kernel, and entry_of_NAME() of those that have their own file.
#define TESSERA_LADDER(name, ...) void run_##name(const LadderCall& call);
#define TESSERA_LADDER_HOST(name) LadderEntry entry_of_##name();
#define TESSERA_LADDER_UNITS(name, ...) TESSERA_LADDER(name) TESSERA_LADDER_HOST(name)
#define TESSERA_LADDER_BULK(name, ...) TESSERA_LADDER(name) TESSERA_LADDER_HOST(name)
#include "ladder.inc"

/// Why bulk copies cannot read A or B, as `warpgroup` does: "B: its rows are 14 bytes apart, ...";
/// empty where they can. Addresses that are not known may be null.
std::string why_no_bulk_operands(const Problem& problem, const void* a, const void* b);
/// The same for `thin`.
std::string why_no_thin_operands(const Problem& p, const void* a, const void* b);

/// Why bulk copies cannot read A or B, as `bulk_tiled` does; empty where they can.
std::string why_no_bulk_tiles(const Problem& problem, const void* a, const void* b);
/// The tile of `pipelined` that takes the place of one of `bulk_tiled`.
const TileShape& tile_of_pipelined(const TileShape& tile);

inline bool is_f32_product(DType in, DType out) { return in == DType::f32 && out == DType::f32; }

/// The tile that `wanted` means, built in or not. Throws Error(argument) where no kernel of the
/// entry can have this tile or this product.
TileShape possible_tile(const LadderEntry& entry, DType in, DType out, const TileShape& wanted);

/// Refuses extents, element types and scalars that no plan may have, whether it is made or parsed.
void check_problem(const Problem& problem);

template <class Kernel, class In, class Out>
void run_kernel(const LadderCall& call) {
  LaunchConfig config = call.config;
  config.grid = Kernel::grid(call.problem.M, call.problem.N);
  config.block = Kernel::block;
  with_operands<In, Out>(
      call.problem, call.A, call.B, call.C, call.bias,
      [&](const auto& A, const auto& B, const auto& C) { launch(config, Kernel{}, A, B, C); });
}

/// Kernel for every pair of element types that has_native_product.
template <class Kernel>
void run_every_type(const LadderCall& call) {
  visit_product(call.problem.in, call.problem.out,
                [&]<class In, class Out>() { run_kernel<Kernel, In, Out>(call); });
}

/// The same in the default tile of each type.
template <template <TileShape> class Kernel, class Tiles>
void run_first_tile(const LadderCall& call) {
  visit_product(call.problem.in, call.problem.out, [&]<class In, class Out>() {
    run_kernel<Kernel<kFirstTile<Tiles, In>>, In, Out>(call);
  });
}

/// A kernel in its tiles: ladder/tiles.hpp.
template <template <TileShape> class Kernel, class Tiles>
struct Ladder;
template <template <TileShape> class Kernel, int Typed, TileShape... Tiles>
struct Ladder<Kernel, TileList<Typed, Tiles...>> : TileList<Typed, Tiles...> {
  static void run(const LadderCall& call) {
    if constexpr (Typed > 0) {
      if (is_first_tile<List>(call.tile, call.problem.in))
        return run_first_tile<Kernel, List>(call);
    }
    run_from<0, Tiles...>(call);
  }

 private:
  using List = TileList<Typed, Tiles...>;
  template <int At, TileShape First, TileShape... Rest>
  static void run_from(const LadderCall& call) {
    if (call.tile == First) {
      if constexpr (At >= Typed) run_kernel<Kernel<First>, float, float>(call);
      else if constexpr (At > 0) run_every_type<Kernel<First>>(call);
    } else if constexpr (sizeof...(Rest) > 0) {
      run_from<At + 1, Rest...>(call);
    }
  }
};

}  // namespace tessera::detail
