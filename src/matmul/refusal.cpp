// See refusal.hpp.
#include "refusal.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "call.hpp"
#include "cuda/abilities.hpp"
#include "cuda/ladder.hpp"
#include "device/device_names.hpp"
#include "gpu_code/ladder.hpp"
#include "product_text.hpp"

namespace tessera::detail {

TileShape resolve_tile(std::span<const TileShape> tiles, const TileShape& wanted) {
  if (wanted == TileShape{}) return tiles[0];
  for (const auto& tile : tiles) {
    if (to_string(tile) == to_string(wanted)) return tile;
  }
  for (const auto& tile : tiles) {  // the inner tile may be left out
    if (wanted.tm == 0 && tile.bm == wanted.bm && tile.bn == wanted.bn &&
        (wanted.bk == 0 || tile.bk == wanted.bk))
      return tile;
  }
  TileShape out = wanted;
  if (tiles[0].wm > 0 && out.wm == 0) {
    std::swap(out.wm, out.tm);
    std::swap(out.wn, out.tn);
  }
  return out;
}

namespace {

std::string tile_list(std::span<const TileShape> tiles) {
  std::string out;
  for (const auto& each : tiles) out += cat(out.empty() ? "" : ", ", to_string(each));
  return out;
}

}  // namespace

namespace {

/// The number of leading tiles that an algorithm has on a device for every type; nothing where it
/// does not run there.
std::optional<int> typed_tiles_on(const Device& device, const Algorithm& algorithm) {
  if (device == Device::cpu()) return algorithm.typed_tiles;
  const auto typed = [&](const auto& entries) -> std::optional<int> {
    for (const auto& entry : entries)
      if (entry.name == algorithm.name) return std::min(entry.typed, algorithm.typed_tiles);
    return std::nullopt;
  };
  return device.kind() == DeviceKind::cuda ? typed(cuda_ladder()) : typed(gpu_ladder());
}

}  // namespace

namespace {

/// Does it use bulk copies, which only Hopper has?
bool is_for_hopper(const Algorithm& a) {
  return a.name == "warpgroup" || a.name == "thin" || a.name == "bulk_tiled" ||
         a.name == "three_bf16";
}

}  // namespace

std::string why_not_hopper(const Device& device) {
  const int capability = cuda::abilities(device.number()).capability;
  if (capability == 0 || capability == 90) return {};
  return cat("it needs compute capability 9.0, device ", device.number(), " has ", capability / 10,
             ".", capability % 10);
}

Device planned_device(std::string_view name) {
  const Device found = product_device(name);
  if (found.kind() == DeviceKind::cuda && cuda_ladder().empty())
    throw Error(Category::unavailable, cat("device '", name, "' is not available"), {}, {},
                "this build has no CUDA; use the cpu");
  if (has_gpu_code(found.kind())) {
    describe(found);
    if (gpu_ladder().empty())
      throw Error(
          Category::unavailable, cat("device '", name, "' is not available"), {}, {},
          "this build has no kernels for OpenCL and AMD: build it where clang-14 is; use the "
          "cpu");
  }
  return found;
}

std::string why_no_maps(const Algorithm& a, const Problem& p) {
  if (a.name == "warpgroup") return why_no_bulk_operands(p, nullptr, nullptr);
  if (a.name == "thin") return why_no_thin_operands(p, nullptr, nullptr);
  if (a.name == "bulk_tiled") return why_no_bulk_tiles(p, nullptr, nullptr);
  return {};
}

std::string substitution(const Algorithm& a, const Problem& p) {
  const std::string why = why_no_maps(a, p);
  if (why.empty()) return {};
  if (size_of(p.in) == 1) return cat("operands are copied first. ", why);
  return cat(a.name == "bulk_tiled" ? "pipelined" : "tensor_core", " takes its place. ", why);
}

namespace {

/// Why no kernel of an algorithm can run a problem with a tile.
Refusal impossibility(const LadderEntry& entry, const Problem& p, const TileShape& tile) {
  const Algorithm& a = entry.algorithm;
  if (!a.supports(p.in, p.out))
    return {cat("it has no ", type_text(p), " product, but ", products_text(a.supports)),
            "choose another algorithm, or let it be chosen"};
  const auto tiles = a.tiles_of(p.in);
  if (std::find(tiles.begin(), tiles.end(), tile) < tiles.begin() + a.typed_of(p.in)) return {};
  if (tiles[0] == TileShape{}) return {entry.rule(tile, size_of(p.in)), "ask for no tile"};
  if (tile.cm > 0 && a.name != "warpgroup" && a.name != "three_bf16")
    return {cat("tile ", to_string(tile), " is impossible: only warpgroup has clusters of blocks"),
            cat("built: ", tile_list(tiles))};
  if (const auto why = entry.rule(tile, size_of(p.in)); !why.empty())
    return {cat("tile ", to_string(tile), " is impossible: ", why),
            cat("built: ", tile_list(tiles))};
  return {};
}

}  // namespace

namespace {

/// Why a device is too small for a kernel that was built.
Refusal limit_of(const Device& device, const Problem& p, const Algorithm& a,
                 const TileShape& tile) {
  const DeviceInfo info = describe(device);
  const GpuNeeds needed = find_gpu_entry(a.name)->needs(tile, p.in, p.out);
  if (p.in == DType::f64 && !info.has_f64) return {cat(device, " has no f64"), "multiply in f32"};
  const auto beyond = [&](const char* what, auto wanted, auto most) {
    return Refusal{
        cat("tile ", to_string(tile), " needs ", wanted, " ", what, ", ", device, " has ", most),
        "choose a smaller tile, or let it be chosen"};
  };
  if (needed.threads > info.most_block_threads)
    return beyond("threads in a block", needed.threads, info.most_block_threads);
  const auto shared = static_cast<index_t>(needed.shared_bytes);
  if (shared > info.shared_bytes)
    return beyond("bytes of shared storage", shared, info.shared_bytes);
  return {};
}

}  // namespace

Refusal refusal(const LadderEntry& entry, const Problem& p, const TileShape& tile,
                const Device& device) {
  const Algorithm& a = entry.algorithm;
  const bool is_clangs = has_gpu_code(device.kind());
  const auto typed = typed_tiles_on(device, a);
  if (!typed)
    return {is_clangs ? "it does not run on OpenCL and AMD devices" : "it runs on CPUs only",
            "choose another algorithm"};
  if (device.kind() == DeviceKind::cuda && is_for_hopper(a)) {
    if (const auto why = why_not_hopper(device); !why.empty())
      return {why, "choose another algorithm, or let it be chosen"};
  }
  if (!a.supports(p.in, p.out)) return impossibility(entry, p, tile);
  if ((a.name == "warpgroup" || a.name == "tensor_core") && p.type_of_b() != p.in)
    return {"its units are compiled for bytes of one sign only",
            "choose another algorithm, or let it be chosen"};
  if (device.kind() == DeviceKind::cuda && a.name == "warpgroup" && size_of(p.in) == 1) {
    if (const auto why = why_no_maps(a, p); !why.empty())
      return {cat("it reads elements of one byte along K. ", why),
              "keep the rows of A and the columns of B contiguous, at multiples of 16 bytes"};
  }
  const auto tiles = a.tiles_of(p.in);
  const auto at = std::find(tiles.begin(), tiles.end(), tile) - tiles.begin();
  const int built = std::min(*typed, a.typed_of(p.in));
  const bool is_built =
      at < built || (at < std::ssize(tiles) && p.in == DType::f32 && p.out == DType::f32);
  if (is_built) return is_clangs ? limit_of(device, p, a, tile) : Refusal{};
  if (auto impossible = impossibility(entry, p, tile); !impossible.why.empty()) return impossible;
  const auto offered = p.in == DType::f32 && p.out == DType::f32
                           ? tiles
                           : tiles.first(static_cast<std::size_t>(built));
  return {cat("tile ", to_string(tile), " is possible, but not built in for ", type_text(p),
              " (built: ", tile_list(offered), ")"),
          cat("in C++, launch ", entry.kernel, "<TileShape", initializer_text(tile),
              ">: see docs/kernels.md")};
}

namespace {

[[noreturn]] void refuse(std::string_view prefix, const LadderEntry& entry,
                         const Refusal& refused) {
  throw Error(Category::argument,
              cat(prefix, entry.algorithm.name, " cannot run this product: ", refused.why), {}, {},
              refused.advice);
}

}  // namespace

TileShape required_tile(const LadderEntry& entry, const Problem& p, const TileShape& wanted,
                        const Device& device, std::string_view prefix) {
  const TileShape tile = resolve_tile(entry.algorithm.tiles_of(p.in), wanted);
  if (const Refusal refused = refusal(entry, p, tile, device); !refused.why.empty())
    refuse(prefix, entry, refused);
  return tile;
}

TileShape possible_tile(const LadderEntry& entry, DType in, DType out, const TileShape& wanted) {
  const Problem p{.in = in, .out = out};
  const TileShape tile = resolve_tile(entry.algorithm.tiles_of(p.in), wanted);
  if (const Refusal refused = impossibility(entry, p, tile); !refused.why.empty())
    refuse("check: ", entry, refused);
  return tile;
}

}  // namespace tessera::detail
