// Decides: which algorithm and tile run a problem, and why the others do not. What is made and what
// is read from text pass the same checks, so that a plan that exists can be run.
#include "tessera/matmul/plan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "call.hpp"
#include "cuda_ladder.hpp"
#include "fields.hpp"
#include "ladder.hpp"
#include "tessera/core/edit_distance.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/cpu/split_k.hpp"
#include "tessera/cuda/abilities.hpp"
#include "tuned.hpp"

namespace tessera {

namespace {

/// The built-in tile that `wanted` means: "64,64,32/32,32" fits a warp tile as well as a thread
/// tile.
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

struct Refusal {
  std::string why, advice;  ///< no `why`: nothing speaks against it
};

std::string tile_list(std::span<const TileShape> tiles) {
  std::string out;
  for (const auto& each : tiles) out += cat(out.empty() ? "" : ", ", to_string(each));
  return out;
}

/// How many of its tiles, from the first, an algorithm has on CUDA for every type; 0 where it does
/// not run there.
int typed_on_cuda(std::string_view algorithm) {
  for (const auto& entry : detail::cuda_ladder()) {
    if (entry.name == algorithm) return entry.typed;
  }
  return 0;
}

/// Of a canonical name: -1 for the CPU.
int number_of(std::string_view device) {
  int number = -1;
  if (device != "cpu") std::from_chars(device.data() + 5, device.data() + device.size(), number);
  return number;
}

/// Is it written in bulk copies, which Hopper has?
bool is_for_hopper(const Algorithm& a) {
  return a.name == "warpgroup" || a.name == "thin" || a.name == "bulk_tiled";
}

/// Why a device of CUDA multiplies without bulk copies and the units of a warpgroup. One that is
/// not here is taken for the one they are made for.
std::string why_not_hopper(int device) {
  const int capability = cuda::abilities(device).capability;
  if (capability == 0 || capability == 90) return {};
  return cat("it needs compute capability 9.0, device ", device, " has ", capability / 10, ".",
             capability % 10);
}

/// "cpu" or "cuda:N". Throws Error for other names, and for CUDA where this build has none.
std::string canonical_device(std::string_view name) {
  if (name == "cpu") return "cpu";
  const std::string_view number = name == "cuda"              ? "0"
                                  : name.starts_with("cuda:") ? name.substr(5)
                                                              : "";
  int value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || end != number.data() + number.size() || value < 0)
    throw Error(Category::argument, cat("unknown device '", name, "'"), "cpu, cuda or cuda:N");
  if (detail::cuda_ladder().empty())
    throw Error(Category::unavailable, cat("device '", name, "' is not available"), {}, {},
                "this build has no CUDA; use the cpu");
  return cat("cuda:", value);
}

/// Why bulk copies cannot bring the operands of a problem to an algorithm's kernels.
std::string why_no_maps(const Algorithm& a, const Problem& p) {
  if (a.name == "warpgroup") return detail::why_no_bulk_operands(p, nullptr, nullptr);
  if (a.name == "thin") return detail::why_no_thin_operands(p, nullptr, nullptr);
  if (a.name == "bulk_tiled") return detail::why_no_bulk_tiles(p, nullptr, nullptr);
  return {};
}

/// Why no kernel of an algorithm can run a problem with a tile.
Refusal impossibility(const detail::LadderEntry& entry, const Problem& p, const TileShape& tile) {
  const Algorithm& a = entry.algorithm;
  if (!a.supports(p.in, p.out))
    return {cat("it has no ", detail::type_text(p), " product"),
            "choose another algorithm, or let it be chosen"};
  const auto tiles = a.tiles_of(p.in);
  if (std::find(tiles.begin(), tiles.end(), tile) < tiles.begin() + a.typed_tiles) return {};
  if (tiles[0] == TileShape{}) return {entry.rule(tile, size_of(p.in)), "ask for no tile"};
  if (const auto why = entry.rule(tile, size_of(p.in)); !why.empty())
    return {cat("tile ", to_string(tile), " is impossible: ", why),
            cat("built: ", tile_list(tiles))};
  return {};
}

/// Why an algorithm cannot run a problem with a tile.
Refusal refusal(const detail::LadderEntry& entry, const Problem& p, const TileShape& tile,
                int device) {
  const Algorithm& a = entry.algorithm;
  const bool on_cuda = device >= 0;
  if (on_cuda && typed_on_cuda(a.name) == 0)
    return {"it runs on CPUs only", "choose another algorithm"};
  if (on_cuda && is_for_hopper(a)) {
    if (const auto why = why_not_hopper(device); !why.empty())
      return {why, "choose another algorithm, or let it be chosen"};
  }
  if (!a.supports(p.in, p.out)) return impossibility(entry, p, tile);
  const auto tiles = a.tiles_of(p.in);
  const auto at = std::find(tiles.begin(), tiles.end(), tile) - tiles.begin();
  const int typed = on_cuda ? std::min(typed_on_cuda(a.name), a.typed_tiles) : a.typed_tiles;
  if (at < typed) return {};
  const bool built = at < std::ssize(tiles);
  if (built && p.in == DType::f32 && p.out == DType::f32) return {};
  if (auto impossible = impossibility(entry, p, tile); !impossible.why.empty()) return impossible;
  const auto offered = p.in == DType::f32 && p.out == DType::f32
                           ? tiles
                           : tiles.first(static_cast<std::size_t>(typed));
  return {cat("tile ", to_string(tile), " is possible, but not built in for ", detail::type_text(p),
              " (built: ", tile_list(offered), ")"),
          cat("in C++, launch ", entry.kernel, "<TileShape", detail::initializer_text(tile),
              ">: see docs/kernels.md")};
}

[[noreturn]] void refuse(std::string_view prefix, const detail::LadderEntry& entry,
                         const Refusal& refused) {
  throw Error(Category::argument,
              cat(prefix, entry.algorithm.name, " cannot run this product: ", refused.why), {}, {},
              refused.advice);
}

/// The tile of options that an algorithm must take. Throws Error(argument) where it cannot.
TileShape required_tile(const detail::LadderEntry& entry, const Problem& p, const TileShape& wanted,
                        int device, std::string_view prefix = {}) {
  const TileShape tile = resolve_tile(entry.algorithm.tiles_of(p.in), wanted);
  if (const Refusal refused = refusal(entry, p, tile, device); !refused.why.empty())
    refuse(prefix, entry, refused);
  return tile;
}

struct Choice {
  std::string_view algorithm;
  TileShape tile;
  std::string_view reason, others;  ///< why it, and why none of the others
};

/// Bytes with a C too small to be shared out and a long K. i8, two threads of an EPYC (family 26),
/// 2026-11-25, times as fast as packed: 4x4x1000000 and 8x48x200000 1.9, 4x4x20000 1.8,
/// 16x16x300000 1.37, 32x32x100000 1.15, 64x64x65536 0.96.
bool splits_bytes(const Problem& p, int threads) {
  constexpr index_t most = 512;
  return is_byte(p.in) && threads > 1 && p.M > 0 && p.N > 0 && p.M <= most && p.N <= most / p.M &&
         find_algorithm("split_k").supports(p.in, p.out) && cpu::split_k_depth(p.M, p.N, p.K) < p.K;
}

/// By measurement: AMD EPYC, 2 cores, 2026-11-21, GFLOP/s of `tessera bench --threads 2` with
/// --sizes 1,2,4,8,16,24,32,48,64,128,256,512 and thin shapes from 1x4096x4096 to 4096x8x512.
///   f32 and f64: packed wins everywhere: f32 4^3 1.3 (the next: sarek_naive 0.039), 16^3 32 (1.2),
///     64^3 100 (block_tiled 2.4), 1024^3 203 (37).
///   i32: 4^3 sarek_naive 0.040 (coalescing 0.014), 16^3 1.2 (0.67), 32^3 coalescing 2.1 (1.7),
///     64^3 2.6 (block_tiled 2.5), 96^3 block_tiled 5.8 (2.8), 512^3 block_tiled_vectorized 13.9
///     (block_tiled 10.7); 4096x1x4096 sarek_naive 8.5 (6.3). f16 and bf16 fall alike.
Choice choose_on_cpu(const Problem& p, int threads) {
  const auto taking = [&](std::string_view name, std::string_view reason, std::string_view others) {
    return Choice{name, find_algorithm(name).tiles_of(p.in)[0], reason, others};
  };
  constexpr std::string_view measured = "not clearly faster where such shapes were measured";
  if (splits_bytes(p, threads))
    return taking("split_k", "threads share K: sums of bytes are exact in any order",
                  "slower where such shapes were measured");
  if (find_algorithm("packed").supports(p.in, p.out))
    return taking("packed", "the CPU's own vector instructions",
                  "slower wherever it was measured, from 1x1x1 to 1024x1024x1024");
  if (p.M < 16 || p.N < 16 || p.M * p.N <= 16 * 16)
    return taking("sarek_naive", "a tiny or thin product: small blocks, no barriers", measured);
  if (p.flops() <= 2.0 * 64 * 64 * 64)
    return taking("coalescing", "a small product: no tiles, no barriers", measured);
  return taking("block_tiled_vectorized", "register tiles do the most work for each load",
                measured);
}

bool in_16_bits(DType type) { return type == DType::f16 || type == DType::bf16; }

/// On a GPU, by measurement: NVIDIA H200, 2026-11-26, TFLOP/s at 4096^3: f32 pipelined 45 (the
/// next: block_tiled_vectorized 32), f16 tensor_core 275 (25); thin products by what bounds each.
Choice choose_on_cuda(const Problem& p, int device) {
  const auto taking = [&](std::string_view name, std::string_view reason, std::size_t tile = 0) {
    return Choice{name, find_algorithm(name).tiles_of(p.in)[tile], reason, "expected to be slower"};
  };
  const bool has_units = in_16_bits(p.in) && why_not_hopper(device).empty();
  const index_t large = std::max(p.M, p.N), small = std::min(p.M, p.N);
  // Half-empty units where the whole ones would leave multiprocessors idle.
  const bool is_half = ceil_div(large, index_t{64}) < 96;
  if (has_units && (small <= 32 || (small <= 64 && is_half)) &&
      detail::why_no_thin_operands(p, nullptr, nullptr).empty()) {
    const std::size_t columns = small <= 8 ? 0 : small <= 16 ? 1 : small <= 32 ? 2 : 3;
    return taking("thin", "a thin product: the large matrix streams past it, once",
                  columns + (is_half ? 4 : 0));
  }
  if (small < 32)
    return taking("coalescing", "a thin product: every element of the large matrix is used once");
  // Tiles so large that there is a block for each of some hundred multiprocessors, or two of small
  // ones.
  const auto blocks = [&](index_t rows, index_t cols) {
    return ceil_div(p.M, rows) * ceil_div(p.N, cols);
  };
  if (in_16_bits(p.in)) {
    if (!has_units || !detail::why_no_bulk_operands(p, nullptr, nullptr).empty())
      return taking("tensor_core", "matrix units: 16-bit elements, sums in f32");
    const std::size_t tile = blocks(128, 192) >= 2000  ? 1
                             : blocks(128, 256) >= 256 ? 0
                             : blocks(128, 128) >= 200 ? 2
                             : blocks(128, 64) >= 100  ? 3
                                                       : 4;
    return taking("warpgroup", "a warpgroup's matrix units: 16-bit elements, sums in f32", tile);
  }
  if (p.in == DType::f64 && p.out == DType::f64)
    return taking("tensor_core", "matrix units: for f64 the same chain of multiply-adds");
  if (!find_algorithm("pipelined").supports(p.in, p.out))
    return taking("block_tiled_vectorized", "register tiles do the most work for each load");
  const bool is_large = blocks(256, 128) >= 100;
  if (why_not_hopper(device).empty() && detail::why_no_bulk_tiles(p, nullptr, nullptr).empty())
    return taking("bulk_tiled",
                  is_large ? "bulk copies bring tiles while others are multiplied"
                           : "bulk copies bring tiles while others are multiplied; small ones, for "
                             "more blocks",
                  is_large ? 0 : 1);
  if (is_large) return taking("pipelined", "tiles arrive while others are multiplied");
  return taking("pipelined",
                "tiles arrive while others are multiplied; small ones, for more blocks",
                blocks(64, 128) >= 200 ? 1 : 2);
}

/// May it be taken where none is named? It gives the same bits as the others; of 16-bit elements a
/// GPU's matrix units are the first choice too.
bool is_free_choice(const Algorithm& a, const Problem& p, bool on_cuda) {
  return a.same_bits || a.promises_bits(p.in) || (on_cuda && in_16_bits(p.in));
}

/// The first algorithm that has the tile and gives the same bits as the others.
Choice choose_by_tile(const Problem& p, const TileShape& wanted, int device) {
  const bool on_cuda = device >= 0;
  for (const auto& entry : detail::ladder()) {
    const TileShape tile = resolve_tile(entry.algorithm.tiles_of(p.in), wanted);
    if (is_free_choice(entry.algorithm, p, on_cuda) && refusal(entry, p, tile, device).why.empty())
      return {entry.algorithm.name, tile, "the first of the ladder with this tile",
              "has this tile too, but comes later"};
  }
  throw Error(
      Category::argument,
      cat("no algorithm has tile ", to_string(wanted), " built in for ", detail::type_text(p)), {},
      {}, "name an algorithm to learn why, or see 'tessera compare --list'");
}

/// What was measured on this device, if it can be taken.
std::optional<Choice> choose_tuned(const Problem& p, const std::string& device_name) {
  const TunedProduct* const found = detail::tuning_of(device_name).tuning.find(p);
  if (found == nullptr) return std::nullopt;
  const int device = number_of(device_name);
  for (const auto& entry : detail::ladder()) {
    if (entry.algorithm.name != found->best.algorithm) continue;
    const TileShape tile = resolve_tile(entry.algorithm.tiles_of(p.in), found->best.tile);
    if (is_free_choice(entry.algorithm, p, device >= 0) &&
        refusal(entry, p, tile, device).why.empty())
      return Choice{entry.algorithm.name, tile, "the fastest of this product by 'tessera tune'",
                    "slower where 'tessera tune' measured it"};
  }
  return std::nullopt;
}

/// Of options that name no algorithm.
Choice choose(const Problem& p, const Options& options, const std::string& device_name) {
  const int device = number_of(device_name);
  if (options.tile != TileShape{}) return choose_by_tile(p, options.tile, device);
  if (const auto tuned = choose_tuned(p, device_name)) return *tuned;
  const int threads = options.threads > 0 ? options.threads : default_threads();
  return device >= 0 ? choose_on_cuda(p, device) : choose_on_cpu(p, threads);
}

}  // namespace

