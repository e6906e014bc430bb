// The kernels of one instruction set for the packed path, as tables of functions, which the files
// kernels/<isa>.cpp fill in and the CPU's features select once. packed/product.hpp calls them.
//
// A microkernel computes one micro-tile of C, at most MR rows by NR = lanes * vectors columns. It
// multiplies K-groups: one f32 or f64, or a group of neighbours along K that one instruction
// multiplies and adds (2 bf16, 2 f16, 2 i16, 4 i8). One element of C is one chain of such steps in
// order of k. The chain may be cut anywhere between K-groups: the running sums are stored and
// reloaded, and no bit changes. Measurements: bench/results/cpu/tuning.md.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "tessera/core/activation.hpp"
#include "tessera/core/config.hpp"
#include "tessera/core/cpu.hpp"

namespace tessera::cpu {

/// f16 and bf16 in the packing routines: 16 bits, no arithmetic.
struct HalfBits {
  std::uint16_t bits;
};
struct BrainBits {
  std::uint16_t bits;
};
/// One part of a complex number; see complex_parts.hpp.
template <class Real>
struct ComplexPart {
  Real value;
};

/// The epilogue for a C with contiguous rows. The same roundings as finish() in
/// core/finish.hpp.
template <class Sum>
struct FinishRow {
  Sum alpha, beta;
  const Sum* row_bias;     ///< one value for each row, or null; at most one of these two is set
  const Sum* column_bias;  ///< one value for each column, or null
  LastStep<Sum> last;

  bool changes_nothing() const {
    return alpha == Sum{1} && beta == Sum{0} && row_bias == nullptr && column_bias == nullptr &&
           last.changes_nothing();
  }
};

/// The epilogue of complex products; each scalar has a real and an imaginary part.
template <class Sum>
struct Combination {
  Sum alpha[2] = {1, 0}, beta[2] = {0, 0};
  bool conjugates_a = false, conjugates_b = false;

  bool reads_c() const { return beta[0] != Sum{0} || beta[1] != Sum{0}; }
};

/// Up to this many rows, tasks leave A unpacked for `dots`; more rows are packed, once for all of a
/// long B. Products without tasks never pack A for it.
constexpr int kDotRowsOfAnyA = 4;
/// Rows for which elements of B are converted as they are read. For more, packing, which converts
/// each once, is faster.
constexpr int kConvertedRows = 4;

/// One call of a microkernel. Operands by strides in K-groups: a packed panel is just one more pair
/// of strides. `MicroTile{}` is all zeros: it prefetches nothing.
template <class KGroup, class Sum>
struct MicroTile {
  index_t K;           ///< K-groups
  const KGroup* a;     ///< (rows, K)
  index_t a_row, a_k;  ///< strides of a; ignored by the packed kernels (1, MR)
  /// (K, cols), rows contiguous; for `fused_packing`, `axpy` and `dots` entries the elements
  /// of B unpacked in memory
  const KGroup* b;
  index_t b_k;        ///< stride of b along k; for those entries in elements
  Sum* c;             ///< (rows, cols), rows contiguous
  index_t c_row;      ///< stride of c along rows
  int cols;           ///< columns that exist: in (lanes * (vectors - 1), lanes * vectors]
  const Sum* next_c;  ///< address of the next micro-tile of C, which is prefetched at the
                      ///< same time; or null
  bool resume;        ///< start from the sums in c instead of zero
  bool stream;        ///< non-temporal stores; c is aligned to whole vectors
  int rows;           ///< rows that exist, for kernels of tiles: others have an entry for each
  KGroup* copy;       ///< destination of the rows of b that `fused_packing` entries use
  index_t copy_k;     ///< distance of these copies
  /// Prefetching into L2 during the multiplication, in small steps. Of B, where not null:
  /// prefetch_times (at most K / 2) times, as many cache lines as b has vectors, prefetch_line
  /// bytes apart, each time prefetch_k bytes further.
  index_t prefetch_times;
  const char* prefetch;
  index_t prefetch_line,
      prefetch_k;  ///< `axpy`, `dots` and `strips` define prefetch_k below
  /// Where a is unpacked and this is not null, equally often: parts of as many rows of A as the
  /// micro-tile has, a_row apart. The hand-scheduled kernel prefetches only one of the two: A for
  /// such an a.
  const char* prefetch_a;
  index_t prefetch_a_bytes;
  /// For `direct` entries: the results of Kernels::sum_rows; for `axpy` and `dots` those of a
  /// packed panel, or, for `axpy`, null.
  const Sum* shifts;
  int k_rest;  ///< for these: the number of elements in a partial last K-group, else 0
  /// The epilogue without its last step, for whole vectors; in `masked` entries for any columns.
  /// The result is stored to `to`, where next_c is too. Null: none. For tables with `finishes`.
  const FinishRow<Sum>* finish;
  Sum* to;
  index_t to_row;
};

/// One call of Kernels::chains or lane_sums; strides in elements.
template <class T>
struct ChainTile {
  index_t K;
  const T* a;  ///< (rows, K)
  index_t a_row, a_k;
  const T* b;  ///< (K, cols)
  index_t b_k, b_col;
  T* c;  ///< (rows, cols), rows contiguous
  index_t c_row;
};
/// Chains that run side by side without waiting for each other: two multiply-adds a cycle, each
/// with a latency of four.
constexpr int kMostChains = 9;

/// One call of Kernels::substitute. rows: a multiple of 4; cols: a multiple of kCols, or of two
/// vectors.
template <class T>
struct TriangularTile {
  static constexpr int kRows = 32, kCols = 512 / sizeof(T);  ///< the most

