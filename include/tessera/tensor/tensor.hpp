// Tensor: a pointer-like engine plus a layout. A view: copying it copies no element.
//
// The layout is a template argument whose unknown extents and strides (`dynamic`) are kept in the
// object, so a tensor with a static layout is just a pointer. An edge says how much of the nominal
// shape really exists: a tile cut at the border of a matrix is `Clipped`, everything else is
// `Whole`, at no cost. Element access returns references: t(i, j) of a float tensor is a float&. It
// must name an element that exists: checked where TESSERA_CONTRACTS is on (core/contract.hpp).
// Where TESSERA_CHECK is on, a Recorded replaces that reference (core/recorder.hpp). Knows
// nothing about threads.
#pragma once

#include <type_traits>
#include <utility>

#include "tessera/core/config.hpp"
#include "tessera/core/contract.hpp"
#include "tessera/core/here.hpp"
#include "tessera/core/recorder.hpp"
#include "tessera/layout/layout.hpp"
#include "tessera/tensor/refused.hpp"

namespace tessera {

/// The whole nominal shape exists.
struct Whole {};
/// Only the first valid[i] positions of mode i exist; they may be none.
template <int Rank>
struct Clipped {
  index_t valid[Rank];
};

namespace detail {

/// The element type of an engine's reference: T of T&, `value_type` of a proxy.
template <class Reference>
struct Referred {
  using type = std::remove_reference_t<Reference>;
};
template <class Proxy>
requires requires { typename Proxy::value_type; }
struct Referred<Proxy> {
  using type = typename Proxy::value_type;
};

#if TESSERA_CHECK
/// A recorded element in memory; for a constant one, its value.
template <class T>
constexpr auto recorded(T* at, const Here& here) {
  if constexpr (std::is_const_v<T>)
    return Recorded<std::remove_const_t<T>>(const_cast<std::remove_const_t<T>*>(at), here).load();
  else return Recorded<T>(at, here);
}
#endif

/// The element at `offset` of an engine; a recording engine also gets the source location.
template <class Pointer>
TESSERA_HD constexpr decltype(auto) access(const Pointer& data, index_t offset,
                                           [[maybe_unused]] Here here) {
  if constexpr (requires { data.at(offset, here); }) return data.at(offset, here);
#if TESSERA_CHECK
  else if constexpr (std::is_pointer_v<Pointer>) return recorded(data + offset, here);
#endif
  else return data[offset];
}

/// The run-time values of a layout's `dynamic` leaves: shape leaves first, then stride leaves. Like
/// an edge it may be empty, so a class that holds it inherits from it. An empty
/// [[no_unique_address]] member would not work: nvcc 13.0 lays out kernel arguments as if it took
/// space, so the kernel reads the arguments after it from wrong offsets.
template <int N>
struct DynamicValues {
  index_t v[N];
};
template <>
struct DynamicValues<0> {};

constexpr int count_dynamic(const IntTuple& tuple) {
  int count = 0;
  for (int i = 0; i < tuple.leaves(); ++i) count += tuple.leaf(i) == dynamic ? 1 : 0;
  return count;
}
constexpr int count_dynamic_before(const IntTuple& tuple, int leaf) {
  int count = 0;
  for (int i = 0; i < leaf; ++i) count += tuple.leaf(i) == dynamic ? 1 : 0;
  return count;
}
/// Leaves of the modes before `mode`.
constexpr int leaves_before(const IntTuple& tuple, int mode) {
  int count = 0;
  for (int i = 0; i < mode; ++i) count += tuple.mode(i).leaves();
  return count;
}
/// The leaves of `pattern` with the unknown ones taken from v[0], v[1], ...
constexpr IntTuple fill_dynamic(const IntTuple& pattern, const index_t* v) {
  IntTuple out = pattern;
  int next = 0;
  for (int i = 0; i < pattern.leaves(); ++i) {
    if (pattern.leaf(i) == dynamic) out = out.with_leaf(i, v[next++]);
  }
  return out;
}

}  // namespace detail

/// Any (M,N) matrix: all extents and strides dynamic.
inline constexpr Layout kAnyMatrix{tuple(dynamic, dynamic), tuple(dynamic, dynamic)};
/// An (M,N) matrix whose rows are contiguous.
inline constexpr Layout kRowMajorMatrix{tuple(dynamic, dynamic), tuple(dynamic, 1)};

/// A view of elements at `Pointer` (or an engine like one), placed by the layout L; Edge says how
/// much of its shape exists. Owns nothing: the memory must outlive it.
template <class Pointer, Layout L, class Edge = Whole>
class TESSERA_CHECKED_SYMBOL Tensor
    : private detail::DynamicValues<detail::count_dynamic(L.shape) +
                                    detail::count_dynamic(L.stride)>,
      private Edge {
 public:
  using pointer = Pointer;
  using reference = decltype(std::declval<const Pointer&>()[index_t{}]);
  using element = typename detail::Referred<reference>::type;
  using value = std::remove_cv_t<element>;  ///< the element type
  using edge = Edge;
  static constexpr Layout pattern = L;  ///< the layout with `dynamic` where unknown
  static constexpr int rank = L.rank();
  static constexpr bool is_clipped = !std::is_same_v<Edge, Whole>;
  static constexpr int dynamic_shapes = detail::count_dynamic(L.shape);
  static constexpr int dynamic_count = dynamic_shapes + detail::count_dynamic(L.stride);
  using Values = detail::DynamicValues<dynamic_count>;

  TESSERA_HD constexpr Tensor() : Values{}, Edge{} {}
  /// `values`: the unknown extents, then the unknown strides, in the order of the layout's leaves.
  template <class... V>
  requires(sizeof...(V) == dynamic_count && (std::is_convertible_v<V, index_t> && ...) &&
           !is_clipped) TESSERA_HD constexpr explicit Tensor(Pointer data, V... values)
      : Values{static_cast<index_t>(values)...}, Edge{}, data_(data) {}
  TESSERA_HD constexpr Tensor(Pointer data, Values values, Edge edge)
      : Values(values), Edge(edge), data_(data) {}
  /// A view of mutable elements is also one of constant elements.
  template <class P>
  requires(!std::is_same_v<P, Pointer> && std::is_convertible_v<P, Pointer>) TESSERA_HD
      constexpr Tensor(const Tensor<P, L, Edge>& other)  // NOLINT(google-explicit-constructor)
      : Values(other.values()), Edge(other.edge_value()), data_(other.data()) {}

  TESSERA_HD constexpr const Pointer& data() const { return data_; }
  TESSERA_HD constexpr const Values& values() const { return *this; }
  TESSERA_HD constexpr const Edge& edge_value() const { return *this; }

  template <int I>
  TESSERA_HD constexpr index_t shape_leaf() const {
    if constexpr (L.shape.leaf(I) != dynamic) return L.shape.leaf(I);
    else return values().v[detail::count_dynamic_before(L.shape, I)];
  }
  template <int I>
  TESSERA_HD constexpr index_t stride_leaf() const {
    if constexpr (L.stride.leaf(I) != dynamic) return L.stride.leaf(I);
    else return values().v[dynamic_shapes + detail::count_dynamic_before(L.stride, I)];
  }

  /// The layout with all values known.
  constexpr Layout layout() const {
    if constexpr (dynamic_count == 0) return L;
    else {
      return Layout{detail::fill_dynamic(L.shape, values().v),
                    detail::fill_dynamic(L.stride, values().v + dynamic_shapes)};
    }
  }

  /// Nominal extent of a mode (the product of its leaves).
  template <int Mode>
  TESSERA_HD constexpr index_t extent() const {
    constexpr int first = detail::leaves_before(L.shape, Mode);
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return (index_t{1} * ... * shape_leaf<first + I>());
    }
    (std::make_integer_sequence<int, L.shape.mode(Mode).leaves()>{});
  }
  /// How much of the mode exists: at most its extent.
  template <int Mode>
  TESSERA_HD constexpr index_t valid() const {
    if constexpr (is_clipped) return edge_value().valid[Mode];
    else return extent<Mode>();
  }
  /// Stride of a mode that is no nested tuple.
  template <int Mode>
  TESSERA_HD constexpr index_t stride() const {
    static_assert(L.stride.mode(Mode).leaves() == 1,
                  "a nested mode has several strides: use layout()");
    return stride_leaf<detail::leaves_before(L.stride, Mode)>();
  }
  /// Number of positions of the nominal shape.
  TESSERA_HD constexpr index_t size() const {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return (index_t{1} * ... * shape_leaf<I>());
    }
    (std::make_integer_sequence<int, L.shape.leaves()>{});
  }
  /// Does every position of the nominal shape exist?
  TESSERA_HD constexpr bool is_full() const {
    if constexpr (!is_clipped) return true;
    else {
      return [&]<int... I>(std::integer_sequence<int, I...>) {
        return ((edge_value().valid[I] == extent<I>()) && ...);
      }
      (std::make_integer_sequence<int, rank>{});
    }
  }
  /// Does the element at these coordinates exist?
  template <class... I>
  TESSERA_HD constexpr bool contains(I... coordinates) const {
    static_assert(sizeof...(I) == rank, "contains() takes one coordinate for each mode");
    return [&]<int... M>(std::integer_sequence<int, M...>) {
      return ((coordinates >= 0 && coordinates < valid<M>()) && ...);
    }
    (std::make_integer_sequence<int, rank>{});
  }

  /// Distance of an element from data(), in elements. One coordinate for each mode, or one for all
  /// (first mode fastest).
  template <class... I>
  TESSERA_HD constexpr index_t offset(I... coordinates) const {
    static_assert(sizeof...(I) == rank || sizeof...(I) == 1,
                  "a tensor takes one coordinate for each mode, or a single one for all");
    if constexpr (sizeof...(I) == rank)
      return offset_by_mode(std::make_integer_sequence<int, rank>{}, coordinates...);
    else return leaves_offset<0, L.shape.leaves()>(static_cast<index_t>(coordinates)...);
  }

  TESSERA_HD constexpr decltype(auto) operator()(index_t i, Here here = Here::current()) const {
    return at(here, i);
  }
  TESSERA_HD constexpr decltype(auto) operator()(index_t i, index_t j,
                                                 Here here = Here::current()) const {
    return at(here, i, j);
  }
  TESSERA_HD constexpr decltype(auto) operator()(index_t i, index_t j, index_t k,
                                                 Here here = Here::current()) const {
    return at(here, i, j, k);
  }
  TESSERA_HD constexpr decltype(auto) operator()(index_t i, index_t j, index_t k, index_t l,
                                                 Here here = Here::current()) const {
    return at(here, i, j, k, l);
  }
  TESSERA_HD constexpr decltype(auto) operator()(index_t i, index_t j, index_t k, index_t l,
                                                 index_t m, Here here = Here::current()) const {
    return at(here, i, j, k, l, m);
  }
  TESSERA_HD constexpr decltype(auto) operator()(index_t i, index_t j, index_t k, index_t l,
                                                 index_t m, index_t n,
                                                 Here here = Here::current()) const {
    return at(here, i, j, k, l, m, n);
  }
  TESSERA_HD constexpr decltype(auto) operator()(index_t i, index_t j, index_t k, index_t l,
                                                 index_t m, index_t n, index_t o,
                                                 Here here = Here::current()) const {
    return at(here, i, j, k, l, m, n, o);
  }
  TESSERA_HD constexpr decltype(auto) operator()(index_t i, index_t j, index_t k, index_t l,
                                                 index_t m, index_t n, index_t o, index_t p,
                                                 Here here = Here::current()) const {
    return at(here, i, j, k, l, m, n, o, p);
  }

 private:
  template <class... I>
  TESSERA_HD constexpr decltype(auto) at(Here here, I... coordinates) const {
    if constexpr (contract::kChecked) {
      contract::require(exists(coordinates...), [&] {
        refuse(here, std::make_integer_sequence<int, rank>{}, coordinates...);
      });
    }
#if TESSERA_CHECK
    if (!std::is_constant_evaluated() && !exists(coordinates...)) [[unlikely]]
      tell_outside(here, std::make_integer_sequence<int, rank>{}, coordinates...);
#endif
    return detail::access(data_, offset(coordinates...), here);
  }

  /// contains(), also for a single position in all modes.
  template <class... I>
  TESSERA_HD constexpr bool exists(I... coordinates) const {
    if constexpr (sizeof...(I) == rank) return contains(coordinates...);
    else {
      index_t rest = (coordinates, ...);
      if (rest < 0 || rest >= size()) return false;
      return [&]<int... M>(std::integer_sequence<int, M...>) {
        const auto inside = [&](index_t extent, index_t valid) {
          const bool is_inside = rest % extent < valid;
          rest /= extent;
          return is_inside;
        };
        return (inside(extent<M>(), valid<M>()) && ...);
      }
      (std::make_integer_sequence<int, rank>{});
    }
  }
  template <int... M, class... I>
  [[noreturn]] constexpr void refuse(Here here, std::integer_sequence<int, M...>,
                                     I... coordinates) const {
    const index_t position[] = {coordinates...}, nominal[] = {extent<M>()...},
                  existing[] = {valid<M>()...};
    detail::refuse_element(position, sizeof...(I), nominal, existing, rank, here);
  }
