// The packed CPU path as two algorithms beside the ladder: one chain over K, and K in parts.
#include "packed.hpp"

#include "ladder.hpp"
#include "tessera/cpu/split_k.hpp"

namespace tessera::detail {

namespace {

constexpr TileShape kNoTile[] = {TileShape{}};  // it does its own cache blocking

template <bool SplitK>
void run_packed(const LadderCall& call) {
  visit_packed(call.problem, [&]<class In, class Out>(TypeTag<In>, TypeTag<Out>) {
    const auto gemm = gemm_of<In, Out>(call.problem, call.A, call.B, call.C, call.bias,
                                       call.config.threads, call.arithmetic);
    if constexpr (SplitK) cpu::gemm_split_k(gemm);
    else cpu::gemm(gemm);
  });
}

}  // namespace

LadderEntry entry_of_packed() {
  return {{"packed", "packed panels and microkernels of this CPU's vector instructions", kNoTile,
           true, has_cpu_product},
          run_packed<false>,
          "",
          no_tile};
}

LadderEntry entry_of_split_k() {
  return {{"split_k", "packed, with K cut into parts that are summed side by side", kNoTile, false,
           has_cpu_product},
          run_packed<true>,
          "",
          no_tile};
}

void go_on(const Problem& p, const void* A, const void* B, void* sums, int threads) {
  visit_packed(p, [&]<class In, class Out>(TypeTag<In>, TypeTag<Out>) {
    auto gemm = gemm_of<In, Out>(p, A, B, sums, nullptr, threads);
    gemm.chain = cpu::Chain::goes_on;
    cpu::gemm(gemm);
  });
}

Plan packed_plan(const Problem& problem, const Options& options, std::string_view what) {
  constexpr std::string_view packed = "packed";
  Options requested = options;
  if (requested.algorithm == "auto") requested.algorithm = packed;
  if (find_algorithm(requested.algorithm).name != packed)
    throw Error(Category::argument, cat(requested.algorithm, " does not multiply ", what),
                "auto or packed");
  Plan plan = make_plan(problem, requested);
  plan.reason = cat("only ", packed, " multiplies ", what);
  return plan;
}

}  // namespace tessera::detail
