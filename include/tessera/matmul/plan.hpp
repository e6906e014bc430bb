// The decision for a problem: algorithm, tiles and threads, and why the others were not taken. A
// value that prints, compares and can be parsed from its text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/core/arithmetic.hpp"
#include "tessera/kernels/tile_shape.hpp"
#include "tessera/matmul/problem.hpp"
#include "tessera/simt/order.hpp"

namespace tessera {

/// "128x128x8/8x8" (thread tile), "64x64x32/32x32" (warp tile), "32x32", "none".
std::string to_string(const TileShape& tile);
/// "128,128,8" or "128x128x8", then optionally "/TMxTN" or "/WMxWN": matched against what an
/// algorithm offers.
TileShape parse_tile(std::string_view text);

/// One entry of the ladder, as the command lists it.
struct Algorithm {
  std::string_view name;             ///< as users type it
  std::string_view idea;             ///< one line: what this step adds
  std::span<const TileShape> tiles;  ///< built-in tile shapes, the default first
  bool same_bits;  ///< for f32/f64: one chain of fused multiply-adds in order of k
  bool (*supports)(DType in, DType out);
  int typed_tiles =
      1;  ///< the number of leading tiles that are built for every type; the others for f32
  Arithmetic f32_arithmetic = Arithmetic::chain;  ///< of products of f32
  std::span<const TileShape> f64_tiles = {};      ///< built for f64, where those are others
  std::span<const TileShape> byte_tiles = {};     ///< the same for elements of one byte

  /// The tiles for products of this type, the default first.
  std::span<const TileShape> tiles_of(DType in) const {
    if (in == DType::f64 && !f64_tiles.empty()) return f64_tiles;
    return size_of(in) == 1 && !byte_tiles.empty() ? byte_tiles : tiles;
  }
  /// How many of them are built for this type, if it is not f32.
  int typed_of(DType in) const {
    return std::min(typed_tiles, static_cast<int>(tiles_of(in).size()));
  }
  /// Do products of this type equal the chain in every bit?
  bool promises_bits(DType in) const {
    return in == DType::f32 ? same_bits : in == DType::f64 && (same_bits || !f64_tiles.empty());
  }
  /// The arithmetic of products of this type, for the verifier.
  Arithmetic arithmetic(DType in) const {
    return in == DType::f32 ? f32_arithmetic : Arithmetic::chain;
  }
};

/// All algorithms in the order of the ladder.
std::span<const Algorithm> algorithms();
/// By name; throws Error(argument) with the nearest known name.
const Algorithm& find_algorithm(std::string_view name);

/// The caller's choices; everything has a default.
struct Options {
  std::string algorithm = "auto";
  TileShape tile = {};         ///< all zero: the algorithm's default
  std::string device = "cpu";  ///< or "cuda", "cuda:1": a plan for matrices in its memory
  int threads = 0;  ///< 0: TESSERA_NUM_THREADS, OMP_NUM_THREADS, else the cores of this process
  ThreadOrder order =
      ThreadOrder::forward;  ///< order in which a block's threads run between two barriers
  std::uint64_t seed = 0;    ///< for ThreadOrder::shuffled
  /// chain or lanes: the order of summation of f32 and f64 on the CPU, for `packed`. tf32 is what
  /// an algorithm has.
  Arithmetic arithmetic = Arithmetic::chain;
  /// Of K, for `warpgroup` and `thin`, whose sums are added in their order; 0: 1, or chosen with
  /// the algorithm.
  int parts = 0;
  bool operator==(const Options&) const = default;
};

struct Plan {
  struct Rejected {
    std::string algorithm, reason;
    bool operator==(const Rejected&) const = default;
  };
  Problem problem;
  std::string algorithm;
  TileShape tile;
  std::string device = "cpu";   ///< or "cuda:N"
  int threads = 1;              ///< of the CPU
  index_t workspace_bytes = 0;  ///< set by make_plan: the packed path's panels and sums of all
                                ///< threads; the sums of the parts of K
  ThreadOrder order = ThreadOrder::forward;
  std::uint64_t seed = 0;
  Arithmetic arithmetic = Arithmetic::chain;  ///< chain or lanes, as requested
  std::string reason;                         ///< why this algorithm
  std::vector<Rejected> rejected;             ///< and why not the others
  int parts = 1;                              ///< of K, whose sums are added in their order
  bool operator==(const Plan&) const = default;
};

/// Decides. Throws Error when the options name something unknown or impossible for this problem,
/// with the reason.
Plan make_plan(const Problem& problem, const Options& options = {});

/// Does the order `lanes` apply: requested, of f32 or f64, and a product in dot form? What applies
/// to a product applies to parts of its rows and columns, but not the other way round.
bool sums_in_lanes(const Plan& plan);
/// "chain" or "lanes"; throws Error(argument) for anything else.
Arithmetic parse_arithmetic(std::string_view text);

/// One line: the problem's text, then algorithm=, tile=, device= (if it is not the CPU), threads=,
/// order=, seed=, workspace=, arithmetic= (if it is not chain), parts= (if not 1), reason="...".
std::string to_string(const Plan& plan);
/// Inverse of to_string (rejected algorithms are not part of the text). Throws Error(argument).
Plan parse_plan(std::string_view text);

}  // namespace tessera
