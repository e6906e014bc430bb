// The one decision: from shape, strides, types, kernels and caches to a Route. Runs nothing and
// reads no element; addresses count only by their alignment. gemm(), GemmPlan, workspace_bytes()
// and reports read its result. Measurements: bench/results/cpu/tuning.md.
#pragma once

#include "call_forms.hpp"
#include "expected_time.hpp"
#include "route.hpp"
#include "tessera/core/parallel.hpp"

namespace tessera::cpu {

/// Whether workers would join a product that takes one thread `ns` nanoseconds:
/// workers_would_join(), or another rule in reports and tests. threads = 0: default_threads().
using Helped = bool (*)(int threads, std::int64_t ns);

/// The number of threads to divide work for: one, where no worker would be used or available. Where
/// L3 is far, workers pay off only for more work, most of all where a transposed A is packed before
/// it is multiplied.
template <class In, class Out, class Table>
int threads_of(const Gemm<In, Out>& call, const Table& kernels, Helped helped) {
  const int most = call.threads > 0 ? call.threads : asked_threads();
  if (most == 1 || bounded_product(call.M, call.N, call.K) <= kTiny * kTiny * kTiny) return 1;
  const std::int64_t ns = expected_ns<In, Out>(call.M, call.N, call.K, kernels);
  // One row of A: parts of rows of B are read from L2 at half the speed of whole rows.
  const bool is_row = kIsPlainType<In, Out> && call.M == 1 && call.b_col == 1 &&
                      bounded_product(call.N, call.K, sizeof(In)) <= caches().l2 / 2;
  const index_t alone = tuning().alone_extent;
  const bool is_small = is_row ||
                        bounded_product(call.M, call.N, call.K) <= alone * alone * alone ||
                        (call.a_col != 1 && std::max({call.M, call.N, call.K}) <= alone * 7 / 4);
  if (is_small || !helped(most, ns)) return 1;
  return useful_threads(most > 0 ? most : default_threads());
}

/// Calls body(call, kernels) with the call in the form that Product expects: vectors along the
/// longer side of C.
template <class In, class Out, class Table, class Body>
void with_oriented(const Gemm<In, Out>& call, const Table& kernels, const Body& body) {
  if (!has_few_columns(call, kernels.lanes, kernels.group)) return body(call, kernels);
  if constexpr (std::is_same_v<ElementA<In>, ElementB<In>>) {
    body(swapped(call), kernels);
  } else {
    with_kernels<typename OperandTypes<In>::Swapped>(
        [&](const auto& others) { body(swapped(call), others); });
  }
}

/// Fills in what one thread computes without tasks. Returns whether that is the whole product; if
/// not, it may still be the last columns, route.columns_apart.
template <class In, class Out, class Table>
bool choose_small(const Gemm<In, Out>& call, const Table& kernels, Route& route) {
  route.variant = Variant::small;
  if constexpr (kIsPlainType<In, Out>) {
    Gemm<In, Out> rest = call;
    rest.N -= route.columns_apart = columns_left(call, kernels);
    if (rest.N == 0) return true;
    route.form = small_form(rest, kernels);
    if (route.form == SmallForm::panel) route.workspace = panel_bytes(rest, kernels);
  } else {
    route.form = k_group_form(call, kernels);
    if (route.form == SmallForm::panel) route.workspace = packed_k_groups(call, kernels).bytes();
  }
  return route.form != SmallForm::no;
}

/// The part of choose() that divides a product among tasks, all of it but route.columns_apart.
template <class In, class Out, class Table>
void choose_packed(Gemm<In, Out> call, const Table& kernels, Route& route) {
  route.variant = Variant::packed;
  call.N -= route.columns_apart;
  call.threads = route.threads;
  // C holds the unfinished sums, so it cannot be transposed.
  if (call.chain == Chain::goes_on) {
    route.packed = plan_packed(call, kernels);
  } else {
    route.is_transposed = has_few_columns(call, kernels.lanes, kernels.group);
    with_oriented(call, kernels, [&](const auto& oriented, const auto& table) {
      route.packed = plan_packed(oriented, table);
    });
  }
  route.workspace = route.packed.workspace.total;
}

/// The route of a call in the form of call_forms.hpp.
template <class In, class Out, class Table>
Route choose(const Gemm<In, Out>& call, const Table& kernels, Helped helped) {
  Route route;
  if (call.M <= 0 || call.N <= 0) return route;
  const bool goes_on = call.chain == Chain::goes_on;
  if (call.K <= 0 || call.alpha == 0) {
    if (!goes_on) route.variant = Variant::scaled;
    return route;
  }
  if (!goes_on) {
    if constexpr (kIsPlainType<In, Out>) {
      if (is_for_lanes(call)) {
        route.variant = Variant::lanes, route.is_transposed = call.M > call.N;
        route.threads = route.is_transposed ? threads_of(swapped(call), kernels, helped)
                                            : threads_of(call, kernels, helped);
        return route;
      }
      if (is_for_chains(call, kernels)) {
        route.variant = Variant::chains;
        return route;
      }
    }
    if (is_tiny(call)) {
      route.variant = Variant::tiny;
      if constexpr (kIsPlainType<In, Out>) {
        Gemm<In, Out> rest = call;
        rest.N -= route.columns_apart = columns_left(call, kernels);
        route.form = tiny_form(rest, kernels);
      } else {
        route.form = k_group_form(call, kernels);
      }
      return route;
    }
  }
  route.threads = threads_of(call, kernels, helped);
  if (route.threads == 1 && !goes_on && choose_small(call, kernels, route)) return route;
  choose_packed(call, kernels, route);
  return route;
}

/// The route of a call with a B that the caller has packed.
template <class In, class Out, class Table>
Route choose(const Gemm<In, Out>& asked, const Table& kernels, const PackedMatrix<In>& B,
             Helped helped) {
  Route route;
  if (asked.M <= 0 || asked.N <= 0) return route;
  if (asked.K <= 0 || asked.alpha == 0) {
    if (asked.chain == Chain::begins) route.variant = Variant::scaled;
    return route;
  }
  Gemm<In, Out> call = asked;
  route.variant = Variant::packed;
  route.threads = call.threads = threads_of(call, kernels, helped);
  route.packed = plan_packed(call, kernels, &B);
  route.workspace = route.packed.workspace.total;
  return route;
}

}  // namespace tessera::cpu