#if TESSERA_CHECK
  template <int... M, class... I>
  void tell_outside(const Here& here, std::integer_sequence<int, M...>, I... coordinates) const {
    if (detail::recorder == nullptr) return;
    const index_t position[] = {coordinates...}, existing[] = {valid<M>()...};
    detail::recorder->outside(first_address(), position, sizeof...(I), existing, rank, here);
  }
  /// The address of the first element; null for an engine without one.
  const void* first_address() const {
    if constexpr (std::is_pointer_v<Pointer>) return data_;
    else if constexpr (requires { data_.address(index_t{}); }) return data_.address(index_t{});
    else return nullptr;
  }
#endif

  template <int... M, class... I>
  TESSERA_HD constexpr index_t offset_by_mode(std::integer_sequence<int, M...>,
                                              I... coordinates) const {
    return (leaves_offset<detail::leaves_before(L.shape, M), L.shape.mode(M).leaves()>(
                static_cast<index_t>(coordinates)) +
            ... + index_t{0});
  }
  /// A position within the leaves First .. First + Count, first leaf fastest.
  template <int First, int Count>
  TESSERA_HD constexpr index_t leaves_offset(index_t position) const {
    if constexpr (Count == 1) return position * stride_leaf<First>();
    else {
      const index_t inner = shape_leaf<First>();
      return position % inner * stride_leaf<First>() +
             leaves_offset<First + 1, Count - 1>(position / inner);
    }
  }

  Pointer data_{};
};

