// What one instruction set offers to the packed path: tables of functions, filled in by the files
// kernels_<isa>.cpp and chosen once by what the CPU can do. Nothing here runs; product.hpp calls
// it.
//
// A microkernel computes one micro-tile of C, at most MR rows by NR = lanes * vectors columns. It
// multiplies words: one f32 or f64, or a group of neighbours along K that one instruction
// multiplies and adds (2 bf16, 2 f16, 2 i16, 4 i8). One element of C is one chain of such steps in
// order of k. The chain may be cut anywhere between words: the running sums are stored and taken up
// again, and no bit changes.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "tessera/core/activation.hpp"
#include "tessera/core/config.hpp"
#include "tessera/core/cpu.hpp"

namespace tessera::cpu {

/// f16 and bf16 as the packing routines see them: 16 bits, no arithmetic.
struct HalfBits {
  std::uint16_t bits;
};
struct BrainBits {
  std::uint16_t bits;
};

/// The epilogue for columns that lie side by side. The same roundings as finish() in
/// core/finish.hpp.
template <class Sum>
struct FinishRow {
  Sum alpha, beta;
  const Sum* row_bias;     ///< one value for each row, or null; at most one of the two
  const Sum* column_bias;  ///< one value for each column, or null
  LastStep<Sum> last;

  bool changes_nothing() const {
    return alpha == Sum{1} && beta == Sum{0} && row_bias == nullptr && column_bias == nullptr &&
           last.changes_nothing();
  }
};

/// Rows of A up to which jobs leave it as it lies for `sweep_lines`; more are packed for all of a
/// long B. A product that needs no jobs packs none: one thread of an EPYC (family 26), 2026-11-26,
/// times as fast, 16x5x64 1.9, 64x8x64 1.1, (8,128,128) with B transposed 1.03.
constexpr int kLinesOfAnyA = 4;

/// One call of a microkernel. Operands by strides in words: a packed panel is just one more pair of
/// strides. `MicroTile{}` is all zeros: it fetches nothing.
template <class Word, class Sum>
struct MicroTile {
  index_t K;           ///< words
  const Word* a;       ///< (rows, K)
  index_t a_row, a_k;  ///< strides of a; ignored by the packed kernels (1, MR)
  /// (K, cols), columns contiguous; for `copying`, `sweep` and `sweep_lines` entries the elements
  /// of B as they lie in memory
  const Word* b;
  index_t b_k;    ///< stride of b along k; for those entries in elements
  Sum* c;         ///< (rows, cols), columns contiguous
  index_t c_row;  ///< stride of c along rows
  int cols;       ///< columns that exist: in (lanes * (vectors - 1), lanes * vectors]
  const Sum*
      next_c;   ///< where the next micro-tile of C lies, fetched into the cache meanwhile; or null
  bool resume;  ///< take up the sums that c holds, instead of zero
  bool stream;  ///< store past the caches; c is aligned to whole vectors
  int rows;     ///< rows that exist, for kernels of tiles: others have an entry for each
  Word* copy;   ///< where `copying` entries put the rows of b that they use
  index_t copy_k;  ///< distance of these copies
  /// What is fetched into L2 meanwhile, little by little. Of B, where not null: fetch_times, at
  /// most K / 2, as many lines as b has vectors, fetch_line bytes apart, each time fetch_k bytes
  /// further.
  index_t fetch_times;
  const char* fetch;
  index_t fetch_line, fetch_k;  ///< `sweep`, `sweep_lines` and `strips` say what fetch_k is to them
  /// Where a lies as it is, and this is not null, as often: a part of as many rows as the
  /// micro-tile has, a_row apart. What is scheduled by hand fetches one or the other: A for such an
  /// a.
  const char* fetch_a;
  index_t fetch_a_bytes;
  /// For `direct` entries: what Kernels::sum_rows gave; for `sweep` and `sweep_lines` the same of a
  /// packed panel, or, for `sweep`, null.
  const Sum* shifts;
  int k_rest;  ///< for these: elements of the last word, where they do not fill it; else 0
  /// The epilogue, but for its last step, of whole vectors, in `edge` entries of any columns: the
  /// result goes to `to`, and next_c lies there too. Null: none. For tables that `finishes`.
  const FinishRow<Sum>* finish;
  Sum* to;
  index_t to_row;
};

/// Packs `lines` lines of K elements, line i at src + i * s_line with steps of s_k, into panels of
/// `width` lines and `words` = ceil(K / group) words: panel p at dst + p * width * (words + extra),
/// its word (i, k) at k * width + i. Missing elements of a word are zeros. Missing lines are zeros
/// where words have several elements, else copies of the first one, which raise no floating-point
/// exception that the product does not. Where there is a Kernels::sum_rows, a panel of A ends with
/// its sums, in its extra words.
template <class Source, class Word>
using Pack = void (*)(Word* dst, int width, const Source* src, index_t lines, index_t K,
                      index_t s_line, index_t s_k);

template <class Source, class Word, class Sum>
struct Kernels {
  using source = Source;
  static constexpr int kMaxRows = 8, kMaxVectors = 4;
  /// Largest MR: tables of tiles have words of several elements. Their entries for any number of
  /// rows are the same.
  static constexpr int kMostRows = std::is_same_v<Word, Sum> ? kMaxRows : 32;
  using Micro = void (*)(const MicroTile<Word, Sum>&);

