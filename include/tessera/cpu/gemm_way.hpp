// How gemm() runs a product, in words: for reports, not for decisions.
#pragma once

#include <string_view>

#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

struct GemmWay {
  std::string_view name;  ///< "tiny", "small", "strips", "few_rows", "packed"; "nothing", "scaled"
  std::string_view reason;  ///< why this one, a few words
  int threads;              ///< at most so many take part
};

/// Of a product of float or double; its pointers are not read. Where memory for packing is missing,
/// gemm() goes another way than this says.
template <class T>
GemmWay way_of(const Gemm<T>& call);

}  // namespace tessera::cpu