const detail::LadderEntry& detail::find_entry(std::string_view name) {
  for (const auto& entry : detail::ladder()) {
    if (entry.algorithm.name == name) return entry;
  }
  const detail::LadderEntry* nearest = nullptr;
  int best = 4;
  std::string known;
  for (const auto& entry : detail::ladder()) {
    known += cat(known.empty() ? "" : ", ", entry.algorithm.name);
    if (const int d = edit_distance(name, entry.algorithm.name); d < best)
      best = d, nearest = &entry;
  }
  throw Error(Category::argument, cat("unknown algorithm '", name, "'"), "auto or one of " + known,
              {}, nearest == nullptr ? "" : cat("did you mean '", nearest->algorithm.name, "'?"));
}

std::string detail::type_text(const Problem& p) {
  const std::string in = p.in_b ? cat(p.in, " times ", *p.in_b) : to_string(p.in);
  return p.in == p.out && !p.in_b ? in : cat(in, " into ", p.out);
}

TileShape detail::possible_tile(const LadderEntry& entry, DType in, DType out,
                                const TileShape& wanted) {
  const Problem p{.in = in, .out = out};
  const TileShape tile = resolve_tile(entry.algorithm.tiles_of(p.in), wanted);
  if (const Refusal refused = impossibility(entry, p, tile); !refused.why.empty())
    refuse("check: ", entry, refused);
  return tile;
}

