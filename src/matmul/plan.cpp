// Decides: which algorithm and tile run a problem, and why the others do not. Plans that are made
// and plans that are parsed pass the same checks, so that every plan can be run.
#include "tessera/matmul/plan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "base/edit_distance.hpp"
#include "call.hpp"
#include "choice.hpp"
#include "fields.hpp"
#include "gpu_time.hpp"
#include "ladder.hpp"
#include "product_text.hpp"
#include "refusal.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/cpu/lanes.hpp"
#include "tuned.hpp"
#include "waves.hpp"

namespace tessera {

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

std::string to_string(const TileShape& t) {
  if (t == TileShape{}) return "none";
  std::string out = t.bk > 0 ? cat(t.bm, "x", t.bn, "x", t.bk) : cat(t.bm, "x", t.bn);
  if (t.wm > 0) out += cat("/", t.wm, "x", t.wn);
  if (t.tm > 0) out += cat("/", t.tm, "x", std::max(t.tn, 1));
  if (t.cm > 0) out += cat("/", t.cm, "x", t.cn);
  return out;
}

TileShape parse_tile(std::string_view text) {
  if (text == "none") return {};
  const auto fail = [&] {
    throw Error(Category::argument, "cannot read the tile",
                "BMxBN, BMxBNxBK, BMxBNxBK/TMxTN or BMxBN/WMxWN/CMxCN", cat("'", text, "'"));
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
  const auto second = slash == text.npos ? text.npos : text.find('/', slash + 1);
  const auto block = numbers(text.substr(0, slash));
  if (block.size() < 2 || block.size() > 3) fail();
  TileShape tile{.bm = block[0], .bn = block[1], .bk = block.size() == 3 ? block[2] : 0};
  const auto pair = [&](std::string_view part) {
    const auto two = numbers(part);
    if (two.size() != 2) fail();
    return std::pair(two[0], two[1]);
  };
  if (slash != text.npos)
    std::tie(tile.tm, tile.tn) = pair(text.substr(slash + 1, second - slash - 1));
  if (second != text.npos) {
    const auto [down, across] = pair(text.substr(second + 1));
    if (down * across > 1) tile.cm = down, tile.cn = across;
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

/// alpha and beta are applied in the type of the sums; converted to it they must keep their values,
/// up to rounding. NaN and infinity do.
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

/// Refuses an order of summation that the plan's algorithm does not have.
void check_arithmetic(const Plan& plan) {
  if (plan.arithmetic == Arithmetic::chain) return;
  if (plan.arithmetic != Arithmetic::lanes)
    throw Error(Category::argument, "plan: this is no order of summation", "chain or lanes",
                cat(name(plan.arithmetic)), "choose an algorithm that multiplies in it");
  if (plan.algorithm != "packed" || plan.device != "cpu")
    throw Error(Category::argument,
                cat("plan: ", plan.algorithm, " on ", plan.device, " does not sum in lanes"),
                "algorithm packed on the cpu, or arithmetic chain");
}

/// Refuses parts of K that the plan's kernel does not have.
void check_parts(const Plan& plan) {
  if (plan.parts < 1 || plan.parts > detail::kMostTogether)
    throw Error(Category::argument, "plan: the number of parts of K is out of range",
                cat("1 to ", detail::kMostTogether), cat(plan.parts));
  if (plan.parts == 1) return;
  const Algorithm& algorithm = detail::find_entry(plan.algorithm).algorithm;
  if (const std::string other = detail::substitution(algorithm, plan.problem); !other.empty())
    throw Error(Category::argument, cat("plan: K is not split into parts: ", other), "one part",
                cat(plan.parts));
  if (detail::has_parts(plan.algorithm, plan.problem.in, plan.tile)) return;
  if (plan.algorithm != "warpgroup")
    throw Error(Category::argument, cat("plan: ", plan.algorithm, " does not split K into parts"),
                "algorithm warpgroup or thin, or one part");
  const auto tiles = detail::group_tiles(plan.problem.in);
  throw Error(Category::argument,
              cat("plan: tile ", to_string(plan.tile), " is not compiled for parts of K"),
              cat(to_string(tiles[0]), " or ", to_string(tiles[1])));
}

}  // namespace

bool sums_in_lanes(const Plan& plan) {
  const Problem& p = plan.problem;
  if (plan.arithmetic != Arithmetic::lanes || p.in != p.out || p.in_b) return false;
  if (p.in == DType::f32) return cpu::takes_lanes<float>(p.M, p.N, p.K, p.a.col, p.b.row);
  return p.in == DType::f64 && cpu::takes_lanes<double>(p.M, p.N, p.K, p.a.col, p.b.row);
}

Arithmetic parse_arithmetic(std::string_view text) {
  for (const Arithmetic each : {Arithmetic::chain, Arithmetic::lanes})
    if (text == name(each)) return each;
  throw Error(Category::argument, cat("unknown arithmetic '", text, "'"), "chain or lanes");
}

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
                detail::every_product_text(), {}, "convert A and B first");
  }
  check_epilogue(problem.epilogue, problem.out);
  check_scalars(problem);
}

