// Many products on a GPU: checks the call, decides which of them run together, and starts them. See
// matmul/cuda.hpp.
#include <algorithm>
#include <utility>
#include <vector>

#include "cuda/abilities.hpp"
#include "ladder.hpp"
#include "matmul/batch/checks.hpp"
#include "matmul/batch/overlap.hpp"
#include "matmul/call.hpp"
#include "matmul/ladder.hpp"
#include "matmul/refusal.hpp"
#include "matmul/waves.hpp"
#include "reachable.hpp"
#include "tessera/matmul/cuda.hpp"

namespace tessera::cuda {

namespace {

using tessera::detail::GroupedProduct;

/// How the products of a call run: `together` in launches of many, the others alone.
struct BatchPlan {
  Plan plan;  ///< of the first, or of those that run together
  std::vector<GroupedProduct> together;
  std::vector<std::pair<GroupedProduct, Plan>> alone;
};

/// Is `warpgroup` what the options mean for these element types on this device? Else the reason.
std::string why_no_group(const Problem& p, const Options& options, const tessera::Device& device) {
  using namespace tessera::detail;
  if (options.algorithm != "auto" && options.algorithm != "warpgroup")
    return cat(options.algorithm, " computes one product in a launch");
  if (options.parts > 1) return "K in parts is for one product";
  if (const auto why = why_not_hopper(device); !why.empty()) return why;
  if (!has_warpgroup_product(p.in, p.out) || p.type_of_b() != p.in)
    return cat("warpgroup does not multiply ", type_text(p));
  if (p.in == DType::f32 && options.algorithm == "auto")
    return "warpgroup rounds f32 inputs to TF32: only on request";
  return {};
}

/// The only decision about batches.
BatchPlan plan_together(std::span<const GroupedProduct> products, const Options& options) {
  using namespace tessera::detail;
  BatchPlan out;
  const tessera::Device device = planned_device(options.device);
  const Problem first = products.empty() ? Problem{} : products.front().problem;
  std::string why = why_no_group(first, options, device);
  std::vector<std::size_t> alone;
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const auto& [p, A, B, C, bias] = products[i];
    const auto unread = why.empty() ? why_no_bulk_operands(p, A, B) : why;
    if (unread.empty()) {
      out.together.push_back(products[i]), problems.push_back(p);
    } else {
      alone.push_back(i);
      if (alone.size() == 1 && why.empty()) out.plan.reason = cat("product ", i, ": ", unread);
    }
  }
  if (why.empty()) why = out.plan.reason;
  if (out.together.size() < 2) {  // nothing to gain
    out.together.clear(), alone.clear();
    for (std::size_t i = 0; i < products.size(); ++i) alone.push_back(i);
    out.plan = make_plan(first, options);
    if (products.size() > 1)
      out.plan.reason = cat("a launch for each product: ", why, "; ", out.plan.reason);
  } else {
    const int known = abilities(device.number()).multiprocessors;
    Options requested = options;
    requested.algorithm = "warpgroup";
    if (requested.tile == TileShape{})
      requested.tile =
          fastest_group_tile(problems, known > 0 ? known : kHopperMultiprocessors).tile;
    out.plan = make_plan(problems.front(), requested);
    const auto tiles = group_tiles(first.in);
    if (std::find(tiles.begin(), tiles.end(), out.plan.tile) == tiles.end())
      throw Error(Category::argument,
                  cat("tile ", to_string(out.plan.tile), " is not compiled for batches"),
                  cat(to_string(tiles[0]), " or ", to_string(tiles[1])));
    const auto launches = (out.together.size() + kMostTogether - 1) / kMostTogether;
    out.plan.reason =
        cat(out.together.size(), " products in ", launches, launches == 1 ? " launch" : " launches",
            ", by a warpgroup's matrix units");
    if (!alone.empty()) out.plan.reason += cat("; ", alone.size(), " alone: ", why);
  }
  for (const std::size_t i : alone)
    if (products[i].problem.M > 0 && products[i].problem.N > 0)
      out.alone.emplace_back(products[i], decide(products[i].problem, options));
  return out;
}

Plan run_planned(std::string_view call, std::span<const GroupedProduct> products,
                 const Stream& stream, const Options& options) {
  using namespace tessera::detail;
  Options here = options;
  here.device = cat("cuda:", stream.device());
  const BatchPlan batch = plan_together(products, here);
  run_reported(cat(call, " count=", products.size()), batch.plan, [&] {
    const OnDevice on(stream.device());
    if (!batch.together.empty()) cuda_calls().group(batch.together, batch.plan.tile, stream);
    for (const auto& [product, plan] : batch.alone) {
      const auto& [p, A, B, C, bias] = product;
      for (const auto& entry : cuda_ladder())
        if (entry.name == plan.algorithm)
          entry.run({p, plan.tile, stream, A, B, C, bias, plan.parts});
    }
  });
  return batch.plan;
}

/// A product that was checked, if its memory is right too.
GroupedProduct placed(const Problem& p, const Product& product, const Stream& stream,
                      const void* bias) {
  if (p.M > 0 && p.N > 0)
    tessera::detail::require_reachable_operands(p, product.A, product.B, product.C, stream, bias);
  return {p, product.A.data, product.B.data, product.C.data, bias};
}

}  // namespace

Plan matmul_batch(std::span<const Product> products, const Stream& stream, double alpha,
                  double beta, const Options& options) {
  constexpr std::string_view call = "matmul_batch";
  const auto problems = tessera::detail::check_products(call, products, alpha, beta);
  tessera::detail::refuse_overlaps(call, products);
  const OnDevice on(stream.device());  // querying a pointer creates a context on the current one
  std::vector<GroupedProduct> all;
  all.reserve(products.size());
  for (std::size_t i = 0; i < products.size(); ++i)
    all.push_back(placed(problems[i], products[i], stream, nullptr));
  return run_planned(call, all, stream, options);
}

Plan matmul_strided(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, index_t count,
                    const BatchSteps& requested, const Stream& stream, double alpha, double beta,
                    const Options& options, const Epilogue& epilogue, const void* bias) {
  constexpr std::string_view call = "matmul_strided";
  const Product first{A, B, C};
  const auto [p, steps] =
      tessera::detail::check_strided(call, first, count, requested, alpha, beta, epilogue, bias);
  tessera::detail::check_problem(p);
  const OnDevice on(stream.device());
  std::vector<GroupedProduct> all;
  all.reserve(static_cast<std::size_t>(count));
  for (index_t i = 0; i < count; ++i)
    all.push_back(placed(p, tessera::detail::product_at(first, i, steps), stream, bias));
  return run_planned(call, all, stream, options);
}

}  // namespace tessera::cuda
