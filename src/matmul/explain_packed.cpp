// From a plan's element types to the template that explains its route.
#include "explain_packed.hpp"

#include "packed.hpp"

namespace tessera::detail {

cpu::RouteExplanation explain_packed(const Plan& plan) {
  cpu::RouteExplanation out;
  visit_packed(plan.problem, [&]<class In, class Out>(TypeTag<In>, TypeTag<Out>) {
    out = cpu::explain_route(gemm_of<In, Out>(plan.problem, nullptr, nullptr, nullptr, nullptr,
                                              plan.threads, plan.arithmetic));
  });
  return out;
}

}  // namespace tessera::detail