Plan detail::decide(const Problem& problem, const Options& options) {
  check_threads(options.threads, 0, " (automatic)");
  detail::check_problem(problem);
  Plan plan;
  plan.problem = problem;
  const Device device = detail::planned_device(options.device);
  plan.device = to_string(device);
  plan.threads = device != Device::cpu() ? 1
                 : options.threads > 0   ? options.threads
                                         : default_threads();
  plan.order = options.order;
  plan.seed = options.seed;
  plan.arithmetic = options.arithmetic;
  // Only `packed` has lanes, and it multiplies all floating-point types.
  const bool needs_packed = options.algorithm == "auto" && plan.arithmetic == Arithmetic::lanes &&
                            device == Device::cpu() &&
                            detail::has_cpu_product(problem.in, problem.out);
  if (options.algorithm != "auto" || needs_packed) {
    const detail::LadderEntry& entry =
        detail::find_entry(needs_packed ? "packed" : options.algorithm);
    plan.algorithm = entry.algorithm.name;
    plan.tile = detail::required_tile(entry, problem, options.tile, device);
    const std::string other = detail::substitution(entry.algorithm, problem);
    plan.reason = needs_packed    ? "the algorithm that sums in lanes"
                  : other.empty() ? "requested"
                                  : cat("requested; ", other);
    plan.parts = options.parts == 0 ? 1 : options.parts;
    check_arithmetic(plan);
    check_parts(plan);
    return plan;
  }
  const detail::Choice choice = detail::choose(problem, options, device);
  plan.algorithm = choice.algorithm;
  plan.tile = choice.tile;
  plan.reason = choice.reason;
  plan.parts = choice.parts;
  if (device.kind() == DeviceKind::cuda) {
    if (const auto more = detail::described(problem, plan.algorithm, plan.tile); !more.empty())
      plan.reason += cat(" (", more, ")");
  }
  check_arithmetic(plan);
  check_parts(plan);
  if (const std::string& ignored = tuning_of(plan.device).ignored; !ignored.empty())
    plan.reason += cat("; ", ignored);
  return plan;
}

namespace {

/// A candidate that the model takes for this many times as slow as the best is not measured.
constexpr double kHopeless = 2;

/// The parts of K of a candidate whose K is whole that the model expects to be faster, else 1.
int promising_parts(const Problem& p, const Candidate& who) {
  if (!detail::has_parts(who.algorithm, p.in, who.tile)) return 1;
  constexpr int sms = detail::kHopperMultiprocessors;
  const bool is_thin = who.algorithm == "thin";
  const detail::TileAndParts split =
      is_thin ? detail::fastest_thin_parts(p, who.tile, sms) : detail::fastest_parts(p, sms);
  const double whole = is_thin ? detail::expected_thin_clocks(p, who.tile, 1, sms)
                               : detail::expected_clocks(std::span(&p, 1), who.tile, 1, sms);
  return split.tile == who.tile && split.clocks < whole ? split.parts : 1;
}

}  // namespace

