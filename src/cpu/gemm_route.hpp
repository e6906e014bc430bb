// How gemm() runs a product, in words: for reports, not for decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

struct GemmRoute {
  /// "tiny", "small", "strips", "few_rows", "packed"; "nothing", "scaled"; "without_memory"
  std::string_view name;
  std::string_view reason;  ///< why this one, a few words
  int threads = 1;          ///< at most so many take part
};

/// Of a product, if it were called next; its pointers are not read. Where memory for packing is
/// missing, gemm() takes another route than this says: kWithoutMemory.
template <class In, class Out = In>
GemmRoute route_of(const Gemm<In, Out>& call);

inline constexpr GemmRoute kWithoutMemory = {
    "without_memory", "none for panels: short ones on the stack, packed again and again", 1};

/// How often this process found no memory for packing. Where it grows during a call, that one, or
/// another thread's at the same time, took the route kWithoutMemory, or at least could not pack as
/// it wanted to.
std::uint64_t refused_workspaces();

/// Bytes that gemm() takes for panels and sums while it runs, where all of its threads take part;
/// on the stack, some 40 KiB at most, and for tiny products, nothing else. Pointers are not read.
template <class In, class Out = In>
std::size_t workspace_bytes(const Gemm<In, Out>& call);

}  // namespace tessera::cpu
