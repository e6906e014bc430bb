// One product that is asked for again and again with other matrices of the same shape and strides:
// what depends on these is decided once. A tiny product then costs little more than its
// microkernel.
#pragma once

#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

template <class Word, class Sum>
struct MicroTile;

/// plan(A, B, C) gives the bits of gemm() with these matrices. Any number of threads may call it at
/// once.
template <class In, class Out = In>
class GemmPlan {
 public:
  /// Shape, strides, scalars, epilogue and threads of `call`; its A, B and C are not looked at.
  explicit GemmPlan(const Gemm<In, Out>& call);

  /// Throws nothing.
  void operator()(const In* A, const In* B, Out* C) const;

 private:
  using Sum = typename Gemm<In, Out>::Sum;
  using Micro = void (*)(const MicroTile<Sum, Sum>&);

  Gemm<In, Out> call_;
  // Where one microkernel after the other, straight from A and B into C, makes the whole product:
  // for full micro-tiles of so many rows, and for the rows that are left.
  Micro full_ = nullptr, rest_ = nullptr;
  int rows_ = 0;
};

}  // namespace tessera::cpu