std::string to_string(const TileShape& t) {
  if (t == TileShape{}) return "none";
  std::string out = t.bk > 0 ? cat(t.bm, "x", t.bn, "x", t.bk) : cat(t.bm, "x", t.bn);
  if (t.wm > 0) out += cat("/", t.wm, "x", t.wn);
  if (t.tm > 0) out += cat("/", t.tm, "x", std::max(t.tn, 1));
  return out;
}

TileShape parse_tile(std::string_view text) {
  if (text == "none") return {};
  const auto fail = [&] {
    throw Error(Category::argument, "cannot read the tile", "BMxBN, BMxBNxBK or BMxBNxBK/TMxTN",
                cat("'", text, "'"));
  };
  const auto numbers = [&](std::string_view part) {
    std::vector<int> out;
    while (true) {
      int value = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
      if (error != std::errc{}) fail();
      if (value < 1)
        throw Error(Category::argument, "a side of the tile is too small", "at least 1",
                    cat(value, " in '", text, "'"));
      out.push_back(value);
      part.remove_prefix(static_cast<std::size_t>(end - part.data()));
      if (part.empty()) return out;
      if (part[0] != 'x' && part[0] != ',') fail();
      part.remove_prefix(1);
    }
  };
  const auto slash = text.find('/');
  const auto block = numbers(text.substr(0, slash));
  if (block.size() < 2 || block.size() > 3) fail();
  TileShape tile{.bm = block[0], .bn = block[1], .bk = block.size() == 3 ? block[2] : 0};
  if (slash != std::string_view::npos) {
    const auto inner = numbers(text.substr(slash + 1));
    if (inner.size() != 2) fail();
    tile.tm = inner[0], tile.tn = inner[1];
  }
  return tile;
}

