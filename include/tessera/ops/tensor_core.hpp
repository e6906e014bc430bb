// Matrix units (tensor cores) as warp-wide operations: the lanes of a warp hold fragments of A, B
// and C in registers and multiply them together; fragment_layout.hpp says which lane has what.
// load_a, load_b, mma and store_d are called by all lanes of a whole warp, and mma by all of them
// at one source location.
//
// Instructions of 64 lanes are AMD's: kernels with `warp = 64` use these, on the CPU only. On a CPU
// the lanes exchange fragments through the warp's scratch and round their inputs as the hardware
// does; sums have the bits that an NVIDIA unit gives (unit_arithmetic.hpp says which and how).
// Those of 64 lanes are one chain of fused multiply-adds in order of k, in the accumulator's type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tessera/core/dtype.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/ops/fragment_layout.hpp"
#include "tessera/ops/unit_arithmetic.hpp"
#include "tessera/tensor/refused.hpp"
#include "tessera/tensor/storage.hpp"

namespace tessera {

namespace detail {

template <class Out, class In, MmaShape S>
constexpr bool has_instruction() {
  if (S == MmaShape{16, 16, 4}) return std::is_same_v<In, float> && std::is_same_v<Out, float>;
  if (S == MmaShape{16, 16, 16} || S == MmaShape{32, 32, 8})
    return (std::is_same_v<In, f16> || std::is_same_v<In, bf16>)&&std::is_same_v<Out, float>;
  if (S.m != 16 || S.n != 8) return false;
  if (std::is_same_v<In, double>) return std::is_same_v<Out, double> && (S.k == 16 || S.k == 8);
  if (std::is_same_v<In, float>) return std::is_same_v<Out, float> && (S.k == 8 || S.k == 4);
  if (std::is_same_v<In, f16> || std::is_same_v<In, bf16>)
    return std::is_same_v<Out, float> && (S.k == 16 || S.k == 8);
  if (std::is_same_v<In, f8e4m3> || std::is_same_v<In, f8e5m2>)
    return std::is_same_v<Out, float> && S.k == 32;
  if (std::is_same_v<In, std::int8_t> || std::is_same_v<In, std::uint8_t>)
    return std::is_same_v<Out, std::int32_t> && S.k == 32;
  return false;
}

/// The operands of one instruction in the scratch of a warp, rows of K elements: one element of D
/// is a chain of fused multiply-adds, or wraps.
template <class In, int Count, int K>
struct ChainedOperands {
  static constexpr int bytes = Count * static_cast<int>(sizeof(In));
  In* elements;
  explicit ChainedOperands(std::byte* room) : elements(reinterpret_cast<In*>(room)) {}
  void put(int row, int k, In value) const { elements[row + k] = value; }
  template <class Out>
  Out sum(Out c, int a, int b) const {
    return chained_sum<K>(c, elements + a, elements + b);
  }
};
/// The same for types whose products a unit adds at once: each element is decomposed once for all
/// lanes.
template <class In, int Count, int K>
struct FusedOperands {
  static constexpr int bytes = Count * 2 * static_cast<int>(sizeof(std::int16_t));
  std::int16_t *significands, *exponents;
  explicit FusedOperands(std::byte* room)
      : significands(reinterpret_cast<std::int16_t*>(room)), exponents(significands + Count) {}
  void put(int row, int k, In value) const {
    const UnitTerm term = unit_operand<kEmulatedUnit>(value);
    const int at = row + unit_position<kEmulatedUnit, In>(k, K);
    significands[at] = term.significand, exponents[at] = term.exponent;
  }
  float sum(float c, int a, int b) const {
    return sum_of_terms<kEmulatedUnit, In, K>(c, {significands + a, exponents + a},
                                              {significands + b, exponents + b});
  }
};

}  // namespace detail

/// Asserts that the rows of a tile begin at multiples of 16 bytes.
struct AlignedRows {};

/// One matrix instruction. Out: type of the accumulators, In: type of A and B. With 32 lanes float
/// means TF32, with 64 lanes it is f32.
template <class Out, class In, MmaShape S>
struct TensorCore {
  static_assert(
      detail::has_instruction<Out, In, S>(),
      "there is no matrix instruction of this shape and type: f64 16x8x8 and 16x8x16, f32 (as "
      "TF32) 16x8x4 and 16x8x8, f16 and bf16 16x8x8 and 16x8x16 with f32 sums, f8 16x8x32 with f32 "
      "sums, i8 and u8 16x8x32 with i32 sums; for warps of 64 lanes f32 16x16x4, f16 and bf16 "
      "16x16x16 and 32x32x8 with f32 sums");
  static constexpr MmaShape shape = S;
  static constexpr int lanes = detail::lanes_of(S);
  static constexpr Layout layout_a =
      detail::fragment_a<In, S>();  ///< (lanes, values) -> (m,k) column-major
  static constexpr Layout layout_b =
      detail::fragment_b<In, S>();  ///< (lanes, values) -> (n,k) column-major
  static constexpr Layout layout_c =
      detail::fragment_c<S>();  ///< (lanes, values) -> (m,n) column-major
  static constexpr int values_a = static_cast<int>(layout_a.mode(1).size());
  static constexpr int values_b = static_cast<int>(layout_b.mode(1).size());
  static constexpr int values_c = static_cast<int>(layout_c.mode(1).size());

