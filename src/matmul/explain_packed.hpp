// Why the packed path takes its route for a plan: see cpu/reported_route.hpp.
#pragma once

#include "cpu/reported_route.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::detail {

/// `plan` is of the algorithm `packed`.
cpu::RouteExplanation explain_packed(const Plan& plan);

}  // namespace tessera::detail
