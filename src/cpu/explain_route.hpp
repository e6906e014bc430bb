// Why a product takes its route: the variants in the order in which choose.hpp asks, and what
// speaks against each. For reports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reported_route.hpp"

namespace tessera::cpu {

struct RouteCandidate {
  std::string_view name;  ///< as GemmRoute::name
  std::string why_not;    ///< empty for the one that is taken
};

struct RouteExplanation {
  GemmRoute route;
  std::vector<RouteCandidate> candidates;  ///< up to the one that is taken, and those after it
  std::string fields;                      ///< the whole Route, as name=value
  std::vector<std::string> choices;        ///< threads, blocks, packing, memory: a sentence each
};

/// Pointers of `call` are not read. Predicts as route_of() does.
template <class In, class Out = In>
RouteExplanation explain_route(const Gemm<In, Out>& call);

}  // namespace tessera::cpu
