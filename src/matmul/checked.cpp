// Runs a plan under the checker: the list of the kernels that are compiled for it.
#include "checked.hpp"

#include <algorithm>

#include "call.hpp"
#include "tessera/matmul/check.hpp"

namespace tessera {

namespace detail {

std::span<const CheckedEntry> checked_ladder() {
  static const CheckedEntry entries[] = {
#define TESSERA_LADDER(name, ...) checked_##name(),
#define TESSERA_LADDER_UNITS(name, ...) checked_##name(),
#define TESSERA_LADDER_BULK(name, ...) checked_##name(),
#define TESSERA_LADDER_HOST(...)
#include "ladder.inc"
  };
  return entries;
}

namespace {

std::string problem_text(const Problem& p, const TileShape& tile) {
  return cat(to_string(p), " tile=", to_string(tile));
}

bool is_compiled(const CheckedEntry& entry, DType in, DType out, const TileShape& tile) {
  const auto& tiles = entry.tiles;
  const bool has_tile =
      in != DType::f32 || std::find(tiles.begin(), tiles.end(), tile) != tiles.end();
  return has_tile && entry.has_type(in, out, tile);
}

void require_compiled(const CheckedEntry& entry, const Problem& p, const TileShape& tile) {
  if (is_compiled(entry, p.in, p.out, tile)) return;
  throw Error(Category::unavailable,
              cat("check: ", entry.name, " with tile ", to_string(tile), " in ", type_text(p),
                  " is not compiled for the checker"),
              "f32, or the algorithm's first tile in another type", {},
              "'tessera check' compiles others on demand; in C++, see tessera/check/product.hpp");
}

}  // namespace

check::Report check_by_tensor_core(const LadderCall& call, const check::Options& options) {
  const CheckedEntry entry = checked_tensor_core();
  const TileShape& tile = TensorCoreTiles::tiles[0];
  require_compiled(entry, call.problem, tile);
  check::Options own = options;
  own.problem = problem_text(call.problem, tile);
  return entry.run({call.problem, tile, call.config, call.A, call.B, call.C, call.bias}, own);
}

}  // namespace detail

std::vector<std::string> checked_algorithms() {
  std::vector<std::string> out;
  for (const auto& each : detail::checked_ladder()) out.emplace_back(each.name);
  return out;
}

namespace {

std::string_view cpp_name(DType type) {
  switch (type) {
    case DType::f64: return "double";
    case DType::f32: return "float";
    case DType::i32: return "std::int32_t";
    case DType::i8: return "std::int8_t";
    case DType::u8: return "std::uint8_t";
    default: return name(type);
  }
}

}  // namespace

KernelSpelling spell_kernel(std::string_view algorithm, DType in, DType out,
                            const TileShape& tile) {
  const std::string_view named = find_algorithm(algorithm).name;
  const auto ladder = detail::ladder();
  const auto entry = std::find_if(ladder.begin(), ladder.end(),
                                  [&](const auto& each) { return each.algorithm.name == named; });
  if (entry->kernel.empty())
    throw Error(Category::argument, cat("check: ", named, " is no kernel of threads and blocks"));
  KernelSpelling spelled;
  spelled.tile = detail::possible_tile(*entry, in, out, tile);
  spelled.header = cat("tessera/kernels/", named, ".hpp");
  spelled.kernel = cat(entry->kernel, "<TileShape", detail::initializer_text(spelled.tile), ">");
  spelled.type = in == out ? std::string(cpp_name(in)) : cat(cpp_name(in), ", ", cpp_name(out));
  const auto all = detail::checked_ladder();
  const auto compiled =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == named; });
  spelled.is_compiled =
      compiled != all.end() && detail::is_compiled(*compiled, in, out, spelled.tile);
  if (compiled != all.end() && compiled->ring != nullptr) {
    spelled.header.clear();
    const detail::RingOf ring = compiled->ring(in, spelled.tile);
    spelled.depth = ring.depth, spelled.stages = ring.stages, spelled.strides = ring.strides;
  }
  return spelled;
}

check::Report check_matmul(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B,
                           const Matrix& C, const check::Options& options, const void* bias) {
  const Problem& p = plan.problem;
  detail::expect_planned("A", A, p.M, p.K, p.in, p.a);
  detail::expect_planned("B", B, p.K, p.N, p.type_of_b(), p.b);
  detail::expect_planned("C", C, p.M, p.N, p.out, p.c);
  detail::expect_bias(p, bias, C);
  const auto all = detail::checked_ladder();
  const auto entry = std::find_if(all.begin(), all.end(),
                                  [&](const auto& each) { return each.name == plan.algorithm; });
  if (entry == all.end()) {
    std::string known;
    for (const auto& each : all) known += cat(known.empty() ? "" : ", ", each.name);
    throw Error(Category::unavailable,
                cat("check: ", plan.algorithm, " is no kernel of threads and blocks"),
                "one of " + known);
  }
  detail::require_compiled(*entry, p, plan.tile);
  check::Options own = options;
  own.order = plan.order;
  own.seed = plan.seed;
  own.threads = plan.threads;
  own.fresh_outputs = p.beta == 0;
  own.coverage =
      options.coverage || p.alpha != 0;  // a product reads all of A and B and writes all of C
  own.tensors = {"A", "B", "C"};
  own.problem = detail::problem_text(p, plan.tile);
  return entry->run({p, plan.tile, {}, A.data, B.data, C.data, bias}, own);
}

}  // namespace tessera