std::span<const Algorithm> algorithms() {
  static const std::vector<Algorithm> all = [] {
    std::vector<Algorithm> out;
    for (const auto& entry : detail::ladder()) out.push_back(entry.algorithm);
    return out;
  }();
  return all;
}

const Algorithm& find_algorithm(std::string_view name) {
  return detail::find_entry(name).algorithm;
}

namespace {

/// alpha and beta are applied in the type of the sums; there they must be the numbers that were
/// asked for, up to rounding. NaN and infinity are.
void check_scalars(const Problem& problem) {
  for (const auto& [label, value] :
       {std::pair{"alpha", problem.alpha}, std::pair{"beta", problem.beta}}) {
    const auto what = [&, label = label] { return cat("multiply: ", label); };
    if (problem.out == DType::i32) {
      if (!(value >= -2147483648.0 && value <= 2147483647.0 && value == std::trunc(value)))
        throw Error(Category::argument, what() + " of an i32 product is a whole number",
                    "-2147483648 to 2147483647", detail::exact_text(value));
    } else if (problem.out != DType::f64 && std::isfinite(value) && value != 0) {
      constexpr double most = std::numeric_limits<float>::max();
      constexpr double least = std::numeric_limits<float>::denorm_min();
      if (std::abs(value) > most || std::abs(value) < least)
        throw Error(
            Category::argument, what() + " is applied in f32, which cannot hold it",
            cat("a magnitude from ", detail::exact_text(least), " to ", detail::exact_text(most)),
            detail::exact_text(value), "multiply in f64");
    }
  }
}

constexpr int kMaxThreads = 4096;

void check_threads(int threads, int least, std::string_view meaning_of_least) {
  if (threads < least || threads > kMaxThreads) {
    throw Error(Category::argument, "plan: the number of threads is out of range",
                cat(least, meaning_of_least, " to ", kMaxThreads), cat(threads));
  }
}

}  // namespace

