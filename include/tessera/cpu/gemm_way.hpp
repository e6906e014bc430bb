// How gemm() runs a product, in words: for reports, not for decisions.
#pragma once

#include <cstddef>
#include <string_view>

#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

struct GemmWay {
  std::string_view name;  ///< "tiny", "small", "strips", "few_rows", "packed"; "nothing", "scaled"
  std::string_view reason;  ///< why this one, a few words
  int threads = 1;          ///< at most so many take part
};

/// Of a product; its pointers are not read. Where memory for packing is missing,
/// gemm() goes another way than this says.
template <class In, class Out = In>
GemmWay way_of(const Gemm<In, Out>& call);

/// Bytes that gemm() takes for panels and sums while it runs, where all of its threads take part;
/// on the stack, some 40 KiB at most, and for tiny products, nothing else. Pointers are not read.
template <class In, class Out = In>
std::size_t workspace_bytes(const Gemm<In, Out>& call);

}  // namespace tessera::cpu
