// What one instruction set offers to the packed path: a table of functions, filled in by
// kernels_<isa>.cpp and chosen once by what the CPU can do. Nothing here runs; src/cpu/gemm.cpp
// calls it.
//
// A microkernel computes one micro-tile of C, at most MR rows by NR = lanes * vectors columns, as
// chains of fused multiply-adds in order of k, one chain for each element. The chain may be cut
// anywhere in k: the running sums are stored and taken up again, and no bit changes.
#pragma once

#include "tessera/core/config.hpp"

namespace tessera::cpu {

/// One call of a microkernel. Operands by strides in elements: a packed panel is just one more pair
/// of strides.
template <class T>
struct MicroTile {
  index_t K;
  const T* a;          ///< (rows, K)
  index_t a_row, a_k;  ///< strides of a; ignored by the packed kernels (1, MR)
  const T* b;          ///< (K, cols), columns contiguous
  index_t b_k;         ///< stride of b along k
  T* c;                ///< (rows, cols), columns contiguous
  index_t c_row;       ///< stride of c along rows
  int cols;            ///< columns that exist: in (lanes * (vectors - 1), lanes * vectors]
  const T* next_c;     ///< where the next micro-tile of C lies: fetched into the cache meanwhile
  bool resume;         ///< take up the sums that c holds, instead of zero
  bool stream;         ///< store past the caches; c is aligned to whole vectors
};

/// The linear part of the epilogue: C = alpha * sum + beta * C + bias, for columns that lie side by
/// side. The same roundings as finish() in core/finish.hpp.
template <class T>
struct Linear {
  T alpha, beta;
  const T* row_bias;     ///< one value for each row, or null
  const T* column_bias;  ///< one value for each column, or null
  bool relu;
};

template <class T>
struct Kernels {
  static constexpr int kMaxRows = 8, kMaxVectors = 3;
  using Micro = void (*)(const MicroTile<T>&);

  const char* isa;
  int rows;     ///< MR: rows of a full micro-tile and of a packed panel of A
  int lanes;    ///< elements of one vector
  int vectors;  ///< NR / lanes

  Micro packed[kMaxRows][kMaxVectors];  ///< [rows - 1][vectors - 1]; a packed by MR, b full vectors
  Micro direct[kMaxRows][kMaxVectors];  ///< a by any strides, b full vectors
  Micro edge[kMaxRows][kMaxVectors];    ///< a by any strides, b read no further than `cols`

  /// Packs `lines` lines of K elements, line i at src + i * s_line with steps of s_k, into panels
  /// of `width` lines: panel p at dst + p * width * K, its element (i, k) at k * width + i. Lines
  /// that the last panel lacks are zeros.
  void (*pack)(T* dst, int width, const T* src, index_t lines, index_t K, index_t s_line,
               index_t s_k);

  /// c(i, j) = alpha * tile(i, j) + beta * c(i, j) + bias for a micro-tile of sums.
  void (*finish)(const T* tile, index_t tile_row, int rows, int cols, T* c, index_t c_row,
                 const Linear<T>& linear);

  int nr() const { return lanes * vectors; }
};

/// The tables of each instruction set; null where this build or this architecture has none.
template <class T>
const Kernels<T>* portable_kernels();
template <class T>
const Kernels<T>* avx2_kernels();
template <class T>
const Kernels<T>* avx512_kernels();
template <class T>
const Kernels<T>* neon_kernels();

/// The table for this CPU (or for what TESSERA_CPU asks). T: float or double.
template <class T>
const Kernels<T>& kernels();

}  // namespace tessera::cpu
