// The microkernel, written once for every instruction set. V is a vector type of one kernels/<isa>
// file, in an unnamed namespace there, so that no instruction of one set leaks into another. Its
// members:
//   V::sum, V::lanes, V::type       a vector of running sums
//   zero splat load load_first store store_first stream add mul fma   on them
//   V::k_group, V::group, V::operand   what is multiplied; group elements of K in one K-group
//   load_operand load_operand_first broadcast step(x, row, acc)    on them
//   load_first, and load_operand_first of K-groups that are numbers, fill the other lanes with the
//   first one: zero times infinity would be an exception that the product does not have
//   load_part(p, mask), fma_part(mask, a, b, c)   may be missing: on the first lanes alone
//   fill(mask, x)                   where there is fma_part: the other lanes become the first one
//   fms(a, b, c)                    may be missing: a b - c
//   exchanged(x)                    may be missing: neighbouring lanes exchanged
//   V::source, gather(p, s)         may be missing: K-groups of elements of B, whose rows are s
//                                   apart
//   gather_first(p, s, mask, count) the same of the first lanes and of the first `count` rows
//   V::packs                        with these: what pack_groups wants for B
//   V::shifts                       may be missing: each row adds a sum that the panel of A ends
//                                   with, or that `shifts` has; see Kernels::sum_rows
//   V::signed_a                     of bytes, for scheduled_tile: A is signed and B unsigned
//   V::transposed, transpose        a square block that is transposed in registers; 0: none
//   both(p, q), halves              may be missing: half as many K-groups as there are lanes of two
//   V::transpose_registers          lines; of all lines, two by two as transpose_registers() in
//                                   pack.hpp has them, as columns; one number in the lower half of
//                                   the lanes, another in the upper
//   line(p) line_part(p, count)     may be missing: elements along a line as K-groups, all lanes or
//                                   `count` elements
//   store_totals(c, sums, n, shift) with these: the sums of the lanes of each of n vectors, at most
//                                   four, to which *shift is added, if there is one
//
// Register budget, MR x NR = 8 x 3 vectors: 24 sums + 3 of B + 1 broadcast of A = 28 of 32
// registers (AVX-512, NEON); 6 x 2 vectors: 12 + 2 + 1 of 16 (AVX2). Measurements:
// bench/results/cpu/tuning.md.
#pragma once

#include <utility>

#include "kernels.hpp"

namespace tessera::cpu {

enum class A : bool { packed, strided };
/// full: whole vectors of b. no_prefetch: the same without prefetching, whose code alone would slow
/// down a tiny product.
enum class B : char { full, no_prefetch, masked, copied, prefetched };
/// What happens to the sums. store: stored; finish: the epilogue of MicroTile::finish; either:
/// that, unless it is null, a test that would slow down a tiny product.
enum class End : char { store, finish, either };

/// B is prefetched this many rows ahead of its use.
constexpr int kRowsAhead = 4;

/// V reads half a vector of each of two lines.
template <class V>
concept ReadsBoth = requires {
  &V::both;
};
/// V converts elements as it reads them: Converted in make_kernels.hpp.
template <class V>
concept Converts = requires {
  &V::pack;
};

namespace {

/// Vectors in what compilers know of every instruction set: the base of vector types. Integers wrap
/// modulo 2^32.
template <class T, int Bytes>
struct Lanes {
  using sum = T;
  typedef T type __attribute__((vector_size(Bytes)));
  typedef std::conditional_t<std::is_integral_v<T>, std::uint32_t, T> bits
      __attribute__((vector_size(Bytes)));
  static constexpr int lanes = Bytes / static_cast<int>(sizeof(T));
  static type zero() { return type{}; }
  static type load(const T* p) {
    type x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
  }
  static void store(T* p, type x) { __builtin_memcpy(p, &x, sizeof x); }
  static type add(type a, type b) { return (type)((bits)a + (bits)b); }
  static type mul(type a, type b) { return (type)((bits)a * (bits)b); }
};

}  // namespace

/// A vector type whose K-groups are its sums' own type: f32, f64.
template <class V>
struct Plain : V {
  using k_group = typename V::sum;
  using source = k_group;
  using operand = typename V::type;
  static constexpr int group = 1;
  static operand broadcast(const k_group* p) {
    if constexpr (requires { V::broadcast(p); }) return V::broadcast(p);
    else return V::splat(*p);
  }
  static operand load_operand(const k_group* p) { return V::load(p); }
  static operand gather(const source* p, index_t) { return V::load(p); }
  template <class Mask>
  static operand gather_first(const source* p, index_t, Mask m, int) {
    return V::load_first(p, m);
  }
  static void keep(k_group* p, operand row) { V::store(p, row); }
  template <class Mask>
  static operand load_operand_first(const k_group* p, Mask m) {
    return V::load_first(p, m);
  }
  static typename V::type step(operand x, operand row, typename V::type acc) {
    return V::fma(x, row, acc);
  }
};

/// body.operator()<I>() for I from 0 to Count - 1.
template <int Count, class Body>
[[gnu::always_inline]] constexpr void each_constant(const Body& body) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (body.template operator()<I>(), ...);
  }
  (std::make_integer_sequence<int, Count>());
}