  const char* isa;
  int rows;              ///< MR: rows of a full micro-tile and of a packed panel of A
  int lanes;             ///< sums in one vector
  int vectors;           ///< NR / lanes
  int group;             ///< elements in one word
  int a_extra, b_extra;  ///< words that a packed panel has for each line beyond its elements
  /// Rows of micro-tiles of kMaxVectors vectors, which `direct`, `lone` and `edge` have for
  /// products of one panel; 0: none.
  int wide_rows;
  bool finishes;  ///< micro-tiles do epilogues: see MicroTile::finish

  Micro packed[kMaxRows][kMaxVectors];  ///< [rows - 1][vectors - 1]; a packed by MR, b full vectors
  /// a by any strides, or, where words are several elements, by rows of words; b full vectors. Null
  /// where packed only.
  Micro direct[kMaxRows][kMaxVectors];
  /// As `direct`, but fetching nothing; null where words are no elements. [0] only stores sums, [1]
  /// does what MicroTile::finish says, which is not null.
  Micro lone[2][kMaxRows][kMaxVectors];
  /// The same, b read no further than `cols`.
  Micro edge[2][kMaxRows][kMaxVectors];
  /// The same as `packed`, of a b that lies as it is, and which is packed by the way; a of the
  /// widest by any strides, as for all of these. Null where packed only.
  Micro copying[kMaxRows][kMaxVectors];
  /// Like `lone` and `edge`, of one vector and up to kTallRows rows, for products of one panel;
  /// null where registers are too few.
  static constexpr int kTallRows = 16;
  Micro tall[2][kTallRows], tall_edge[2][kTallRows];

  /// A few rows, a panel of as many as the entry has, and any number of columns of a matrix that
  /// lies as it is; null where packed only, and where registers are too few. fetch_k: 0, or
  /// the rows of b that follow are fetched in the order in which they lie.
  static constexpr int kSweeps = 6, kSweepRows[kSweeps] = {1, 2, 4, 8, 12, 16};
  Micro sweep[kSweeps];
  int sweeps;  ///< how many of them there are
  /// Up to line_rows rows of an a by any strides, of words; b_k is the distance of columns in
  /// elements, which lie side by side; fetch_k: how many bytes ahead are fetched, 0: b is in a near
  /// cache. Resumes nothing.
  Micro sweep_lines[kMaxRows];
  int line_rows;
  /// Up to MR rows, a by any strides, and any number of columns of a b as it lies, as many at a
  /// time as there are registers for; null where words are no elements. fetch_k: 0, or whole strips
  /// of three or more rows fetch some rows of b ahead, and one row reads several rows of b side by
  /// side. Resumes nothing.
  Micro strips[kMaxRows];

  Pack<Source, Word> pack_a, pack_b;
  /// dst[k * width + i] = src[i * s_line + k] for i < lines and k < K; null where words are no
  /// elements.
  void (*transpose)(Word* dst, index_t width, const Word* src, int lines, index_t K,
                    index_t s_line);
  /// What `direct` entries add to the sums of each row, for signs that packing B has shifted away:
  /// of rows as they lie, a_row words apart. Null where nothing is added.
  void (*sum_rows)(Sum* out, const Word* a, index_t rows, index_t words, index_t a_row);

  /// c(i, j) = last(alpha * tile(i, j) + beta * c(i, j) + bias) for a micro-tile of sums.
  void (*finish)(const Sum* tile, index_t tile_row, int rows, int cols, Sum* c, index_t c_row,
                 const FinishRow<Sum>& how);

  /// `count` sums rounded to the nearest value of 16 bits, ties to even; null but where elements
  /// are converted.
  void (*narrow)(Source* dst, const Sum* src, int count);
  /// `count` whole sums rounded to the nearest float, ties to even; null for other types.
  void (*to_f32)(float* dst, const Sum* src, int count);