  int rows, cols;
  const T* t;       ///< (rows, kRows), read below the diagonal
  const T* factor;  ///< one for each row
  T* x;             ///< (rows, cols), rows contiguous
  index_t x_row;
};

/// Packs `lines` lines of K elements, line i at src + i * s_line with steps of s_k, into panels of
/// `width` lines and `k_groups` = ceil(K / group) K-groups: panel p at dst + p * width * (k_groups
/// + extra), its K-group (i, k) at k * width + i. Missing elements of a K-group are zeros. Missing
/// lines are zeros where K-groups have several elements, else copies of the first one, which raise
/// no floating-point exception that the product does not. With a Kernels::sum_rows, a panel of A
/// ends with its row sums, in its extra K-groups.
template <class Source, class KGroup>
using Pack = void (*)(KGroup* dst, int width, const Source* src, index_t lines, index_t K,
                      index_t s_line, index_t s_k);

template <class Source_, class KGroup_, class Sum_>
struct Kernels {
  using Source = Source_;
  using KGroup = KGroup_;
  using Sum = Sum_;
  static constexpr int kMaxRows = 8, kMaxVectors = 4;
  /// Largest MR: tables of tiles have K-groups of several elements. Their entries for any number of
  /// rows are the same.
  static constexpr int kMostRows = std::is_same_v<KGroup, Sum> ? kMaxRows : 32;
  using Micro = void (*)(const MicroTile<KGroup, Sum>&);

  const char* isa;
  int rows;              ///< MR: rows of a full micro-tile and of a packed panel of A
  int lanes;             ///< sums in one vector
  int vectors;           ///< NR / lanes
  int group;             ///< elements in one K-group
  int a_extra, b_extra;  ///< K-groups that a packed panel has for each line beyond its elements
  /// Rows of the micro-tiles of kMaxVectors vectors that `direct`, `no_prefetch` and `masked` have
  /// for products of one panel; 0: none.
  int wide_rows;
  bool finishes;  ///< micro-tiles do epilogues: see MicroTile::finish

  /// A thread calls `prepare` before the microkernels of the table, `release` after them: they
  /// configure a tile unit. Null where there is nothing to configure.
  void (*prepare)();
  void (*release)();

  Micro packed[kMaxRows][kMaxVectors];  ///< [rows - 1][vectors - 1]; a packed by MR, b full vectors
  /// a with any strides or, where K-groups have several elements, contiguous K-groups; b full
  /// vectors. Null where A must be packed.
  Micro direct[kMaxRows][kMaxVectors];
  /// As `direct`, without prefetching; null where K-groups have several elements. [0] only stores
  /// sums, [1] applies MicroTile::finish, which is not null.
  Micro no_prefetch[2][kMaxRows][kMaxVectors];
  /// The same, reading only `cols` columns of b.
  Micro masked[2][kMaxRows][kMaxVectors];
  /// The same as `packed`, for an unpacked b, which is packed at the same time (fused packing); the
  /// widest entry takes an a of any strides. Null where B must be packed first.
  Micro fused_packing[kMaxRows][kMaxVectors];
  /// Like `no_prefetch` and `masked`, one vector wide with MR = 16, for products of one panel; null
  /// where registers are too few.
  static constexpr int kMr16 = 16;
  Micro mr16[2][kMr16], masked_mr16[2][kMr16];