  /// One lane's part of a fragment. TF32 inputs are stored rounded.
  template <class T, int N>
  struct alignas(sizeof(T) < 4 ? 4 : alignof(T)) Fragment {
    T value[N];
  };
  using FragmentA = Fragment<In, values_a>;
  using FragmentB = Fragment<In, values_b>;
  using FragmentC = Fragment<Out, values_c>;

  static TESSERA_HD constexpr FragmentC zero() { return {}; }

  /// This lane's part of `a`, any tensor of shape (m,k). This and the following functions throw
  /// Error(shape) on the CPU for another shape.
  template <class Thread, AnyTensor A>
  static TESSERA_KERNEL FragmentA load_a(const Thread& t, const A& a, Here here = Here::current()) {
    detail::require_fragment(a.template extent<0>(), a.template extent<1>(), S.m, S.k, here);
    FragmentA out;
    TESSERA_UNROLL
    for (int v = 0; v < values_a; ++v) {
      const auto at = detail::place_in<layout_a, S.m>(t.lane, v);
      out.value[v] = rounded(a(at.mn, at.k, here));
    }
    return out;
  }
  /// This lane's part of `b`, any tensor of shape (k,n).
  template <class Thread, AnyTensor B>
  static TESSERA_KERNEL FragmentB load_b(const Thread& t, const B& b, Here here = Here::current()) {
    detail::require_fragment(b.template extent<0>(), b.template extent<1>(), S.k, S.n, here);
    FragmentB out;
    TESSERA_UNROLL
    for (int v = 0; v < values_b; ++v) {
      const auto at = detail::place_in<layout_b, S.n>(t.lane, v);
      out.value[v] = rounded(b(at.k, at.mn, here));
    }
    return out;
  }
  /// The same, called by all lanes at one source location. A GPU uses ldmatrix for elements of
  /// one or two bytes of a tile in shared memory whose rows (of B of bytes: columns) begin at known
  /// multiples of 16 bytes.
  template <class Thread, AnyTensor A>
  static TESSERA_KERNEL FragmentA load_a(Thread& t, const A& a, AlignedRows,
                                         Here here = Here::current()) {
    if constexpr (has_matrix_rows<Thread, A, 0>()) {
      const In* row = &a(t.lane % 16, t.lane / 16 * kMatrixRow % S.k);
      if (t.is_shared(row)) {
        FragmentA out;
        t.template load_matrices<sizeof out / 4, false>(reinterpret_cast<unsigned*>(out.value),
                                                        row);
        return out;
      }
    }
    return load_a(t, a, here);
  }
  template <class Thread, AnyTensor B>
  static TESSERA_KERNEL FragmentB load_b(Thread& t, const B& b, AlignedRows,
                                         Here here = Here::current()) {
    if constexpr (sizeof(In) == 1 && has_matrix_rows<Thread, B, 1>()) {
      const In* column = &b(t.lane / 8 % 2 * kMatrixRow, t.lane % 8);
      if (t.is_shared(column)) {
        FragmentB out;
        t.template load_matrices<2, false>(reinterpret_cast<unsigned*>(out.value), column);
        return out;
      }
    } else if constexpr (sizeof(In) == 2 && has_matrix_rows<Thread, B, 0>() && S.k == 16) {
      const In* row = &b(t.lane % 16, 0);
      if (t.is_shared(row)) {
        FragmentB out;
        t.template load_matrices<2, true>(reinterpret_cast<unsigned*>(out.value), row);
        return out;
      }
    }
    return load_b(t, b, here);
  }
  /// This lane's part of `c`, any tensor of shape (m,n).
  template <class Thread, AnyTensor C>
  static TESSERA_KERNEL FragmentC load_c(const Thread& t, const C& c, Here here = Here::current()) {
    detail::require_fragment(c.template extent<0>(), c.template extent<1>(), S.m, S.n, here);
    FragmentC out;
    TESSERA_UNROLL
    for (int v = 0; v < values_c; ++v) {
      const auto at = detail::place_in<layout_c, S.m>(t.lane, v);
      out.value[v] = static_cast<Out>(c(at.mn, at.k, here));
    }
    return out;
  }