/// body(r, v) for each vector of a micro-tile, unrolled: r and v are constants in it.
template <int Rows, int Vectors, class Body>
[[gnu::always_inline]] inline void each(Body&& body) {
  TESSERA_UNROLL
  for (int r = 0; r < Rows; ++r) {
    TESSERA_UNROLL
    for (int v = 0; v < Vectors; ++v) body(r, v);
  }
}

/// The prefetching of a micro-tile during its multiplication: see MicroTile. Tiny products do not
/// prefetch, and reading unused fields would slow them down.
template <int Rows, int Vectors>
struct Ahead {
  index_t times = 0, between = 0;  ///< how often, and after how many steps
  index_t in_row = 0, rows = Rows;
  const char *b = nullptr, *a = nullptr;

  template <class Call>
  [[gnu::always_inline]] void begin(const Call& call, bool prefetches_a) {
    times = call.prefetch_times, between = call.K / times;
    b = call.prefetch, a = prefetches_a ? call.prefetch_a : nullptr;
  }
  /// a_row: of A, in bytes.
  template <class Call>
  [[gnu::always_inline]] void prefetch(const Call& call, index_t a_row) {
    --times;
    if (b != nullptr) {
      TESSERA_UNROLL
      for (int v = 0; v < Vectors; ++v) __builtin_prefetch(b + v * call.prefetch_line, 0, 2);
      b += call.prefetch_k;
    }
    if (a == nullptr) return;
    TESSERA_UNROLL
    for (int v = 0; v < Vectors; ++v) __builtin_prefetch(a + in_row + v * 64, 0, 2);
    in_row += Vectors * 64;
    if (in_row < call.prefetch_a_bytes) return;
    in_row = 0, a += a_row;
    if (--rows == 0) a = nullptr;
  }
};

