// The microkernel of full micro-tiles, 8 rows by 3 vectors, scheduled by hand. When another program
// runs on the core's second hardware thread, its reorder buffer is halved, and a loop whose
// multiply-adds wait for their loads suffers most. Here a row of B is loaded two steps, an element
// of A two rows before its use. All 32 registers are used (24 sums, two rows of B, two elements of
// A), which compilers do not achieve without copies. Measurements: bench/results/cpu/tuning.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "vector_avx512.hpp"

namespace tessera::cpu {

namespace {
// Sum (r, v) is register 8 + r + 8 v; B's rows alternate between 0, 1, 2 and 3, 4, 5; A's elements
// between 6 and 7. P: ps or pd; S: ss or sd; E: bytes of a K-group; MUL(a, b, c): the multiply-add
// of K-groups; AT(E, r, k): where K-group (r, k) of A is, in a panel or in rows. Row k + 2 of B
// is k rows after b.
// clang-format off
#define TESSERA_IN_PANEL(E, r, k) E "*(8*(" #k ")+" #r ")(%[a])"
#define TESSERA_IN_ROWS(E, r, k) TESSERA_ROW_##r(E "*(" #k ")")
#define TESSERA_ROW_0(at) at "(%[a])"
#define TESSERA_ROW_1(at) at "(%[a],%[a_row])"
#define TESSERA_ROW_2(at) at "(%[a],%[a_row],2)"
#define TESSERA_ROW_3(at) at "(%[a],%[a_row3])"
#define TESSERA_ROW_4(at) at "(%[a4])"
#define TESSERA_ROW_5(at) at "(%[a4],%[a_row])"
#define TESSERA_ROW_6(at) at "(%[a4],%[a_row],2)"
#define TESSERA_ROW_7(at) at "(%[a4],%[a_row3])"
#define TESSERA_NUMBER(S, AT, E, a, r, k) "vbroadcast" S " " AT(E, r, k) ", %%zmm" #a "\n\t"
#define TESSERA_B_0 "(%[b])"
#define TESSERA_B_1 "(%[b],%[b_row])"
#define TESSERA_B_2 "(%[b],%[b_row],2)"
#define TESSERA_B_3 "(%[b],%[b_row3])"
#define TESSERA_ROW_OF_B(P, b0, b1, b2, k, KEEP) \
  "vmovu" P " 0" TESSERA_B_##k ", %%zmm" #b0 "\n\t" \
  "vmovu" P " 64" TESSERA_B_##k ", %%zmm" #b1 "\n\t" \
  "vmovu" P " 128" TESSERA_B_##k ", %%zmm" #b2 "\n\t" KEEP(P, b0, b1, b2)
/// KEEP: follows the loads of a row of B: empty, or the store of its packed copy.
#define TESSERA_KEEP_NOTHING(P, b0, b1, b2)
#define TESSERA_KEEP_COPY(P, b0, b1, b2) \
  "vmovu" P " %%zmm" #b0 ", (%[copy])\n\t" \
  "vmovu" P " %%zmm" #b1 ", 64(%[copy])\n\t" \
  "vmovu" P " %%zmm" #b2 ", 128(%[copy])\n\t" \
  "add $192, %[copy]\n\t"
/// PREFETCH: follows every four steps: empty; one or two rows of the next operand, the last one
/// repeatedly; or, each time that `fours` is a multiple of `rarely` + 1, a cache line of each of
/// the next rows of A.
#define TESSERA_PREFETCH_NOTHING
#define TESSERA_PREFETCH_LINES(rarely) \
  "test $" #rarely ", %[fours]\n\t" \
  "jnz 8f\n\t" \
  "prefetcht1 (%[next])\n\t" \
  "prefetcht1 (%[next],%[a_row])\n\t" \
  "prefetcht1 (%[next],%[a_row],2)\n\t" \
  "prefetcht1 (%[next],%[a_row3])\n\t" \
  "prefetcht1 (%[next4])\n\t" \
  "prefetcht1 (%[next4],%[a_row])\n\t" \
  "prefetcht1 (%[next4],%[a_row],2)\n\t" \
  "prefetcht1 (%[next4],%[a_row3])\n\t" \
  "add %[next_step], %[next]\n\t" \
  "add %[next_step], %[next4]\n" \
  "8:\n\t"
#define TESSERA_PREFETCH_ROW \
  "prefetcht1 (%[next])\n\t" \
  "prefetcht1 64(%[next])\n\t" \
  "prefetcht1 128(%[next])\n\t" \
  "add %[next_row], %[next]\n\t" \
  "sub $1, %[next_times]\n\t" \
  "cmovz %[next_times], %[next_row]\n\t"
#define TESSERA_PREFETCH_ROWS \
  TESSERA_PREFETCH_ROW \
  "cmpb $0, %[twice]\n\t" \
  "je 8f\n\t" \
  TESSERA_PREFETCH_ROW \
  "8:\n\t"
/// The first time and then every `c_wait` times, prefetches one of the some eight rows of the next
/// tile of C, with c as the pointer until this tile stores its own sums and c_row, no longer
/// needed, as the counter. c_wait = 0: never. Where rows begin within a cache line, tiles to the
/// left have read that one, so each row's last cache line is prefetched.
#define TESSERA_PREFETCH_C \
  "sub $1, %[c_row]\n\t" \
  "jnz 16f\n\t" \
  "mov %[c_wait], %[c_row]\n\t" \
  "prefetcht1 63(%[c])\n\t" \
  "prefetcht1 127(%[c])\n\t" \
  "prefetcht1 191(%[c])\n\t" \
  "add %[to_row], %[c]\n" \
  "16:\n\t"
#define TESSERA_FMA_PS(a, b, c) "vfmadd231ps %%zmm" #b ", %%zmm" #a ", %%zmm" #c "\n\t"
#define TESSERA_FMA_PD(a, b, c) "vfmadd231pd %%zmm" #b ", %%zmm" #a ", %%zmm" #c "\n\t"
#define TESSERA_DOT_BF16(a, b, c) "vdpbf16ps %%zmm" #b ", %%zmm" #a ", %%zmm" #c "\n\t"
/// Bytes: those of A unsigned and those of B signed, or the other way round.
#define TESSERA_DOT_US(a, b, c) "vpdpbusd %%zmm" #b ", %%zmm" #a ", %%zmm" #c "\n\t"
#define TESSERA_DOT_SU(a, b, c) "vpdpbusd %%zmm" #a ", %%zmm" #b ", %%zmm" #c "\n\t"
#define TESSERA_MULTIPLY(MUL, a, b0, b1, b2, c0, c1, c2) MUL(a, b0, c0) MUL(a, b1, c1) MUL(a, b2, c2)
/// Rows 0 to 5 of step k, whose row of B is in b0, b1, b2.
#define TESSERA_SIX_ROWS(MUL, S, AT, E, k, b0, b1, b2) \
  TESSERA_MULTIPLY(MUL, 6, b0, b1, b2, 8, 16, 24) TESSERA_NUMBER(S, AT, E, 6, 2, k) \
  TESSERA_MULTIPLY(MUL, 7, b0, b1, b2, 9, 17, 25) TESSERA_NUMBER(S, AT, E, 7, 3, k) \
  TESSERA_MULTIPLY(MUL, 6, b0, b1, b2, 10, 18, 26) TESSERA_NUMBER(S, AT, E, 6, 4, k) \
  TESSERA_MULTIPLY(MUL, 7, b0, b1, b2, 11, 19, 27) TESSERA_NUMBER(S, AT, E, 7, 5, k) \
  TESSERA_MULTIPLY(MUL, 6, b0, b1, b2, 12, 20, 28) TESSERA_NUMBER(S, AT, E, 6, 6, k) \
  TESSERA_MULTIPLY(MUL, 7, b0, b1, b2, 13, 21, 29) TESSERA_NUMBER(S, AT, E, 7, 7, k)
/// The last step but one: it loads the first numbers of the last.
#define TESSERA_LAST_BUT_ONE(MUL, S, AT, E, k, b0, b1, b2) \
  TESSERA_SIX_ROWS(MUL, S, AT, E, k, b0, b1, b2) \
  TESSERA_MULTIPLY(MUL, 6, b0, b1, b2, 14, 22, 30) TESSERA_NUMBER(S, AT, E, 6, 0, k + 1) \
  TESSERA_MULTIPLY(MUL, 7, b0, b1, b2, 15, 23, 31) TESSERA_NUMBER(S, AT, E, 7, 1, k + 1)
#define TESSERA_LAST(MUL, S, AT, E, k, b0, b1, b2) \
  TESSERA_SIX_ROWS(MUL, S, AT, E, k, b0, b1, b2) \
  TESSERA_MULTIPLY(MUL, 6, b0, b1, b2, 14, 22, 30) TESSERA_MULTIPLY(MUL, 7, b0, b1, b2, 15, 23, 31)
/// A step before these: it loads the row of B of step k + 2 as well.
#define TESSERA_STEP(P, MUL, S, AT, E, k, b0, b1, b2, KEEP) \
  "prefetcht0 512+" AT(E, 0, k) "\n\t" \
  TESSERA_LAST_BUT_ONE(MUL, S, AT, E, k, b0, b1, b2) TESSERA_ROW_OF_B(P, b0, b1, b2, k, KEEP)
#define TESSERA_ZERO(P, c0, c1, c2) \
  "vpxord %%zmm" #c0 ", %%zmm" #c0 ", %%zmm" #c0 "\n\t" \
  "vpxord %%zmm" #c1 ", %%zmm" #c1 ", %%zmm" #c1 "\n\t" \
  "vpxord %%zmm" #c2 ", %%zmm" #c2 ", %%zmm" #c2 "\n\t"
#define TESSERA_LOAD(P, c0, c1, c2) \
  "vmovu" P " (%[c]), %%zmm" #c0 "\n\t" \
  "vmovu" P " 64(%[c]), %%zmm" #c1 "\n\t" \
  "vmovu" P " 128(%[c]), %%zmm" #c2 "%{%[mask]%}%{z%}\n\t" \
  "add %[c_row], %[c]\n\t"
#define TESSERA_STORE(P, c0, c1, c2) \
  "vmovu" P " %%zmm" #c0 ", (%[c])\n\t" \
  "vmovu" P " %%zmm" #c1 ", 64(%[c])\n\t" \
  "vmovu" P " %%zmm" #c2 ", 128(%[c])%{%[mask]%}\n\t" \
  "add %[fours], %[c]\n\t"
/// Non-temporal stores: whole, aligned vectors.
#define TESSERA_STREAM(P, c0, c1, c2) \
  "vmovnt" P " %%zmm" #c0 ", (%[c])\n\t" \
  "vmovnt" P " %%zmm" #c1 ", 64(%[c])\n\t" \
  "vmovnt" P " %%zmm" #c2 ", 128(%[c])\n\t" \
  "add %[fours], %[c]\n\t"
/// An epilogue for whole vectors only (see MicroTile::finish): alpha, or beta, in 0; b at
/// FinishRow; `last` at the bias.
#define TESSERA_SCALE(P, c0, c1, c2) \
  "vmul" P " %%zmm0, %%zmm" #c0 ", %%zmm" #c0 "\n\t" \
  "vmul" P " %%zmm0, %%zmm" #c1 ", %%zmm" #c1 "\n\t" \
  "vmul" P " %%zmm0, %%zmm" #c2 ", %%zmm" #c2 "\n\t"
#define TESSERA_ADD_C(P, c0, c1, c2) \
  "vfmadd231" P " (%[c]), %%zmm0, %%zmm" #c0 "\n\t" \
  "vfmadd231" P " 64(%[c]), %%zmm0, %%zmm" #c1 "\n\t" \
  "vfmadd231" P " 128(%[c]), %%zmm0, %%zmm" #c2 "\n\t" \
  "add %[fours], %[c]\n\t"
#define TESSERA_FROM_C(P, c0, c1, c2) \
  "vfmsub231" P " (%[c]), %%zmm0, %%zmm" #c0 "\n\t" \
  "vfmsub231" P " 64(%[c]), %%zmm0, %%zmm" #c1 "\n\t" \
  "vfmsub231" P " 128(%[c]), %%zmm0, %%zmm" #c2 "\n\t" \
  "add %[fours], %[c]\n\t"
#define TESSERA_ADD_3(P, b0, b1, b2, c0, c1, c2) \
  "vadd" P " %%zmm" #b0 ", %%zmm" #c0 ", %%zmm" #c0 "\n\t" \
  "vadd" P " %%zmm" #b1 ", %%zmm" #c1 ", %%zmm" #c1 "\n\t" \
  "vadd" P " %%zmm" #b2 ", %%zmm" #c2 ", %%zmm" #c2 "\n\t"
#define TESSERA_ADD_OF_COLUMNS(P, c0, c1, c2) TESSERA_ADD_3(P, 0, 1, 2, c0, c1, c2)
#define TESSERA_ADD_OF_ROW_PS(P, c0, c1, c2) \
  "vbroadcastss (%[last]), %%zmm0\n\tadd $4, %[last]\n\t" TESSERA_ADD_3(P, 0, 0, 0, c0, c1, c2)
#define TESSERA_ADD_OF_ROW_PD(P, c0, c1, c2) \
  "vbroadcastsd (%[last]), %%zmm0\n\tadd $8, %[last]\n\t" TESSERA_ADD_3(P, 0, 0, 0, c0, c1, c2)
/// For bytes that packing B has shifted: `finish` points at the correction of each row.
#define TESSERA_ADD_SHIFT(P, c0, c1, c2) \
  "vpbroadcastd (%[b]), %%zmm0\n\tadd $4, %[b]\n\t" \
  "vpaddd %%zmm0, %%zmm" #c0 ", %%zmm" #c0 "\n\t" \
  "vpaddd %%zmm0, %%zmm" #c1 ", %%zmm" #c1 "\n\t" \
  "vpaddd %%zmm0, %%zmm" #c2 ", %%zmm" #c2 "\n\t"
#define TESSERA_FINISH_SHIFTS "mov %[finish], %[b]\n\t" TESSERA_ROWS_OF_C(TESSERA_ADD_SHIFT, )
#define TESSERA_FINISH_NOTHING
/// Jumps to `label` unless bit `bit` of `how` is set.
#define TESSERA_UNLESS(bit, label) "testb $" #bit ", %[how]\n\tjz " #label "\n\t"
#define TESSERA_FINISH(P, S, E, ADD_OF_ROW) \
  TESSERA_UNLESS(62, 15f) \
  "mov %[finish], %[b]\n\t" \
  TESSERA_UNLESS(2, 11f) \
  "vbroadcast" S " (%[b]), %%zmm0\n\t" \
  TESSERA_ROWS_OF_C(TESSERA_SCALE, P) \
  "11:\n\t" \
  TESSERA_UNLESS(4, 12f) \
  "vbroadcast" S " " E "(%[b]), %%zmm0\n\t" \
  TESSERA_ROWS_OF_C(TESSERA_ADD_C, P) \
  "mov %[to], %[c]\n" \
  "12:\n\t" \
  TESSERA_UNLESS(32, 13f) \
  "vbroadcast" S " " E "(%[b]), %%zmm0\n\t" \
  TESSERA_ROWS_OF_C(TESSERA_FROM_C, P) \
  "mov %[to], %[c]\n" \
  "13:\n\t" \
  TESSERA_UNLESS(8, 14f) \
  "mov 2*" E "(%[b]), %[last]\n\t" \
  TESSERA_ROWS_OF_C(ADD_OF_ROW, P) \
  "14:\n\t" \
  TESSERA_UNLESS(16, 15f) \
  "mov 8+2*" E "(%[b]), %[last]\n\t" \
  "vmovu" P " (%[last]), %%zmm0\n\t" \
  "vmovu" P " 64(%[last]), %%zmm1\n\t" \
  "vmovu" P " 128(%[last]), %%zmm2\n\t" \
  TESSERA_ROWS_OF_C(TESSERA_ADD_OF_COLUMNS, P) \
  "15:\n\t"
#define TESSERA_FINISH_PS TESSERA_FINISH("ps", "ss", "4", TESSERA_ADD_OF_ROW_PS)
#define TESSERA_FINISH_PD TESSERA_FINISH("pd", "sd", "8", TESSERA_ADD_OF_ROW_PD)
#define TESSERA_ROWS_OF_C(WHAT, P) \
  WHAT(P, 8, 16, 24) WHAT(P, 9, 17, 25) WHAT(P, 10, 18, 26) WHAT(P, 11, 19, 27) \
  WHAT(P, 12, 20, 28) WHAT(P, 13, 21, 29) WHAT(P, 14, 22, 30) WHAT(P, 15, 23, 31)
/// c is first the address of sums to resume from, or null. ADVANCE: moves a, and a4, by this many
/// steps. From 6 on, `last` is 0 or 1.
#define TESSERA_TILE(P, S, E, MUL, FINISH, AT, ADVANCE, KEEP, PREFETCH) \
  "test %[c], %[c]\n\t" \
  "jnz 1f\n\t" \
  TESSERA_ROWS_OF_C(TESSERA_ZERO, P) \
  "jmp 2f\n" \
  "1:\n\t" \
  TESSERA_ROWS_OF_C(TESSERA_LOAD, P) \
  "2:\n\t" \
  "mov %[next_c], %[c]\n\t" \
  "mov %[c_wait], %[c_row]\n\t" /* to 1, or 0 */ \
  "neg %[c_row]\n\t" \
  "sbb %[c_row], %[c_row]\n\t" \
  "neg %[c_row]\n\t" \
  "cmp $2, %[last]\n\t" \
  "jl 6f\n\t" \
  TESSERA_ROW_OF_B(P, 0, 1, 2, 0, KEEP) TESSERA_ROW_OF_B(P, 3, 4, 5, 1, KEEP) \
  TESSERA_NUMBER(S, AT, E, 6, 0, 0) TESSERA_NUMBER(S, AT, E, 7, 1, 0) \
  "lea (%[b],%[b_row],2), %[b]\n\t" \
  "test %[fours], %[fours]\n\t" \
  "jz 4f\n\t" \
  ".p2align 6\n" \
  "3:\n\t" \
  TESSERA_STEP(P, MUL, S, AT, E, 0, 0, 1, 2, KEEP) TESSERA_STEP(P, MUL, S, AT, E, 1, 3, 4, 5, KEEP) \
  TESSERA_STEP(P, MUL, S, AT, E, 2, 0, 1, 2, KEEP) TESSERA_STEP(P, MUL, S, AT, E, 3, 3, 4, 5, KEEP) \
  ADVANCE(E, "4") PREFETCH \
  "lea (%[b],%[b_row],4), %[b]\n\t" \
  "sub $1, %[fours]\n\t" \
  "jnz 3b\n" \
  "4:\n\t" \
  "cmp $4, %[last]\n\t" \
  "jl 5f\n\t" \
  TESSERA_STEP(P, MUL, S, AT, E, 0, 0, 1, 2, KEEP) TESSERA_STEP(P, MUL, S, AT, E, 1, 3, 4, 5, KEEP) \
  ADVANCE(E, "2") \
  "lea (%[b],%[b_row],2), %[b]\n\t" \
  "sub $2, %[last]\n" \
  "5:\n\t" \
  TESSERA_LAST_BUT_ONE(MUL, S, AT, E, 0, 0, 1, 2) TESSERA_LAST(MUL, S, AT, E, 1, 3, 4, 5) \
  ADVANCE(E, "2") \
  "sub $2, %[last]\n" \
  "6:\n\t" \
  "test %[last], %[last]\n\t" \
  "jz 7f\n\t" \
  TESSERA_ROW_OF_B(P, 0, 1, 2, 0, KEEP) \
  TESSERA_NUMBER(S, AT, E, 6, 0, 0) TESSERA_NUMBER(S, AT, E, 7, 1, 0) \
  TESSERA_LAST(MUL, S, AT, E, 0, 0, 1, 2) \
  "7:\n\t" \
  "mov %[to], %[c]\n\t" \
  "mov %[to_row], %[fours]\n\t" \
  FINISH \
  "testb $1, %[how]\n\t" \
  "jnz 9f\n\t" \
  TESSERA_ROWS_OF_C(TESSERA_STORE, P) \
  "jmp 10f\n" \
  "9:\n\t" \
  TESSERA_ROWS_OF_C(TESSERA_STREAM, P) \
  "10:\n\t"
#define TESSERA_ALONG_PANEL(E, steps) "add $8*" E "*" steps ", %[a]\n\t"
#define TESSERA_ALONG_ROWS(E, steps) \
  "add $" E "*" steps ", %[a]\n\t" \
  "add $" E "*" steps ", %[a4]\n\t"
// clang-format on

/// The micro_tile of 8 rows of 3 vectors, with the same sums in the same order.
template <class V, A PackedA, B HowB>
void scheduled_tile(const MicroTile<typename V::k_group, typename V::sum>& call) {
  using KGroup = typename V::k_group;
  using T = typename V::sum;
  constexpr int rows = 8, vectors = 3;
  static_assert(sizeof(T) * V::lanes == 64 && sizeof(T) == sizeof(KGroup));
  constexpr bool in_panel = PackedA == A::packed, whole = std::is_integral_v<T>;
  const FinishRow<T>* const epilogue = call.finish;
  const bool finishes = epilogue != nullptr;
  if ((!in_panel && call.a_k != 1) || (whole && finishes))
    return micro_tile < V, in_panel ? rows : 0, rows, vectors, PackedA, HowB > (call);
  const index_t row = finishes ? call.to_row : call.c_row;
  constexpr auto bytes = index_t{sizeof(T)};
  const KGroup *a = call.a, *b = call.b;
  T *const to = finishes ? call.to : call.c, *c = call.resume ? call.c : nullptr;
  const index_t to_row = row * bytes;
  const index_t b_row = call.b_k * bytes, b_row3 = 3 * b_row;
  index_t c_row = call.c_row * bytes;
  index_t fours = call.K < 2 ? 0 : (call.K - 2) / 4;  // each step loads two steps ahead
  index_t last = call.K - 4 * fours;
  // Spread over the steps: issued all at once, loads from L3 or memory would delay those of B.
  const T* const next_c = call.next_c;
  const bool prefetches_c = next_c != nullptr;
  const index_t c_wait = prefetches_c ? std::max<index_t>(1, (fours + rows / 2) / rows) : 0;
  const int last_cols = call.cols - (vectors - 1) * V::lanes;
  const auto mask = V::first(last_cols);
  // Bits: non-temporal stores; alpha, beta, row and column biases are present; sums are subtracted
  // from C.
  unsigned how = call.stream && last_cols == V::lanes;
  const void* finish = epilogue;
  if constexpr (whole) {
    finish = in_panel ? static_cast<const void*>(a + rows * call.K) : call.shifts;
  } else if (finishes) {
    static_assert(offsetof(FinishRow<T>, beta) == bytes);
    static_assert(offsetof(FinishRow<T>, row_bias) == 2 * bytes);
    static_assert(offsetof(FinishRow<T>, column_bias) == 2 * bytes + 8);
    const bool adds = epilogue->beta != T{0}, subtracts = adds && epilogue->alpha == T{-1};
    how |= (subtracts ? 32u : (epilogue->alpha != T{1} ? 2u : 0u) | (adds ? 4u : 0u)) |
           (epilogue->row_bias != nullptr ? 8u : 0u) |
           (epilogue->column_bias != nullptr ? 16u : 0u);
  }
// 30 operands, the maximum of GCC, where a "+" counts twice.
#define TESSERA_RESULTS \
  [b] "+&r"(b), [c] "+&r"(c), [c_row] "+&r"(c_row), [fours] "+&r"(fours), [last] "+&r"(last)
#define TESSERA_OPERANDS                                                                \
  [b_row] "r"(b_row), [b_row3] "r"(b_row3), [to] "m"(to), [to_row] "m"(to_row),         \
      [next_c] "m"(next_c), [c_wait] "m"(c_wait), [how] "m"(how), [finish] "m"(finish), \
      [mask] "Yk"(mask)
#define TESSERA_CLOBBERED                                                                         \
  "memory", "cc", "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", \
      "zmm10", "zmm11", "zmm12", "zmm13", "zmm14", "zmm15", "zmm16", "zmm17", "zmm18", "zmm19",   \
      "zmm20", "zmm21", "zmm22", "zmm23", "zmm24", "zmm25", "zmm26", "zmm27", "zmm28", "zmm29",   \
      "zmm30", "zmm31"
#define TESSERA_PANEL_TILE(KEEP, P, S, E, MUL, FINISH)                                         \
  asm volatile(TESSERA_TILE(P, S, E, MUL, FINISH, TESSERA_IN_PANEL, TESSERA_ALONG_PANEL, KEEP, \
                            TESSERA_PREFETCH_ROWS TESSERA_PREFETCH_C)                          \
               : [a] "+&r"(a), [next] "+&r"(next), [next_row] "+&r"(next_row),                 \
                 [next_times] "+&r"(next_times), [copy] "+&r"(copy), TESSERA_RESULTS           \
               : [twice] "m"(twice), TESSERA_OPERANDS                                          \
               : TESSERA_CLOBBERED)
#define TESSERA_ROWS_TILE(PREFETCH, P, S, E, MUL, FINISH)                                       \
  asm volatile(                                                                                 \
      TESSERA_TILE(P, S, E, MUL, FINISH, TESSERA_IN_ROWS, TESSERA_ALONG_ROWS,                   \
                   TESSERA_KEEP_NOTHING, PREFETCH)                                              \
      : [a] "+&r"(a), [a4] "+&r"(a4), [next] "+&r"(next), [next4] "+&r"(next4), TESSERA_RESULTS \
      : [a_row] "r"(a_row), [a_row3] "r"(a_row3), [next_step] "m"(next_step), TESSERA_OPERANDS  \
      : TESSERA_CLOBBERED)
// One of the two variants, for the K-groups and sums of V.
#define TESSERA_TILE_OF_V(TILE, HOW)                                                             \
  do {                                                                                           \
    if constexpr (sizeof(T) == 8) TILE(HOW, "pd", "sd", "8", TESSERA_FMA_PD, TESSERA_FINISH_PD); \
    else if constexpr (V::group == 1)                                                            \
      TILE(HOW, "ps", "ss", "4", TESSERA_FMA_PS, TESSERA_FINISH_PS);                             \
    else if constexpr (!whole) TILE(HOW, "ps", "ss", "4", TESSERA_DOT_BF16, TESSERA_FINISH_PS);  \
    else if constexpr (!requires { V::shifts; } && V::signed_a)                                  \
      TILE(HOW, "ps", "ss", "4", TESSERA_DOT_SU, TESSERA_FINISH_NOTHING);                        \
    else if constexpr (!requires { V::shifts; })                                                 \
      TILE(HOW, "ps", "ss", "4", TESSERA_DOT_US, TESSERA_FINISH_NOTHING);                        \
    else if constexpr (V::signed_a)                                                              \
      TILE(HOW, "ps", "ss", "4", TESSERA_DOT_SU, TESSERA_FINISH_SHIFTS);                         \
    else TILE(HOW, "ps", "ss", "4", TESSERA_DOT_US, TESSERA_FINISH_SHIFTS);                      \
  } while (false)
  if constexpr (in_panel) {
    const char* next =
        call.prefetch != nullptr ? call.prefetch : reinterpret_cast<const char*>(call.b);
    index_t next_row = call.prefetch != nullptr ? call.prefetch_k : 0,
            next_times = call.prefetch_times;
    const bool twice = 4 * next_times > call.K;
    KGroup* copy = call.copy;
    if constexpr (HowB == B::copied) TESSERA_TILE_OF_V(TESSERA_PANEL_TILE, TESSERA_KEEP_COPY);
    else TESSERA_TILE_OF_V(TESSERA_PANEL_TILE, TESSERA_KEEP_NOTHING);
  } else {
    const KGroup* a4 = a + 4 * call.a_row;
    const index_t a_row = call.a_row * bytes, a_row3 = 3 * a_row;
    const char *next = call.prefetch_a, *next4 = next + (next == nullptr ? 0 : 4 * a_row);
    constexpr index_t kSteps = 64 / bytes;  // of a line
    const index_t times = fours < kSteps / 2 ? 1 : fours / (kSteps / 4);
    const index_t next_step = next == nullptr ? 0 : (call.prefetch_a_bytes + times - 1) / times;
    if (next != nullptr) {
      if constexpr (bytes == 4)
        TESSERA_TILE_OF_V(TESSERA_ROWS_TILE, TESSERA_PREFETCH_LINES(3) TESSERA_PREFETCH_C);
      else TESSERA_TILE_OF_V(TESSERA_ROWS_TILE, TESSERA_PREFETCH_LINES(1) TESSERA_PREFETCH_C);
    } else if (prefetches_c) {
      TESSERA_TILE_OF_V(TESSERA_ROWS_TILE, TESSERA_PREFETCH_C);
    } else {
      TESSERA_TILE_OF_V(TESSERA_ROWS_TILE, TESSERA_PREFETCH_NOTHING);
    }
  }
}

/// The same table with scheduled_tile for its full micro-tiles.
template <class V, class Table>
constexpr Table with_scheduled_tile(Table table) {
  table.packed[7][2] = scheduled_tile<V, A::packed, B::full>;
  if constexpr (sizeof(typename Table::Source) * V::group == sizeof(typename V::k_group))
    table.direct[7][2] = scheduled_tile<V, A::strided, B::full>;
  if constexpr (sizeof(typename Table::Source) == sizeof(typename V::k_group)) {
    table.no_prefetch[0][7][2] = table.no_prefetch[1][7][2] = table.direct[7][2];
    table.fused_packing[7][2] = scheduled_tile<V, A::packed, B::copied>;
  }
  return table;
}

}  // namespace

}  // namespace tessera::cpu
