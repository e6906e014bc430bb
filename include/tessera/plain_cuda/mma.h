// Matrix instructions of a warp: CUDA C++ Programming Guide, "Warp Matrix Functions". Lanes hold
// elements as PTX's mma instructions spread them. Products are exact, sums are rounded in the order
// of k: a GPU's sums may differ in their last bits.
#pragma once
#include "parts/letters_begin.h"
// Up to letters_end.h a program's macros of one capital letter do not matter.

#include <algorithm>
#include <cstring>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "parts/async.h"

namespace nvcuda::wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

namespace details {

template <class T>
struct Stored {
  using type = T;
};
template <>
struct Stored<precision::tf32> {
  using type = float;
};

/// Where the elements of a fragment with this many rows of 8 are: register by register, `Packed`
/// neighbours in each. `along`: m or n; `depth`: k, or n of an accumulator.
template <int Along, int Depth, int Packed>
struct Spread {
  static constexpr int count = Along * Depth / 32;
  static constexpr int along(int lane, int i) { return lane / 4 + 8 * (i / Packed % (Along / 8)); }
  static constexpr int depth(int lane, int i) {
    return lane % 4 * Packed + i % Packed + 4 * Packed * (i / Packed / (Along / 8));
  }
  static constexpr int lane_of(int along, int depth) { return along % 8 * 4 + depth / Packed % 4; }
  static constexpr int index_of(int along, int depth) {
    return depth % Packed + Packed * (along / 8 + Along / 8 * (depth / (4 * Packed)));
  }
};

template <class Use, int M, int N, int K, class T>
struct SpreadOf {
  static constexpr bool is_sum = std::is_same_v<Use, accumulator>;
  static constexpr int along = std::is_same_v<Use, matrix_b> ? N : M;
  static constexpr int packed = is_sum ? 2 : sizeof(T) >= 4 ? 1 : 4 / static_cast<int>(sizeof(T));
  using type = Spread<along, is_sum ? N : K, packed>;
};

inline int lane() { return tessera::plain_cuda::lane_index() & 31; }

/// The byte with which the compiler fills variables without a value (src/plain_cuda/build.cpp): it
/// makes no likely number, and not the NaN that arithmetic gives.
inline constexpr unsigned char kNoValue = 0xfe;

/// Reports a fragment that has an element without a value: of small elements two, since one may
/// have this pattern by chance. Bytes are not examined.
template <class F>
TESSERA_UNSEEN void require_values(const F& f, tessera::plain_cuda::Place place) {
  using T = typename F::element_type;
  if constexpr (sizeof(T) == 1) return;
  constexpr std::size_t piece = std::max(sizeof(T), sizeof(float));
  unsigned char empty[piece];
  std::memset(empty, kNoValue, piece);
  const auto* const all = reinterpret_cast<const unsigned char*>(f.x);
  for (std::size_t at = 0; at + piece <= sizeof f.x; at += piece) {
    if (std::memcmp(all + at, empty, piece) == 0)
      return tessera::plain_cuda::tell_empty_fragment(place);
  }
}

}  // namespace details

template <class Use, int M, int N, int K, class T, class Layout = void>
class fragment {
 public:
  static_assert((M == 16 && N == 16 && (K == 16 || K == 8)) || (M == 32 && N == 8 && K == 16) ||
                    (M == 8 && N == 32 && K == 16) || (M == 8 && N == 8 && K == 4),
                "wmma has the shapes 16x16x16, 32x8x16, 8x32x16, 16x16x8 and 8x8x4");
  using element_type = typename details::Stored<T>::type;
  using storage_element_type = element_type;
  using spread = typename details::SpreadOf<Use, M, N, K, element_type>::type;
  static constexpr int num_elements = spread::count;
  static constexpr int num_storage_elements = num_elements;
  element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout, class V>
inline void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, const V& value) {
  for (auto& each : f.x) each = value;
}

/// A float as a tensor core sees it.
inline float __float_to_tf32(float x) {
  constexpr tessera::plain_cuda::NarrowFormat tf32{8, 10};
  const unsigned bits = tessera::plain_cuda::narrow_bits(tf32, x);
  return __uint_as_float(bits << 13);
}

namespace details {
/// The element's place in memory; columns of A and rows of B run along k.
template <class Use, class Spread>
constexpr std::size_t offset(int lane, int i, std::size_t stride, bool is_row_major) {
  const int along = Spread::along(lane, i), depth = Spread::depth(lane, i);
  const int row = std::is_same_v<Use, matrix_b> ? depth : along;
  const int column = std::is_same_v<Use, matrix_b> ? along : depth;
  return is_row_major ? static_cast<std::size_t>(row) * stride + static_cast<std::size_t>(column)
                      : static_cast<std::size_t>(column) * stride + static_cast<std::size_t>(row);
}
}  // namespace details

namespace details {
template <class P>
P loaded(const P* at, tessera::plain_cuda::Place place) {
  P value;
  tessera::plain_cuda::load_operand(place, &value, at, sizeof value);
  return value;
}
template <class P>
void stored(P* at, P value, tessera::plain_cuda::Place place) {
  tessera::plain_cuda::store_result(place, at, &value, sizeof value);
}
}  // namespace details