/// The epilogue of a micro-tile but for its last step, while its sums are in registers: with the
/// roundings of finish_rows(). C is where it is stored; its last vector is masked by `mask`, unless
/// IsWhole.
template <class V, bool IsWhole, int Rows, int Vectors, class Mask>
[[gnu::always_inline]] inline void finish_sums(typename V::type (&acc)[Rows][Vectors],
                                               const FinishRow<typename V::sum>& how,
                                               const typename V::sum* c, index_t c_row, Mask mask) {
  using Sum = typename V::sum;
  const auto load = [&](const Sum* from, int v) {
    return IsWhole || v + 1 < Vectors ? V::load(from + v * V::lanes)
                                      : V::load_first(from + v * V::lanes, mask);
  };
  const bool adds = how.beta != Sum{0};
  bool subtracts = false;  // sums from C: the update that LAPACK uses
  if constexpr (requires { &V::fms; }) subtracts = adds && how.alpha == Sum{-1};
  if (!subtracts && how.alpha != Sum{1}) {
    const auto alpha = V::splat(how.alpha);
    each<Rows, Vectors>([&](int r, int v) { acc[r][v] = V::mul(alpha, acc[r][v]); });
  }
  if (adds) {
    const auto beta = V::splat(how.beta);
    if (!subtracts) {
      each<Rows, Vectors>(
          [&](int r, int v) { acc[r][v] = V::fma(beta, load(c + r * c_row, v), acc[r][v]); });
    } else if constexpr (requires { &V::fms; }) {
      each<Rows, Vectors>(
          [&](int r, int v) { acc[r][v] = V::fms(beta, load(c + r * c_row, v), acc[r][v]); });
    }
  }
  const auto one = V::splat(Sum{1});
  if (how.row_bias != nullptr) {
    each<Rows, Vectors>(
        [&](int r, int v) { acc[r][v] = V::fma(one, V::splat(how.row_bias[r]), acc[r][v]); });
  }
  if (how.column_bias != nullptr) {
    each<Rows, Vectors>(
        [&](int r, int v) { acc[r][v] = V::fma(one, load(how.column_bias, v), acc[r][v]); });
  }
}

/// MR: of the packed panels of A; 0 where A is strided, so that no code exists twice.
template <class V, int MR, int Rows, int Vectors, A PackedA, B EdgeB,
          End AtEnd = EdgeB == B::full || EdgeB == B::copied ? End::either : End::store>