std::vector<Candidate> candidates_for(const Problem& problem, const std::string& device) {
  detail::check_problem(problem);
  const Device there = detail::planned_device(device);
  const bool on_cuda = there.kind() == DeviceKind::cuda;
  std::vector<Candidate> out;
  for (const auto& entry : detail::ladder()) {
    const Algorithm& a = entry.algorithm;
    if (!detail::is_free_choice(a, problem, on_cuda)) continue;
    if (on_cuda && !detail::why_no_maps(a, problem).empty()) continue;
    for (const TileShape& tile : a.tiles_of(problem.in)) {
      if (detail::refusal(entry, problem, tile, there).why.empty())
        out.push_back({std::string(a.name), tile});
    }
  }
  if (!on_cuda) return out;
  for (std::size_t i = 0, whole = out.size(); i < whole; ++i) {
    if (const int parts = promising_parts(problem, out[i]); parts > 1)
      out.push_back({out[i].algorithm, out[i].tile, parts});
  }
  std::vector<std::pair<double, Candidate>> timed;
  for (const Candidate& each : out)
    timed.emplace_back(detail::modelled_seconds(problem, each), each);
  std::stable_sort(timed.begin(), timed.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  out.clear();
  for (const auto& [seconds, each] : timed)
    if (seconds <= kHopeless * timed.front().first) out.push_back(each);
  return out;
}

namespace {

/// Why an algorithm that could run was not chosen: its best tile where it was measured.
std::string why_slower(const Plan& plan, const detail::Choice& choice, const Algorithm& other) {
  for (const auto& [who, times] : choice.slower) {
    if (who.algorithm == other.name)
      return cat("measured at ", times, " of its time, with tile ", to_string(who.tile),
                 who.parts == 1 ? "" : cat(", K in ", who.parts, " parts"));
  }
  if (!plan.device.starts_with("cuda")) return std::string(choice.others);
  const double chosen =
      detail::modelled_seconds(plan.problem, {plan.algorithm, plan.tile, plan.parts});
  double best = HUGE_VAL;
  for (const TileShape& tile : other.tiles_of(plan.problem.in))
    best = std::min(best, detail::modelled_seconds(plan.problem, {std::string(other.name), tile}));
  const double times = std::round(best / chosen * 100) / 100;
  return cat(choice.others, times < 1 ? ", although by the model " : "; by the model ", times,
             " of its time");
}

}  // namespace

Plan make_plan(const Problem& problem, const Options& options) {
  Plan plan = detail::decide(problem, options);
  plan.workspace_bytes = detail::workspace_of(plan);
  if (options.algorithm != "auto") return plan;
  const Device device = detail::planned_device(plan.device);
  const detail::Choice choice = detail::choose(problem, options, device);
  for (const auto& entry : detail::ladder()) {
    const Algorithm& other = entry.algorithm;
    if (other.name == plan.algorithm) continue;
    std::string why =
        detail::refusal(entry, problem,
                        detail::resolve_tile(other.tiles_of(problem.in), options.tile), device)
            .why;
    if (why.empty() && device != Device::cpu()) why = detail::why_no_maps(other, problem);
    if (why.empty() && other.arithmetic(problem.in) == Arithmetic::tf32)
      why = "rounds f32 inputs to TF32: only on request";
    if (why.empty() && other.arithmetic(problem.in) == Arithmetic::three_bf16)
      why = "multiplies f32 as three bf16 each: only on request";
    if (why.empty() && other.name == "split_k")
      why = is_byte(problem.in) ? "for a long K and a small C on several threads"
                                : "adds in another order than one chain over k: only on request";
    if (why.empty() && plan.arithmetic == Arithmetic::lanes) why = "does not sum in lanes";
    if (why.empty()) why = why_slower(plan, choice, other);
    plan.rejected.push_back({std::string(other.name), why});
  }
  return plan;
}

std::string to_string(const Plan& plan) {
  return cat(to_string(plan.problem), " algorithm=", plan.algorithm, " tile=", to_string(plan.tile),
             plan.device == "cpu" ? "" : cat(" device=", plan.device), " threads=", plan.threads,
             " order=", name(plan.order), " seed=", plan.seed, " workspace=", plan.workspace_bytes,
             plan.arithmetic == Arithmetic::chain ? "" : cat(" arithmetic=", name(plan.arithmetic)),
             plan.parts == 1 ? "" : cat(" parts=", plan.parts),
             " reason=", detail::quoted(plan.reason));
}

Plan parse_plan(std::string_view text) {
  Plan plan;
  std::string problem;
  TileShape tile;
  for (const auto& [key, value] : detail::parse_fields(text, "plan")) {
    if (key == "algorithm") plan.algorithm = value;
    else if (key == "tile") tile = parse_tile(value);
    else if (key == "device") plan.device = to_string(detail::planned_device(value));
    else if (key == "threads") plan.threads = detail::parse_number<int>(value, "plan", key);
    else if (key == "order") plan.order = parse_order(value);
    else if (key == "seed") plan.seed = detail::parse_number<std::uint64_t>(value, "plan", key);
    else if (key == "workspace")
      plan.workspace_bytes = detail::parse_number<index_t>(value, "plan", key);
    else if (key == "arithmetic") plan.arithmetic = parse_arithmetic(value);
    else if (key == "parts") plan.parts = detail::parse_number<int>(value, "plan", key);
    else if (key == "reason") plan.reason = value;
    else problem += cat(key, "=", value, " ");
  }
  plan.problem = parse_problem(problem);
  detail::check_problem(plan.problem);
  check_threads(plan.threads, 1, "");
  plan.tile = detail::required_tile(detail::find_entry(plan.algorithm), plan.problem, tile,
                                    detail::planned_device(plan.device), "plan: ");
  check_arithmetic(plan);
  check_parts(plan);
  return plan;
}

}  // namespace tessera