/// A view with layout pattern L: `tensor<kAnyMatrix>(data, M, N, row_stride, col_stride)`.
template <Layout L, class Pointer, class... V>
TESSERA_HD constexpr Tensor<Pointer, L> tensor(Pointer data, V... values) {
  static_assert(sizeof...(V) == Tensor<Pointer, L>::dynamic_count &&
                    (std::is_convertible_v<V, index_t> && ...),
                "tensor<L>(data, values...) takes one value for each dynamic extent of L, then one "
                "for each dynamic stride: tensor<kRowMajorMatrix>(data, M, N, row_stride)");
  return Tensor<Pointer, L>(data, values...);
}

namespace detail {

/// The same tensor over another engine. An engine is pointer-like: copyable, engine + n, engine[n].
template <class Engine, class P, Layout L, class E>
TESSERA_HD constexpr auto with_engine(const Tensor<P, L, E>& t, Engine engine) {
  return Tensor<Engine, L, E>(engine, t.values(), t.edge_value());
}

}  // namespace detail

template <class T>
struct IsTensor : std::false_type {};
template <class P, Layout L, class E>
struct IsTensor<Tensor<P, L, E>> : std::true_type {};
/// The type of a tensor's elements, without const.
template <class T>
using ElementOf = std::remove_cv_t<typename std::remove_cvref_t<T>::element>;
template <class T>
concept AnyTensor = IsTensor<std::remove_cvref_t<T>>::value;

}  // namespace tessera