  /// Axpy form: a panel of as many rows as the entry has, and any number of columns of an unpacked
  /// b; null where B must be packed, and where registers are too few. prefetch_k: if not 0, the
  /// following rows of b are prefetched in the order of memory.
  static constexpr int kAxpys = 6, kAxpyRows[kAxpys] = {1, 2, 4, 8, 12, 16};
  Micro axpy[kAxpys];
  int axpys;  ///< the number of columns
  /// Dot form: up to dot_rows rows of an a with any strides, in K-groups; the columns of b are
  /// contiguous, b_k elements apart; prefetch_k: how many bytes ahead to prefetch, 0: b is in a
  /// near cache. Ignores `resume`.
  Micro dots[kMaxRows];
  int dot_rows;
  /// Column strips: up to MR rows, a with any strides, and any number of columns of an unpacked b,
  /// as many at a time as there are registers for; null where K-groups have several elements.
  /// prefetch_k: if not 0, whole strips of three or more rows prefetch some rows of b ahead, and
  /// one row reads so many rows of b together. Ignores `resume`.
  Micro strips[kMaxRows];

  /// At most kMostChains elements of C, at most 8 in each extent, from operands with any strides;
  /// null for other types than f32 and f64 and without an instruction for a single multiply-add.
  void (*chains)(const ChainTile<Sum>& tile, int rows, int cols);

  /// The same elements in the order `lanes` (tessera/cpu/lanes.hpp), any number of them, from
  /// operands that are contiguous along K; a_k and b_k are not read. Null for other types than f32
  /// and f64.
  void (*lane_sums)(const ChainTile<Sum>& tile, index_t rows, index_t cols);

  /// The leaf of the BLAS's triangular solver and product: see cpu/substitution.hpp. Null for other
  /// types than f32 and f64.
  void (*substitute)(const TriangularTile<Sum>& tile, bool substitutes, bool pairs);

  Pack<Source, KGroup> pack_a, pack_b;
  /// dst[k * width + i] = src[i * s_line + k] for i < lines and k < K; null where K-groups have
  /// several elements.
  void (*transpose)(KGroup* dst, index_t width, const KGroup* src, int lines, index_t K,
                    index_t s_line);
  /// The row sums of A by which `direct` entries correct for the signs that packing B has shifted;
  /// rows unpacked, a_row K-groups apart. Null where no correction is needed.
  void (*sum_rows)(Sum* out, const KGroup* a, index_t rows, index_t k_groups, index_t a_row);

  /// c(i, j) = last(alpha * tile(i, j) + beta * c(i, j) + bias) for a micro-tile of sums.
  void (*finish)(const Sum* tile, index_t tile_row, int rows, int cols, Sum* c, index_t c_row,
                 const FinishRow<Sum>& how);

  /// Complex elements from a micro-tile of sums, whose rows and columns are parts: C(i, j) = alpha
  /// * op(tile)(i, j) + beta * C(i, j), with rows of C c_row reals apart. Null for other types.
  void (*combine)(const Sum* tile, index_t tile_row, int rows, int cols, Sum* c, index_t c_row,
                  const Combination<Sum>& how);

  /// `count` sums rounded to the nearest value of 16 bits, ties to even; null but where elements
  /// are converted.
  void (*narrow)(Source* dst, const Sum* src, int count);
  /// `count` whole sums rounded to the nearest float, ties to even; null for other types.
  void (*to_f32)(float* dst, const Sum* src, int count);