void detail::check_problem(const Problem& problem) {
  if (problem.M < 0 || problem.N < 0 || problem.K < 0) {
    throw Error(Category::shape, "plan: negative extent", "m, n, k of 0 or more",
                to_string(problem));
  }
  constexpr index_t most = index_t{1} << 38;
  if (problem.M > most || problem.N > most || (problem.N > 0 && problem.M > most / problem.N)) {
    throw Error(Category::shape, "plan: C has too many elements", cat("at most ", most),
                cat(problem.M, " x ", problem.N));
  }
  const bool fits = !problem.in_b || (is_byte(problem.in) && is_byte(*problem.in_b));
  if (!fits || !detail::has_product(problem.in, problem.out)) {
    throw Error(Category::type,
                cat("multiply: there is no ", detail::type_text(problem), " product"),
                "f64, f32, f16, bf16 or i32 into the same type, f16 or bf16 into f32, f32 into f16 "
                "or bf16, i8 or u8 (A and B, or one each) into i32 or f32",
                {}, "convert A and B first");
  }
  check_epilogue(problem.epilogue, problem.out);
  check_scalars(problem);
}

Plan detail::decide(const Problem& problem, const Options& options) {
  check_threads(options.threads, 0, " (automatic)");
  detail::check_problem(problem);
  Plan plan;
  plan.problem = problem;
  plan.device = canonical_device(options.device);
  const int device = number_of(plan.device);
  plan.threads = device >= 0 ? 1 : options.threads > 0 ? options.threads : default_threads();
  plan.order = options.order;
  plan.seed = options.seed;
  if (options.algorithm != "auto") {
    const detail::LadderEntry& entry = detail::find_entry(options.algorithm);
    plan.algorithm = entry.algorithm.name;
    plan.tile = required_tile(entry, problem, options.tile, device);
    plan.reason = "asked for";
    return plan;
  }
  const Choice choice = choose(problem, options, plan.device);
  plan.algorithm = choice.algorithm;
  plan.tile = choice.tile;
  plan.reason = choice.reason;
  if (const std::string& ignored = tuning_of(plan.device).ignored; !ignored.empty())
    plan.reason += cat("; ", ignored);
  return plan;
}