  /// d += a * b, by all lanes of the warp together.
  template <class Thread>
  static TESSERA_KERNEL void mma(Thread& t, FragmentC& d, const FragmentA& a, const FragmentB& b,
                                 [[maybe_unused]] Here here = Here::current()) {
    static_assert(
        Thread::warp_size == lanes,
        "a matrix instruction runs on warps of as many lanes as it has: square shapes need "
        "a kernel that declares warp = 64, on the CPU engine; all others 32 lanes");
    if constexpr (requires { t.mma(d, a, b, TensorCore{}); }) t.mma(d, a, b, TensorCore{});
    else {
      const bool is_empty = bool(tell_empty(a, here) | tell_empty(b, here) | tell_empty(d, here));
      emulate(t, d, a, b, here);
      if (is_empty) settle(d);
    }
  }

  /// Stores this lane's part of d to tile (m,n) of `out`, a tensor or an Output, through the
  /// epilogue; skipped past the edge.
  template <class Thread, class Target>
  static TESSERA_KERNEL void store_d(const Thread& t, const Target& out, const FragmentC& d,
                                     Here here = Here::current()) {
    if constexpr (AnyTensor<Target>)
      detail::require_fragment(out.template extent<0>(), out.template extent<1>(), S.m, S.n, here);
    tell_empty(d, here);
    if constexpr (kStoresInLoops<Target>) {
      FragmentC left = d;  // the rest moves up after each value: see store_each()
      TESSERA_NO_UNROLL
      for (int v = 0; v < values_c; ++v) {
        const auto at = detail::place_in<layout_c, S.m>(t.lane, v);
        store(out, at.mn, at.k, left.value[0], here);
        TESSERA_UNROLL_REGISTERS
        for (int next = 0; next + 1 < values_c; ++next) left.value[next] = left.value[next + 1];
      }
    } else {
      TESSERA_UNROLL_REGISTERS
      for (int v = 0; v < values_c; ++v) {
        const auto at = detail::place_in<layout_c, S.m>(t.lane, v);
        store(out, at.mn, at.k, d.value[v], here);
      }
    }
  }