  int nr() const { return lanes * vectors; }
  /// Columns of the widest micro-tile, and the rows of the micro-tile for this many columns.
  int one_panel() const { return wide_rows > 0 ? lanes * kMaxVectors : nr(); }
  int rows_of(index_t cols) const { return cols > nr() ? wide_rows : rows; }
  /// The same for one panel, where MR may be 16.
  int one_panel_rows_of(index_t cols) const {
    return cols <= lanes && mr16[0][0] != nullptr ? kMr16 : rows_of(cols);
  }
  /// The microkernel for one panel, with at most one_panel_rows_of(cols) rows, with an epilogue or
  /// without.
  Micro one_panel_tile(int rows_, int cols, bool ends) const {
    const bool fills = fills_vectors(cols);
    if (cols <= lanes && mr16[0][0] != nullptr)
      return (fills ? mr16 : masked_mr16)[ends][rows_ - 1];
    return (fills ? no_prefetch : masked)[ends][rows_ - 1][vectors_of(cols) - 1];
  }
  /// The number of vectors for `cols` columns, and whether they are full. Without division, which
  /// would show in a product of 4 x 4 x 4; lanes is a power of two.
  int vectors_of(int cols) const {
    return 1 + int{cols > lanes} + int{cols > 2 * lanes} + int{cols > 3 * lanes};
  }
  bool fills_vectors(int cols) const { return (cols & (lanes - 1)) == 0; }
  /// May microkernels read an A with these strides, in elements, in place?
  bool reads_a(index_t K, index_t a_row, index_t a_col) const {
    if (direct[0][0] == nullptr) return false;
    return group == 1 || (a_col == 1 && a_row % group == 0 && K % group == 0);
  }
  /// Do they support fused packing of a B whose rows are contiguous?
  bool copies_b(index_t K) const { return fused_packing[0][0] != nullptr && K % group == 0; }
  /// Must elements become those of K-groups by a conversion?
  constexpr bool converts() const { return sizeof(Source) * group != sizeof(KGroup); }
  int axpy_rows() const { return axpys > 0 ? kAxpyRows[axpys - 1] : 0; }
  /// The entry of `axpy` for this many rows: the first that is large enough.
  int axpy_entry(int rows_) const {
    int entry = 0;
    while (kAxpyRows[entry] < rows_) ++entry;
    return entry;
  }
  /// The entry of a table for this many rows.
  static int entry(int rows) { return (rows - 1) & (kMaxRows - 1); }
};

/// While it lives, this thread may call the microkernels of a table.
template <class Table>
class Prepared {
 public:
  explicit Prepared(const Table& table) : release_(table.release) {
    if (table.prepare != nullptr) table.prepare();
  }
  ~Prepared() {
    if (release_ != nullptr) release_();
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

 private:
  void (*release_)();
};

using KernelsF32 = Kernels<float, float, float>;
using KernelsF64 = Kernels<double, double, double>;
using KernelsC32 = Kernels<ComplexPart<float>, float, float>;
using KernelsC64 = Kernels<ComplexPart<double>, double, double>;
using KernelsF16 = Kernels<HalfBits, float, float>;                 ///< converted while packing
using KernelsBf16 = Kernels<BrainBits, float, float>;               ///< converted while packing
using KernelsBf16Pairs = Kernels<BrainBits, std::uint32_t, float>;  ///< vdpbf16ps, tdpbf16ps
using KernelsF16Pairs = Kernels<HalfBits, std::uint32_t, float>;    ///< tdpfp16ps
using KernelsI8 = Kernels<std::int8_t, std::uint32_t, std::int32_t>;
using KernelsU8 = Kernels<std::uint8_t, std::uint32_t, std::int32_t>;
/// For u8 and i8: callers pass bytes; pack_a and pack_b know the signedness.
using KernelsBytes = KernelsU8;

/// The tables of products of bytes.
struct ByteKernels {
  KernelsI8 i8;
  KernelsU8 u8;
  KernelsBytes u8i8, i8u8;  ///< A is of the first, B of the second
};

/// The tables of one instruction set.
struct KernelSet : ByteKernels {
  KernelsF32 f32;
  KernelsF64 f64;
  KernelsF16 f16;
  KernelsBf16 bf16;
  KernelsC32 c32;
  KernelsC64 c64;
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
extern const ByteKernels kAvx512Vnni;

/// Tables that need a tile unit, and AVX-512 for their packing.
extern const KernelsBf16Pairs kAmxBf16;
extern const KernelsF16Pairs kAmxF16;
extern const ByteKernels kAmxBytes;

/// For up to eight columns of f32.
extern const KernelsF32 kAvx512Narrow;

/// Tables for a tiny product with N columns.
const KernelsF32& tiny_f32_kernels(index_t N);

/// The tables for this CPU (or for what TESSERA_CPU asks).
const KernelSet& kernel_set();
const ByteKernels& byte_kernels();
/// Null where the CPU has no instruction for bf16, or f16: then they are converted to f32.
const KernelsBf16Pairs* bf16_pair_kernels();
const KernelsF16Pairs* f16_pair_kernels();

}  // namespace tessera::cpu