  int nr() const { return lanes * vectors; }
  /// Columns of the widest micro-tile, and the rows of one that so many columns fit in.
  int one_panel() const { return wide_rows > 0 ? lanes * kMaxVectors : nr(); }
  int rows_of(index_t cols) const { return cols > nr() ? wide_rows : rows; }
  /// The same, where micro-tiles may be tall.
  int tall_rows_of(index_t cols) const {
    return cols <= lanes && tall[0][0] != nullptr ? kTallRows : rows_of(cols);
  }
  /// The micro-tile of one panel, of at most tall_rows_of(cols) rows: with an epilogue or without.
  Micro one_panel_tile(int rows_, int cols, bool ends) const {
    const bool fills = fills_vectors(cols);
    if (cols <= lanes && tall[0][0] != nullptr) return (fills ? tall : tall_edge)[ends][rows_ - 1];
    return (fills ? lone : edge)[ends][rows_ - 1][vectors_of(cols) - 1];
  }
  /// Vectors that `cols` columns take, and whether they fill them. Without divisions, which a
  /// product of 4 x 4 x 4 would feel; lanes is a power of two.
  int vectors_of(int cols) const {
    return 1 + int{cols > lanes} + int{cols > 2 * lanes} + int{cols > 3 * lanes};
  }
  bool fills_vectors(int cols) const { return (cols & (lanes - 1)) == 0; }
  /// May microkernels read an A with these strides, in elements, where it lies?
  bool reads_a(index_t K, index_t a_row, index_t a_col) const {
    if (direct[0][0] == nullptr) return false;
    return group == 1 || (a_col == 1 && a_row % group == 0 && K % group == 0);
  }
  /// May they pack a B whose columns lie side by side by the way?
  bool copies_b(index_t K) const { return copying[0][0] != nullptr && K % group == 0; }
  int sweep_rows() const { return sweeps > 0 ? kSweepRows[sweeps - 1] : 0; }
  /// The entry of `sweep` for so many rows: the first that has them.
  int sweep_entry(int rows_) const {
    int entry = 0;
    while (kSweepRows[entry] < rows_) ++entry;
    return entry;
  }
  /// The entry of a table for so many rows.
  static int entry(int rows) { return (rows - 1) & (kMaxRows - 1); }
};

using KernelsF32 = Kernels<float, float, float>;
using KernelsF64 = Kernels<double, double, double>;
using KernelsF16 = Kernels<HalfBits, float, float>;                 ///< converted while packing
using KernelsBf16 = Kernels<BrainBits, float, float>;               ///< converted while packing
using KernelsBf16Pairs = Kernels<BrainBits, std::uint32_t, float>;  ///< vdpbf16ps, tdpbf16ps
using KernelsF16Pairs = Kernels<HalfBits, std::uint32_t, float>;    ///< tdpfp16ps
using KernelsI8 = Kernels<std::int8_t, std::uint32_t, std::int32_t>;
using KernelsU8 = Kernels<std::uint8_t, std::uint32_t, std::int32_t>;
/// Of u8 and i8: bytes to whoever calls, and pack_a and pack_b know what they are.
using KernelsBytes = KernelsU8;

/// The tables of one instruction set.
struct KernelSet {
  KernelsF32 f32;
  KernelsF64 f64;
  KernelsF16 f16;
  KernelsBf16 bf16;
  KernelsI8 i8;
  KernelsU8 u8;
  KernelsBytes u8i8, i8u8;  ///< A is of the first, B of the second
};
extern const KernelSet kPortable, kAvx2, kAvx512, kNeon;

/// The tables for one path.
struct PathKernels {
  VectorPath path;
  const KernelSet* set;
};
/// Those of this build, the narrowest path first.
std::span<const PathKernels> every_kernel_set();

/// Tables that need more than AVX-512 F, BW, DQ and VL.
extern const KernelsBf16Pairs kAvx512Bf16;
extern const KernelsI8 kAvx512VnniI8;
extern const KernelsU8 kAvx512VnniU8;
extern const KernelsBytes kAvx512VnniU8I8, kAvx512VnniI8U8;

/// Tables that need a tile unit, and AVX-512 for their packing.
extern const KernelsBf16Pairs kAmxBf16;
extern const KernelsF16Pairs kAmxF16;
extern const KernelsI8 kAmxI8;
extern const KernelsU8 kAmxU8;
extern const KernelsBytes kAmxU8I8, kAmxI8U8;

/// For up to eight columns of f32.
extern const KernelsF32 kAvx512Narrow;

/// Tables for a tiny product with N columns.
const KernelsF32& tiny_f32_kernels(index_t N);

/// The tables for this CPU (or for what TESSERA_CPU asks).
const KernelSet& kernel_set();
const KernelsI8& i8_kernels();
const KernelsU8& u8_kernels();
const KernelsBytes& u8i8_kernels();
const KernelsBytes& i8u8_kernels();
/// Null where the CPU does not multiply bf16, or f16: then they are converted to f32.
const KernelsBf16Pairs* bf16_pair_kernels();
const KernelsF16Pairs* f16_pair_kernels();

}  // namespace tessera::cpu