 private:
  static constexpr int kMatrixRow = 16 / sizeof(In);  ///< elements of a row of ldmatrix
  /// May slices along the other mode than Mode be loaded by ldmatrix, if they are in shared memory?
  template <class Thread, class Source, int Mode>
  static constexpr bool has_matrix_rows() {
    if constexpr (!requires(Thread & t, unsigned* to, const void* row) {
                    t.template load_matrices<2, false>(to, row);
                  } ||
                  !std::is_pointer_v<typename Source::pointer>)
      return false;
    else
      return sizeof(In) <= 2 && std::is_same_v<ElementOf<Source>, In> && !Source::is_clipped &&
             Source::pattern.stride.leaves() == 2 && Source::pattern.stride.leaf(1 - Mode) == 1 &&
             Source::pattern.stride.leaf(Mode) != dynamic &&
             Source::pattern.stride.leaf(Mode) % kMatrixRow == 0;
  }
  /// Reports a fragment with a register of four bytes or more that is uninitialised. A smaller
  /// element may have the poison value, and so may registers of bytes: of these, all must.
  template <class T, int N>
  static TESSERA_HD constexpr bool tell_empty([[maybe_unused]] const Fragment<T, N>& fragment,
                                              [[maybe_unused]] Here here) {
#if TESSERA_CHECK
    if (std::is_constant_evaluated() || detail::recorder == nullptr) return false;
    using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    constexpr std::uint64_t pattern = detail::unwritten_bits<T>();
    constexpr int bits = 8 * static_cast<int>(sizeof(T));
    Word empty = 0, word = 0;
    for (int at = 0; at < 8 * static_cast<int>(sizeof empty); at += bits)
      empty |= static_cast<Word>(pattern << at);
    std::size_t words = 0, empties = 0;
    for (std::size_t at = 0; at + sizeof word <= sizeof fragment; at += sizeof word, ++words) {
      std::memcpy(&word, reinterpret_cast<const char*>(&fragment) + at, sizeof word);
      empties += word == empty ? 1 : 0;
    }
    if (sizeof(T) == 1 ? empties == words : empties > 0) {
      detail::recorder->empty_fragment(here);
      return true;
    }
#endif
    return false;
  }
  /// Sums without a value that were reported look like a value afterwards, and are not reported
  /// again.
  static constexpr void settle(FragmentC& d) {
    for (Out& each : d.value)
      each =
          std::numeric_limits<Out>::has_quiet_NaN ? std::numeric_limits<Out>::quiet_NaN() : Out{};
  }
  static TESSERA_HD constexpr In rounded(In x) {
    if constexpr (std::is_same_v<In, float> && lanes == 32) {
#if !defined(__CUDA_ARCH__)  // where the conversion gives a NaN representable in TF32
      if (x != x) return std::numeric_limits<float>::quiet_NaN();
#endif
      return round_to_tf32(x);
    } else {
      return x;
    }
  }

  /// The lanes store their fragments of A and B into the warp's scratch, wait for each other, and
  /// compute their own elements of D. The two halves of the scratch alternate, so that one wait is
  /// enough.
  template <class Thread>
  static void emulate(Thread& t, FragmentC& d, const FragmentA& a, const FragmentB& b, Here here) {
    constexpr int half = Thread::scratch_bytes / 2, end_of_a = S.m * S.k;
    using Operands = std::conditional_t<lanes == 32 && detail::kIsFusedInput<In>,
                                        detail::FusedOperands<In, end_of_a + S.n * S.k, S.k>,
                                        detail::ChainedOperands<In, end_of_a + S.n * S.k, S.k>>;
    static_assert(Operands::bytes <= half,
                  "both operands of a matrix instruction fit into half of the warp's scratch");
    const Operands operands(t.warp_scratch() + t.mma_turn * half);  // (m,k), then (n,k), row-major
    t.mma_turn ^= 1;
    for (int v = 0; v < values_a; ++v) {
      const auto at = detail::place_in<layout_a, S.m>(t.lane, v);
      operands.put(at.mn * S.k, at.k, a.value[v]);
    }
    for (int v = 0; v < values_b; ++v) {
      const auto at = detail::place_in<layout_b, S.n>(t.lane, v);
      operands.put(end_of_a + at.mn * S.k, at.k, b.value[v]);
    }
    t.meet("mma", here);
#if TESSERA_CHECK
    if (detail::recorder != nullptr)
      detail::recorder->matrix_flops(2 * S.m * S.n * S.k / lanes, here);
#endif
    for (int v = 0; v < values_c; ++v) {
      const auto at = detail::place_in<layout_c, S.m>(t.lane, v);
      d.value[v] = operands.sum(d.value[v], at.mn * S.k, end_of_a + at.k * S.k);
    }
  }
};

/// The instruction that a kernel uses for inputs of type In: f64 and TF32 16x8x8, half 16x8x16,
/// bytes 16x8x32. One of f64 twice as deep needs twice the registers.
template <class In>
struct DefaultMma {
  static constexpr int k = sizeof(In) == 8 ? 8 : 32 / static_cast<int>(sizeof(In));
  using type = TensorCore<Accumulator<In>, In, MmaShape{16, 8, k}>;
};

}  // namespace tessera
