// Why a product takes its route: asks choose() for the route and puts the conditions that it tests
// into words. Called by reports only.
#include "choose.hpp"
#include "each_product.hpp"
#include "reported_route.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cpu {

namespace {

std::string bytes_text(std::size_t bytes) {
  return bytes < 10'000 ? cat(bytes, " bytes") : cat((bytes + 1023) / 1024, " KiB");
}

template <class In, class Out>
std::string why_no_lanes(const Gemm<In, Out>& call) {
  if constexpr (!kIsPlainType<In, Out>) return "only f32 and f64 have this order of summation";
  else if (call.arithmetic != Arithmetic::lanes) return "the order of summation is 'chain'";
  else if (call.a_col != 1 || call.b_row != 1) return "A or B is not contiguous along K";
  else if (std::min(call.M, call.N) > kMostThin) return cat("M and N are above ", kMostThin);
  else return cat("K is below ", kLanes<In>, " times the smaller one of M and N");
}

template <class In, class Out, class Table>
std::string why_no_chains(const Gemm<In, Out>& call, const Table& kernels) {
  if constexpr (!kIsPlainType<In, Out>) return "only f32 and f64 are summed in scalar chains";
  else if (call.M > kFewSums || call.N > kFewSums || call.M * call.N > kFewSums)
    return cat("C has more than ", kFewSums, " elements");
  else if (kernels.chains == nullptr) return "no instruction for a single multiply-add";
  else return "vectors along the longer side of C are faster";
}

template <class In, class Out>
std::string why_not_tiny(const Gemm<In, Out>& call) {
  return cat(call.M > kTiny ? "M" : call.N > kTiny ? "N" : "K", " is above ", kTiny);
}

template <class In, class Out>
std::string why_not_small(const Gemm<In, Out>& call, const Route& route) {
  if (route.threads > 1) return cat("it is shared among ", route.threads, " threads");
  if (bounded_product(call.M, call.N, call.K) > kSmallWork)
    return cat("more than ", kSmallWork, " multiply-adds");
  return "no form without tasks suits the extents and strides";
}

/// What speaks most against reading B once, in place; block() weighs more than that.
template <class In, class Out, class Table>
std::string why_not_once(const Gemm<In, Out>& call, const Table& kernels, const PackedPlan& plan) {
  const index_t bytes = call.N * call.K * static_cast<index_t>(sizeof(In));
  if (b_crowds_l1(call.M, call.K, step_of_b(call), plan.mr)) return "rows of B conflict in L1";
  if (call.b_col == 1 && bytes <= near_bytes() && kernels.axpys > 0)
    return "packing pays off for so many rows, or B stays in the caches";
  if (call.M > kernels.axpy_rows()) return "so many rows use a packed B often enough";
  return "B is too narrow or too shallow";
}

std::string who_packs(Packing packing, bool fused) {
  switch (packing) {
    case Packing::none: return "read in place";
    case Packing::by_caller: return "packed by the caller";
    case Packing::own:
      return fused ? "packed by each thread, fused with its first rows" : "packed by each thread";
    case Packing::shared:
      return fused ? "packed once for all threads, fused with the first rows"
                   : "packed once for all threads";
  }
  return {};
}

template <class In, class Out, class Table>
void say_choices(const Gemm<In, Out>& call, const Table& kernels, const Route& route,
                 std::vector<std::string>& out) {
  const std::int64_t ns = expected_ns<In, Out>(call.M, call.N, call.K, kernels);
  out.push_back(cat("threads: at most ", route.threads, "; one would take about ", ns / 1000, ".",
                    ns % 1000 / 100, " us"));
  if (route.columns_apart > 0)
    out.push_back(cat("the last ", route.columns_apart, " columns: first, as rows of C' = B' A'"));
  if (route.is_transposed) out.push_back("computes C' = B' A': vectors along the longer side of C");
  if (route.variant == Variant::packed) {
    const PackedPlan& plan = route.packed;
    const Blocking& b = plan.blocks;
    out.push_back(cat("blocks: MC ", b.mc, ", NC ", b.nc, ", KC ", b.kc * kernels.group,
                      "; micro-tiles of ", plan.mr, " x ", b.nr));
    out.push_back(cat("A: ", who_packs(plan.a, false)));
    out.push_back(cat("B: ", who_packs(plan.b, plan.fuses_b)));
    if (plan.streams_c) out.push_back("C: non-temporal stores");
  }
  if (route.workspace > 0) out.push_back(cat("memory for panels: ", bytes_text(route.workspace)));
}

template <class In, class Out, class Table>
RouteExplanation explained(const Gemm<In, Out>& call, const Table& kernels) {
  const PredictOnly predict_only;
  const Route route = choose(call, kernels, workers_would_join);
  RouteExplanation out;
  out.route = report_of(route, call.threads > 0 ? call.threads : default_threads());
  out.fields = to_text(route);
  if (route.variant == Variant::nothing || route.variant == Variant::scaled) return out;
  const auto taken = [&](Variant variant) { return route.variant == variant; };
  const auto say = [&](std::string_view name, bool is_taken, std::string why_not) {
    out.candidates.push_back({name, is_taken ? std::string() : std::move(why_not)});
    return is_taken;
  };
  say_choices(call, kernels, route, out.choices);
  if (say("lanes", taken(Variant::lanes), why_no_lanes(call))) return out;
  if (say("chains", taken(Variant::chains), why_no_chains(call, kernels))) return out;
  if (say("tiny", taken(Variant::tiny), why_not_tiny(call))) return out;
  if (say("small", taken(Variant::small), why_not_small(call, route))) return out;
  Gemm<In, Out> rest = call;
  rest.N -= route.columns_apart, rest.threads = route.threads;
  with_oriented(rest, kernels, [&](const auto& oriented, const auto& table) {
    const Stream stream = route.packed.blocks.stream;
    const std::string why = stream == Stream::none ? why_not_once(oriented, table, route.packed)
                                                   : "B is read once from memory";
    if (say("strips", stream == Stream::strips, why)) return;
    if (say("few_rows", stream != Stream::none, why)) return;
    say("packed", true, {});
  });
  return out;
}

}  // namespace

template <class In, class Out>
RouteExplanation explain_route(const Gemm<In, Out>& call) {
  if (has_degenerate_strides(call)) return explain_route(clamped(call));
  if (is_to_be_swapped(call)) return explain_route(swapped(call));
  RouteExplanation out;
  with_kernels<In>([&](const auto& kernels) { out = explained(call, kernels); });
  return out;
}

#define TESSERA_INSTANTIATE_PRODUCT(In, Out) \
  template RouteExplanation explain_route(const Gemm<In, Out>&);
#include "base/products.inc"
TESSERA_EACH_MIXED_PRODUCT(TESSERA_INSTANTIATE_PRODUCT)
#undef TESSERA_INSTANTIATE_PRODUCT

}  // namespace tessera::cpu