std::vector<Candidate> candidates_for(const Problem& problem, const std::string& device) {
  detail::check_problem(problem);
  const int number = number_of(canonical_device(device));
  std::vector<Candidate> out;
  for (const auto& entry : detail::ladder()) {
    const Algorithm& a = entry.algorithm;
    if (!is_free_choice(a, problem, number >= 0)) continue;
    if (number >= 0 && !why_no_maps(a, problem).empty()) continue;
    for (const TileShape& tile : a.tiles_of(problem.in)) {
      if (refusal(entry, problem, tile, number).why.empty())
        out.push_back({std::string(a.name), tile});
    }
  }
  return out;
}

Plan make_plan(const Problem& problem, const Options& options) {
  Plan plan = detail::decide(problem, options);
  plan.workspace_bytes = detail::workspace_of(plan);
  if (options.algorithm != "auto") return plan;
  const int device = number_of(plan.device);
  const std::string_view others = choose(problem, options, plan.device).others;
  for (const auto& entry : detail::ladder()) {
    const Algorithm& other = entry.algorithm;
    if (other.name == plan.algorithm) continue;
    std::string why =
        refusal(entry, problem, resolve_tile(other.tiles_of(problem.in), options.tile), device).why;
    if (why.empty() && device >= 0) why = why_no_maps(other, problem);
    if (why.empty() && other.arithmetic(problem.in) == Arithmetic::tf32)
      why = "rounds f32 inputs to TF32: only when asked for";
    if (why.empty() && other.name == "split_k")
      why = is_byte(problem.in)
                ? "for a long K and a small C on several threads"
                : "adds in another order than one chain over k: only when asked for";
    if (why.empty()) why = others;
    plan.rejected.push_back({std::string(other.name), why});
  }
  return plan;
}

std::string to_string(const Plan& plan) {
  return cat(to_string(plan.problem), " algorithm=", plan.algorithm, " tile=", to_string(plan.tile),
             plan.device == "cpu" ? "" : cat(" device=", plan.device), " threads=", plan.threads,
             " order=", name(plan.order), " seed=", plan.seed, " workspace=", plan.workspace_bytes,
             " reason=", detail::quoted(plan.reason));
}

Plan parse_plan(std::string_view text) {
  Plan plan;
  std::string problem;
  TileShape tile;
  for (const auto& [key, value] : detail::parse_fields(text, "plan")) {
    if (key == "algorithm") plan.algorithm = value;
    else if (key == "tile") tile = parse_tile(value);
    else if (key == "device") plan.device = canonical_device(value);
    else if (key == "threads") plan.threads = detail::parse_number<int>(value, "plan", key);
    else if (key == "order") plan.order = parse_order(value);
    else if (key == "seed") plan.seed = detail::parse_number<std::uint64_t>(value, "plan", key);
    else if (key == "workspace")
      plan.workspace_bytes = detail::parse_number<index_t>(value, "plan", key);
    else if (key == "reason") plan.reason = value;
    else problem += cat(key, "=", value, " ");
  }
  plan.problem = parse_problem(problem);
  detail::check_problem(plan.problem);
  check_threads(plan.threads, 1, "");
  plan.tile = required_tile(detail::find_entry(plan.algorithm), plan.problem, tile,
                            number_of(plan.device), "plan: ");
  return plan;
}

}  // namespace tessera