template <class Use, int M, int N, int K, class T, class Layout, class P>
inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const P* from, unsigned stride,
                             TESSERA_PLACE) {
  using F = fragment<Use, M, N, K, T, Layout>;
  constexpr bool is_row_major = std::is_same_v<Layout, row_major>;
  for (int i = 0; i < F::num_elements; ++i)
    f.x[i] = details::loaded(
        from + details::offset<Use, typename F::spread>(details::lane(), i, stride, is_row_major),
        place);
  tessera::plain_cuda::exchange("", 0, "ldmatrix", place);
}
template <int M, int N, int K, class T, class P>
inline void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const P* from, unsigned stride,
                             layout_t layout, TESSERA_PLACE) {
  using F = fragment<accumulator, M, N, K, T>;
  for (int i = 0; i < F::num_elements; ++i)
    f.x[i] = details::loaded(from + details::offset<accumulator, typename F::spread>(
                                        details::lane(), i, stride, layout == mem_row_major),
                             place);
  tessera::plain_cuda::exchange("", 0, "ldmatrix", place);
}
template <int M, int N, int K, class T, class P>
inline void store_matrix_sync(P* to, const fragment<accumulator, M, N, K, T>& f, unsigned stride,
                              layout_t layout, TESSERA_PLACE) {
  using F = fragment<accumulator, M, N, K, T>;
  details::require_values(f, place);
  for (int i = 0; i < F::num_elements; ++i)
    details::stored<P>(to + details::offset<accumulator, typename F::spread>(
                                details::lane(), i, stride, layout == mem_row_major),
                       f.x[i], place);
  tessera::plain_cuda::exchange("", 0, "ldmatrix", place);
}

namespace details {

template <class T>
TESSERA_UNSEEN T element_at(const std::byte* slots, int lane, std::size_t offset, int index) {
  T out;
  std::memcpy(&out,
              slots + static_cast<std::size_t>(lane) * tessera::plain_cuda::kSlot + offset +
                  static_cast<std::size_t>(index) * sizeof(T),
              sizeof(T));
  return out;
}

/// Sums are kept in double, float or int, as a tensor core keeps them.
template <class D>
using Sum = std::conditional_t<std::is_same_v<D, double>, double,
                               std::conditional_t<std::is_same_v<D, int>, int, float>>;
template <class S, class T>
S factor(T x) {
  if constexpr (std::is_same_v<S, int>) return static_cast<int>(x);
  else if constexpr (std::is_same_v<S, double>) return static_cast<double>(x);
  else return static_cast<float>(x);
}

template <class FD, class FA, class FB, class FC, int K>
TESSERA_UNSEEN void multiply(FD& d, const FC& c, const std::byte* slots) {
  using A = typename FA::element_type;
  using B = typename FB::element_type;
  using S = Sum<typename FD::element_type>;
  for (int i = 0; i < FD::num_elements; ++i) {
    const int row = FD::spread::along(lane(), i), column = FD::spread::depth(lane(), i);
    S sum = factor<S>(c.x[i]);
    for (int k = 0; k < K; ++k) {
      const S a = factor<S>(
          element_at<A>(slots, FA::spread::lane_of(row, k), 0, FA::spread::index_of(row, k)));
      const S b = factor<S>(element_at<B>(slots, FB::spread::lane_of(column, k), sizeof(FA),
                                          FB::spread::index_of(column, k)));
      if constexpr (std::is_same_v<S, double>) sum = std::fma(a, b, sum);
      else sum += a * b;
    }
    d.x[i] = sum;
  }
}

}  // namespace details

template <int M, int N, int K, class T, class U, class LA, class LB, class D, class C>
TESSERA_UNSEEN void mma_sync(fragment<accumulator, M, N, K, D>& d,
                             const fragment<matrix_a, M, N, K, T, LA>& a,
                             const fragment<matrix_b, M, N, K, U, LB>& b,
                             const fragment<accumulator, M, N, K, C>& c, bool = false,
                             TESSERA_PLACE) {
  using FA = fragment<matrix_a, M, N, K, T, LA>;
  using FB = fragment<matrix_b, M, N, K, U, LB>;
  details::require_values(a, place);
  details::require_values(b, place);
  details::require_values(c, place);
  std::byte mine[sizeof(FA) + sizeof(FB)];
  static_assert(sizeof mine <= tessera::plain_cuda::kSlot);
  std::memcpy(mine, &a, sizeof a);
  std::memcpy(mine + sizeof a, &b, sizeof b);
  const std::byte* const slots = tessera::plain_cuda::exchange(mine, sizeof mine, "mma", place);
  tessera::plain_cuda::tell_matrix_flops(2ll * M * N * K / 32, place);
  const fragment<accumulator, M, N, K, C> sums = c;  // d may be c
  details::multiply<fragment<accumulator, M, N, K, D>, FA, FB, fragment<accumulator, M, N, K, C>,
                    K>(d, sums, slots);
}

}  // namespace nvcuda::wmma
#include "parts/letters_end.h"
