// See choice.hpp.
#include "choice.hpp"

#include <algorithm>
#include <optional>

#include "call.hpp"
#include "cuda/abilities.hpp"
#include "refusal.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/cpu/split_k.hpp"
#include "tuned.hpp"
#include "waves.hpp"

namespace tessera::detail {

namespace {

/// Bytes with a long K and a C too small to divide among threads: split-K is faster than packed.
bool splits_bytes(const Problem& p, int threads) {
  constexpr index_t most = 512;
  return is_byte(p.in) && threads > 1 && p.M > 0 && p.N > 0 && p.M <= most && p.N <= most / p.M &&
         find_algorithm("split_k").supports(p.in, p.out) && cpu::split_k_depth(p.M, p.N, p.K) < p.K;
}

/// The fastest in measurements of square and thin shapes: packed where it has the types; for other
/// types, few barriers in small products and register tiles in large ones.
Choice choose_on_cpu(const Problem& p, int threads) {
  const auto taking = [&](std::string_view name, std::string_view reason, std::string_view others) {
    return Choice{name, find_algorithm(name).tiles_of(p.in)[0], std::string(reason), others};
  };
  constexpr std::string_view measured = "not clearly faster where such shapes were measured";
  if (splits_bytes(p, threads))
    return taking("split_k", "threads share K: sums of bytes are exact in any order",
                  "slower where such shapes were measured");
  if (find_algorithm("packed").supports(p.in, p.out))
    return taking("packed", "the CPU's own vector instructions",
                  "slower wherever it was measured, from 1x1x1 to 1024x1024x1024");
  if (!has_native_product(p.in, p.out))
    return taking("warpgroup", "the only kernel of these types, on a model of its units", "");
  if (p.M < 16 || p.N < 16 || p.M * p.N <= 16 * 16)
    return taking("sarek_naive", "a tiny or thin product: small blocks, no barriers", measured);
  if (p.flops() <= 2.0 * 64 * 64 * 64)
    return taking("coalescing", "a small product: no tiles, no barriers", measured);
  return taking("block_tiled_vectorized", "register tiles do the most work for each load",
                measured);
}

/// `warpgroup` or `thin` in this tile, or with its K in parts if that is expected to be clearly
/// faster: where C has few tiles.
Choice choose_parts(const Problem& p, Choice choice, int asked_parts, const Device& device) {
  const int known = cuda::abilities(device.number()).multiprocessors;
  const int multiprocessors = known > 0 ? known : kHopperMultiprocessors;
  const bool is_thin = choice.algorithm == "thin";
  const TileAndParts split = is_thin ? fastest_thin_parts(p, choice.tile, multiprocessors)
                                     : fastest_parts(p, multiprocessors);
  const double whole = is_thin ? expected_thin_clocks(p, choice.tile, 1, multiprocessors)
                               : expected_clocks(std::span(&p, 1), choice.tile, 1, multiprocessors);
  constexpr double clearly = 0.8;
  if (asked_parts == 0 && split.parts > 1 && split.clocks < clearly * whole) {
    choice.tile = split.tile, choice.parts = split.parts;
    choice.reason += cat("; K in ", split.parts, " parts, as C has few tiles");
  }
  return choice;
}

bool in_16_bits(DType type) { return type == DType::f16 || type == DType::bf16; }

Choice choose_for_bytes(const Problem& p, int asked_parts, const Device& device) {
  const auto why_not = [&](std::string_view name) {
    const LadderEntry& entry = find_entry(name);
    return refusal(entry, p, entry.algorithm.tiles_of(p.in)[0], device).why;
  };
  const auto tile = [&](std::string_view name) { return find_algorithm(name).tiles_of(p.in)[0]; };
  const std::string why = why_not("warpgroup");
  if (why.empty())
    return choose_parts(
        p, {"warpgroup", tile("warpgroup"), "a warpgroup's matrix units", "expected to be slower"},
        asked_parts, device);
  if (why_not("tensor_core").empty())
    return {"tensor_core", tile("tensor_core"), "matrix units: bytes, sums in i32",
            "expected to be slower"};
  throw Error(Category::unavailable,
              cat("no kernel multiplies ", type_text(p), " on ", device, ": ", why));
}

/// On a GPU: for f32 the fastest measured, for 16-bit elements tiles that fill the device, for thin
/// products the kernel for their bottleneck.
Choice choose_on_cuda(const Problem& p, int asked_parts, const Device& device) {
  const auto taking = [&](std::string_view name, std::string_view reason, std::size_t tile = 0) {
    return Choice{name, find_algorithm(name).tiles_of(p.in)[tile], std::string(reason),
                  "expected to be slower"};
  };
  if (size_of(p.in) == 1) return choose_for_bytes(p, asked_parts, device);
  const bool has_units = in_16_bits(p.in) && why_not_hopper(device).empty();
  const index_t large = std::max(p.M, p.N), small = std::min(p.M, p.N);
  // Half-empty instructions where full ones would leave multiprocessors idle.
  const bool is_half = ceil_div(large, index_t{64}) < 96;
  if (has_units && small <= 32 && why_no_thin_operands(p, nullptr, nullptr).empty()) {
    const std::size_t columns = small <= 8 ? 0 : small <= 16 ? 1 : 2;
    return choose_parts(p,
                        taking("thin", "a thin product: the large matrix streams past it, once",
                               columns + (is_half ? 4 : 0)),
                        asked_parts, device);
  }
  if (small < 32)
    return taking("coalescing", "a thin product: every element of the large matrix is used once");
  // The largest tiles that give each of some hundred multiprocessors a block, or two small ones.
  const auto blocks = [&](index_t rows, index_t cols) {
    return ceil_div(p.M, rows) * ceil_div(p.N, cols);
  };
  if (in_16_bits(p.in)) {
    if (!has_units || !why_no_bulk_operands(p, nullptr, nullptr).empty())
      return taking("tensor_core", "matrix units: 16-bit elements, sums in f32");
    // Of 64 rows or columns a larger tile would be half empty; of 100 to 132 tiles each
    // multiprocessor has at most one.
    const index_t largest = blocks(128, 256);
    const bool is_one_round = largest >= 100 && largest <= kHopperMultiprocessors;
    const std::size_t tile = small <= 64                      ? 4
                             : blocks(128, 192) >= 2000       ? 1
                             : largest >= 256 || is_one_round ? 0
                             : blocks(128, 128) >= 200        ? 2
                             : blocks(128, 64) >= 100         ? 3
                                                              : 4;
    return choose_parts(
        p, taking("warpgroup", "a warpgroup's matrix units: 16-bit elements, sums in f32", tile),
        asked_parts, device);
  }
  if (p.in == DType::f64 && p.out == DType::f64)
    return taking("tensor_core", "matrix units: for f64 the same chain of multiply-adds");
  if (!is_f32_product(p.in, p.out))
    return taking("block_tiled_vectorized", "register tiles do the most work for each load");
  const bool is_large = blocks(256, 128) >= 100;
  if (why_not_hopper(device).empty() && why_no_bulk_tiles(p, nullptr, nullptr).empty())
    return taking("bulk_tiled",
                  is_large ? "bulk copies load tiles while others are multiplied"
                           : "bulk copies load tiles while others are multiplied; small ones, for "
                             "more blocks",
                  is_large ? 0 : 1);
  if (is_large) return taking("pipelined", "tiles arrive while others are multiplied");
  return taking("pipelined",
                "tiles arrive while others are multiplied; small ones, for more blocks",
                blocks(64, 128) >= 200 ? 1 : 2);
}

/// On OpenCL and AMD: register tiles, or no tiles for thin products; the first that the device has
/// room for.
Choice choose_by_room(const Problem& p, const Device& device) {
  const bool is_thin = std::min(p.M, p.N) < 32;
  std::string skipped;
  for (const std::string_view name :
       {"block_tiled_vectorized", "tiled", "coalescing", "sarek_naive"}) {
    if (is_thin && (name == "block_tiled_vectorized" || name == "tiled")) continue;
    const LadderEntry& entry = find_entry(name);
    for (const TileShape& tile : entry.algorithm.tiles_of(p.in)) {
      const std::string why = refusal(entry, p, tile, device).why;
      if (why.empty())
        return {name, tile,
                cat(is_thin ? "a thin product: every element of the large matrix is used once"
                            : "register tiles do the most work for each load",
                    skipped),
                "expected to be slower"};
      if (skipped.empty()) skipped = cat("; not ", name, ": ", why);
    }
  }
  throw Error(Category::unavailable,
              cat("no kernel multiplies ", type_text(p), " on ", device, skipped));
}

}  // namespace

bool is_free_choice(const Algorithm& a, const Problem& p, bool on_cuda) {
  return a.same_bits || a.promises_bits(p.in) ||
         (on_cuda && (in_16_bits(p.in) || size_of(p.in) == 1));
}

namespace {

/// The first algorithm that has the tile and gives the same bits as the others.
Choice choose_by_tile(const Problem& p, const TileShape& wanted, const Device& device) {
  const bool on_cuda = device.kind() == DeviceKind::cuda;
  for (const auto& entry : ladder()) {
    const TileShape tile = resolve_tile(entry.algorithm.tiles_of(p.in), wanted);
    if (is_free_choice(entry.algorithm, p, on_cuda) && refusal(entry, p, tile, device).why.empty())
      return {entry.algorithm.name, tile, "the first of the ladder with this tile",
              "has this tile too, but comes later"};
  }
  throw Error(Category::argument,
              cat("no algorithm has tile ", to_string(wanted), " built in for ", type_text(p)), {},
              {}, "name an algorithm to learn why, or see 'tessera compare --list'");
}

/// A result of tuning, if it is usable.
std::optional<Choice> choose_tuned(const Tuning& tuning, const Problem& p, int asked_parts,
                                   const Device& device, std::string_view reason) {
  const TunedProduct* const found = tuning.find(p);
  if (found == nullptr) return std::nullopt;
  for (const auto& entry : ladder()) {
    if (entry.algorithm.name != found->best.algorithm) continue;
    const TileShape tile = resolve_tile(entry.algorithm.tiles_of(p.in), found->best.tile);
    if (!is_free_choice(entry.algorithm, p, device.kind() == DeviceKind::cuda) ||
        !refusal(entry, p, tile, device).why.empty())
      continue;
    Choice out{entry.algorithm.name, tile, std::string(reason), "slower where it was measured",
               found->slower};
    if (asked_parts == 0 && has_parts(out.algorithm, p.in, tile)) out.parts = found->best.parts;
    for (const auto& [who, times] : found->slower) {
      if (who.algorithm == out.algorithm)
        out.reason +=
            cat("; ", to_string(who.tile), who.parts == 1 ? "" : cat(" in ", who.parts, " parts"),
                ": ", times, " of its time");
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace

Choice choose(const Problem& p, const Options& options, const Device& device) {
  if (options.parts > 1) {  // of the kernels with parts, the one for any shape
    const LadderEntry& entry = find_entry("warpgroup");
    if (entry.algorithm.supports(p.in, p.out) && !is_free_choice(entry.algorithm, p, true))
      throw Error(Category::argument,
                  cat("plan: no kernel splits K of ", type_text(p), " and keeps its bits"),
                  "one part", cat(options.parts), "name warpgroup, which rounds f32 to TF32");
    const TileShape wanted = options.tile == TileShape{} ? group_tiles(p.in)[0] : options.tile;
    return {"warpgroup",
            required_tile(entry, p, wanted, device),
            "the algorithm with parts of K",
            "does not split K into parts",
            {},
            options.parts};
  }
  if (options.tile != TileShape{}) return choose_by_tile(p, options.tile, device);
  const std::string name = to_string(device);
  if (const auto tuned = choose_tuned(tuning_of(name).tuning, p, options.parts, device,
                                      "the fastest of this product by 'tessera tune'"))
    return *tuned;
  if (device.kind() == DeviceKind::cuda) {
    const auto shipped = choose_tuned(shipped_tuning(name), p, options.parts, device,
                                      "the fastest of this product on such a device");
    return shipped ? *shipped : choose_on_cuda(p, options.parts, device);
  }
  if (has_gpu_code(device.kind())) return choose_by_room(p, device);
  const int threads = options.threads > 0 ? options.threads : default_threads();
  return choose_on_cpu(p, threads);
}

}  // namespace tessera::detail