void micro_tile(const MicroTile<typename V::k_group, typename V::sum>& call) {
  static_assert((PackedA == A::packed) == (MR > 0), "only a packed A has an MR");
  using KGroup = typename V::k_group;
  using Sum = typename V::sum;
  typename V::type acc[Rows][Vectors];
  const int last = call.cols - V::lanes * (Vectors - 1);  // columns of the last vector
  const auto mask = V::first(last);
  if (call.resume) {
    each<Rows, Vectors>([&](int r, int v) {
      const Sum* from = call.c + r * call.c_row + v * V::lanes;
      acc[r][v] = v + 1 < Vectors ? V::load(from) : V::load_first(from, mask);
    });
  } else {
    each<Rows, Vectors>([&](int r, int v) { acc[r][v] = V::zero(); });
  }
  // Row r of A is at a[r / 3] + r % 3 strides: x86 addressing (base, scaled index) reaches three
  // rows from one pointer.
  const index_t a_row = PackedA == A::packed ? 1 : call.a_row;
  const index_t a_k = PackedA == A::packed ? MR : call.a_k;
  constexpr int pointers = (Rows + 2) / 3;
  const KGroup* a[pointers];
  TESSERA_UNROLL
  for (int i = 0; i < pointers; ++i) a[i] = call.a + 3 * i * a_row;
  auto* b = [&] {
    if constexpr (EdgeB == B::copied) return reinterpret_cast<const typename V::source*>(call.b);
    else return call.b;
  }();
  const index_t b_k = EdgeB == B::copied ? V::group * call.b_k : call.b_k;
  [[maybe_unused]] KGroup* copy = nullptr;
  if constexpr (EdgeB == B::copied) copy = call.copy;
  // A single partial vector is filled up by a shuffle, for all rows; of several vectors, the last
  // one uses masked multiply-adds.
  constexpr bool by_parts = EdgeB == B::masked && Vectors > 1 && requires { &V::fma_part; };
  // The next micro-tile of C is prefetched into L2 now and into L1 some steps before the end, since
  // B would evict it from L1.
  constexpr bool prefetches = EdgeB == B::full || EdgeB == B::copied;
  const bool finishes = AtEnd == End::finish || (AtEnd == End::either && call.finish != nullptr);
  const index_t to_row = finishes ? call.to_row : call.c_row;
  [[maybe_unused]] const index_t rows_ahead = kRowsAhead * b_k;
  const auto prefetch_next_c = [&]<int Locality>() {
    each<Rows, Vectors>([&](int r, int v) {
      __builtin_prefetch(call.next_c + r * to_row + v * V::lanes, 0, Locality);
    });
  };
  index_t prefetch_at = 0;
  if (prefetches && call.next_c != nullptr) {
    prefetch_next_c.template operator()<2>();
    prefetch_at = 64;
  }
  Ahead<Rows, Vectors> ahead;
  if (prefetches && call.prefetch_times > 0) ahead.begin(call, PackedA != A::packed);
  for (index_t k = call.K;;) {
    index_t stop = k > prefetch_at ? prefetch_at : 0;
    if (ahead.times > 0) {
      ahead.prefetch(call, a_row * index_t{sizeof(KGroup)});
      if (stop < k - ahead.between) stop = k - ahead.between;
    }
    for (; k > stop; --k) {
      typename V::operand row[Vectors];
      TESSERA_UNROLL
      for (int v = 0; v < Vectors; ++v) {
        if constexpr (EdgeB == B::copied) {
          row[v] = V::gather(b + v * V::lanes, call.b_k);
          V::keep(copy + v * V::lanes, row[v]);
        } else {
          if constexpr (EdgeB == B::prefetched) {  // the line that the vector ends in
            const KGroup* end = b + rows_ahead + (v + 1) * V::lanes;
            __builtin_prefetch(reinterpret_cast<const char*>(end) - 1);
          }
          if (EdgeB != B::masked || v + 1 < Vectors) row[v] = V::load_operand(b + v * V::lanes);
          else if constexpr (by_parts) row[v] = V::load_part(b + v * V::lanes, mask);
          else row[v] = V::load_operand_first(b + v * V::lanes, mask);
        }
      }
      if constexpr (EdgeB == B::copied) copy += call.copy_k;
      TESSERA_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const auto x = V::broadcast(PackedA == A::packed ? a[0] + r : a[r / 3] + (r % 3) * a_row);
        TESSERA_UNROLL
        for (int v = 0; v < Vectors; ++v) {
          if constexpr (by_parts) {
            acc[r][v] = v + 1 < Vectors ? V::step(x, row[v], acc[r][v])
                                        : V::fma_part(mask, x, row[v], acc[r][v]);
          } else {
            acc[r][v] = V::step(x, row[v], acc[r][v]);
          }
        }
      }
      TESSERA_UNROLL
      for (int i = 0; i < pointers; ++i) a[i] += a_k;
      b += b_k;
    }
    if (!prefetches || k == 0) break;
    if (k > prefetch_at) continue;
    prefetch_next_c.template operator()<3>();
    prefetch_at = 0;
  }
  if constexpr (requires { V::shifts; }) {
    each<Rows, Vectors>([&](int r, int v) {
      const Sum shift = PackedA == A::packed ? static_cast<Sum>(a[0][r]) : call.shifts[r];
      acc[r][v] = V::add(acc[r][v], V::splat(shift));
    });
  }
  Sum* const to = finishes ? call.to : call.c;
  if constexpr (AtEnd != End::store && by_parts) {  // lanes of zeros
    each<Rows, 1>([&](int r, int) { acc[r][Vectors - 1] = V::fill(mask, acc[r][Vectors - 1]); });
  }
  if constexpr (AtEnd != End::store) {
    if (finishes) finish_sums<V, EdgeB != B::masked>(acc, *call.finish, to, to_row, mask);
  }
  const auto at = [&](int r, int v) { return to + r * to_row + v * V::lanes; };
  if (last != V::lanes) {
    each<Rows, Vectors>([&](int r, int v) {
      if (v + 1 < Vectors) V::store(at(r, v), acc[r][v]);
      else V::store_first(at(r, v), mask, acc[r][v]);
    });
  } else if (call.stream) {
    each<Rows, Vectors>([&](int r, int v) { V::stream(at(r, v), acc[r][v]); });
  } else {
    each<Rows, Vectors>([&](int r, int v) { V::store(at(r, v), acc[r][v]); });
  }
}

}  // namespace tessera::cpu
