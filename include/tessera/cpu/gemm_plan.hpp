// A product that is repeated with different matrices of the same shape and strides: decisions that
// depend on these are made once. A tiny product of f32 or f64 then costs little more than
// its microkernels.
#pragma once

#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

template <class Word, class Sum>
struct MicroTile;
template <class Source, class Word, class Sum>
struct Kernels;

/// plan(A, B, C) gives the bits of gemm() with these matrices. Any number of threads may call it at
/// once.
template <class In, class Out = In>
class GemmPlan {
 public:
  /// Shape, strides, scalars, epilogue and threads of `call`; its A, B and C are ignored.
  explicit GemmPlan(const Gemm<In, Out>& call);

  /// Throws nothing.
  void operator()(const ElementA<In>* A, const ElementB<In>* B, Out* C) const;

 private:
  using Sum = typename Gemm<In, Out>::Sum;
  using Micro = void (*)(const MicroTile<Sum, Sum>&);

  void multiply(const ElementA<In>* A, const ElementB<In>* B, Out* C) const;

  Gemm<In, Out> call_;
  bool swapped_ = false;         ///< call_ is C' = B' A', where A and B are of one type
  bool packs_k_groups_ = false;  ///< tiny, of elements that become K-groups
  // Tiny, and one panel: the microkernels for full micro-tiles of this many rows, and for the
  // remainder.
  bool is_plain_ = false;  ///< straight into C
  Micro full_ = nullptr, rest_ = nullptr;
  int rows_ = 0;
  const Kernels<Sum, Sum, Sum>* kernels_ = nullptr;
};

}  // namespace tessera::cpu
