// The route of a product through gemm(), as text for reports, and why it is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

struct GemmRoute {
  /// "tiny", "small", "lanes", "strips", "few_rows", "packed"; "nothing", "scaled";
  /// "without_memory"
  std::string_view name;
  std::string_view reason;  ///< why this one, a few words
  int threads = 1;          ///< upper limit of threads
};

/// The route of a product if it were called now; its pointers are not read. Where memory for
/// packing is missing, gemm() takes kWithoutMemory instead.
template <class In, class Out = In>
GemmRoute route_of(const Gemm<In, Out>& call);

inline constexpr GemmRoute kWithoutMemory = {
    "without_memory", "none for panels: short ones on the stack, packed again and again", 1};

/// How often this process found no memory for packing. If it grows during a call, that call or a
/// concurrent one took the route kWithoutMemory, or at least packed less than planned.
std::uint64_t refused_workspaces();

/// Bytes that gemm() allocates for panels and sums, if all of its threads take part. Tiny products
/// use only the stack, at most some 40 KiB. Pointers are not read.
template <class In, class Out = In>
std::size_t workspace_bytes(const Gemm<In, Out>& call);

struct RouteCandidate {
  std::string_view name;  ///< as GemmRoute::name
  std::string why_not;    ///< empty for the one that is taken
};

/// The variants in the order in which choose.hpp asks, and what speaks against each.
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
