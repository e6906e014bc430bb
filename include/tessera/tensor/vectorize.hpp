// vectorize<1, 4>(t): the same elements, four at a time. An (M,N) tensor becomes an (M,N/4) tensor
// whose elements are Vec<T, 4>. Where the lanes are contiguous they are read and written with one
// access of up to 16 bytes; then the first lane of every vector must be aligned to it on a GPU
// (see can_vectorize()); the CPU takes any alignment. Otherwise lane by lane.
//
// Extents must be multiples of the width, as can_vectorize() checks, and on the CPU a width that
// does not fit throws. t(i, j) of the result is a proxy: write `Vec<float, 4> v = t(i, j)`.
#pragma once

#include <cstdint>
#include <cstring>

#include "tessera/tensor/assemble.hpp"
#include "tessera/tensor/refused.hpp"
#include "tessera/tensor/vec.hpp"

namespace tessera {

namespace detail {

/// Are the positions of `element`, first mode fastest, contiguous?
constexpr bool is_contiguous(const Layout& element) {
  index_t step = 1;
  for (int i = 0; i < element.shape.leaves(); ++i) {
    if (element.shape.leaf(i) == 1) continue;
    if (element.stride.leaf(i) != step) return false;
    step *= element.shape.leaf(i);
  }
  return true;
}

/// How many elements, from a multiple of that number on, an engine keeps contiguous.
template <class Pointer>
inline constexpr index_t kRun = 0;
template <class T>
inline constexpr index_t kRun<T*> = index_t{1} << 40;

/// The address of an element of an engine that keeps neighbours contiguous.
template <class T>
TESSERA_HD constexpr T* address_of(T* data, index_t offset) {
  return data + offset;
}
template <class Pointer>
requires requires(const Pointer& p) { p.address(index_t{}); }
TESSERA_HD constexpr auto address_of(const Pointer& data, index_t offset) {
  return data.address(offset);
}

/// The strides of a vector's lanes that are only known at run time.
template <Layout Element>
using LaneStrides = DynamicValues<count_dynamic(Element.stride)>;

/// The distance of lane number `lane` from lane 0.
template <Layout Element>
TESSERA_HD constexpr index_t lane_offset(index_t lane, const LaneStrides<Element>& strides) {
  return Tensor<const char*, Element>(nullptr, strides, Whole{}).offset(lane);
}

/// `Vec` in memory: one wide access on a GPU, any alignment on the CPU.
template <class V, class T>
TESSERA_CHECKED_SYMBOL TESSERA_HD V load_vec(const T* from, [[maybe_unused]] Here here) {
#if TESSERA_GPU_CODE
  return *reinterpret_cast<const V*>(from);
#else
  if (!touch(reinterpret_cast<const V*>(from), Access::load, here)) return V{};
  V out;
  std::memcpy(static_cast<void*>(&out), static_cast<const void*>(from), sizeof(V));
  return out;
#endif
}
template <class V, class T>
TESSERA_CHECKED_SYMBOL TESSERA_HD void store_vec(T* to, const V& value,
                                                 [[maybe_unused]] Here here) {
#if TESSERA_GPU_CODE
  *reinterpret_cast<V*>(to) = value;
#else
  if (!may_store(reinterpret_cast<const V*>(to), value, here)) return;
  std::memcpy(static_cast<void*>(to), static_cast<const void*>(&value), sizeof(V));
#endif
}

}  // namespace detail

/// The proxy that a vectorized tensor returns for an element: converts to Vec, can be assigned a
/// Vec. `P` is
/// the engine of the elements, `Element` the layout of one vector's lanes.
template <class P, Layout Element>
class VecReference {
  using Scalar = std::remove_cv_t<
      typename detail::Referred<decltype(std::declval<const P&>()[index_t{}])>::type>;
  static constexpr int kLanes = static_cast<int>(Element.size());
  static constexpr bool kWide = detail::is_contiguous(Element) && detail::kRun<P> >= kLanes;

 public:
  using value_type = Vec<Scalar, kLanes>;

  TESSERA_HD constexpr VecReference(const P& data, index_t offset,
                                    const detail::LaneStrides<Element>& strides, Here here)
      : data_(data), offset_(offset), strides_(strides), here_(here) {}
  constexpr VecReference(const VecReference&) = default;

  TESSERA_HD constexpr value_type load() const {
    if constexpr (kWide) {
      return detail::load_vec<value_type>(detail::address_of(data_, offset_), here_);
    } else if constexpr (requires { data_.template load_lanes<value_type>(offset_, here_); }) {
      if constexpr (detail::is_contiguous(Element))
        return data_.template load_lanes<value_type>(offset_, here_);
      else return load_each();
    } else {
      return load_each();
    }
  }
  TESSERA_HD constexpr operator value_type() const { return load(); }
  TESSERA_HD constexpr Scalar operator[](index_t lane) const { return load()[lane]; }

  TESSERA_HD constexpr const VecReference& operator=(const value_type& value) const {
    if constexpr (kWide) {
      detail::store_vec(detail::address_of(data_, offset_), value, here_);
    } else if constexpr (detail::is_contiguous(Element) &&
                         requires { data_.store_lanes(offset_, value, here_); }) {
      data_.store_lanes(offset_, value, here_);
    } else {
      TESSERA_UNROLL
      for (int lane = 0; lane < kLanes; ++lane) each(lane) = value[lane];
    }
    return *this;
  }
  TESSERA_HD constexpr const VecReference& operator=(const VecReference& other) const {
    return *this = other.load();
  }
  TESSERA_HD constexpr const VecReference& operator+=(const value_type& value) const {
    return *this = load() + value;
  }

 private:
  TESSERA_HD constexpr decltype(auto) each(int lane) const {
    return detail::access(data_, offset_ + detail::lane_offset<Element>(lane, strides_), here_);
  }
  TESSERA_HD constexpr value_type load_each() const {
    value_type out{};
    TESSERA_UNROLL
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = each(lane);
    return out;
  }

  P data_;
  index_t offset_;
  detail::LaneStrides<Element> strides_;
  Here here_;
};

/// The engine of a vectorized tensor: offsets count elements of the underlying engine `P`.
template <class P, Layout Element>
class VectorPointer : private detail::LaneStrides<Element> {
 public:
  using Strides = detail::LaneStrides<Element>;
  static constexpr Layout element_layout = Element;

  TESSERA_HD constexpr VectorPointer() : Strides{} {}
  TESSERA_HD constexpr VectorPointer(P data, Strides strides) : Strides(strides), data_(data) {}

  TESSERA_HD constexpr VecReference<P, Element> operator[](index_t offset) const {
    return {data_, offset, *this, Here{}};
  }
  TESSERA_HD constexpr VecReference<P, Element> at(index_t offset, Here here) const {
    return {data_, offset, *this, here};
  }
  TESSERA_HD constexpr VectorPointer operator+(index_t offset) const {
    return {data_ + offset, *this};
  }
  /// The address of lane 0 of that vector.
  TESSERA_HD constexpr auto address(index_t offset) const requires requires(const P& p) {
    detail::address_of(p, offset);
  }
  { return detail::address_of(data_, offset); }
  /// The engine of the elements.
  TESSERA_HD constexpr const P& base() const { return data_; }

 private:
  P data_{};
};

namespace detail {

template <index_t... Widths>
TESSERA_HD constexpr index_t width_of(int m) {
  const index_t widths[] = {Widths...};
  return widths[m];
}
template <Layout L, index_t... Widths>
constexpr bool widths_fit() {
  const index_t widths[] = {Widths...};
  for (int m = 0; m < L.rank(); ++m) {
    const index_t extent = L.shape.leaf(m);
    if (extent != dynamic && extent % widths[m] != 0) return false;
  }
  return true;
}
/// The layout of the vectors.
template <Layout L, index_t... Widths>
constexpr Layout vectors_of() {
  const index_t widths[] = {Widths...};
  Layout out = L;
  for (int m = 0; m < L.rank(); ++m) {
    const index_t extent = L.shape.leaf(m);
    out.shape = out.shape.with_leaf(m, extent == dynamic ? dynamic : extent / widths[m]);
    out.stride = out.stride.with_leaf(m, times(L.stride.leaf(m), widths[m]));
  }
  return out;
}
/// The layout of one vector's lanes; a mode of width 1 has stride 0.
template <Layout L, index_t... Widths>
constexpr Layout lanes_of() {
  Layout out(tuple(Widths...), L.stride);
  for (int m = 0; m < L.rank(); ++m) {
    if (out.shape.leaf(m) == 1) out.stride = out.stride.with_leaf(m, 0);
  }
  return out;
}

}  // namespace detail

/// May vectorize<Widths...>(t) be used: do the extents divide, and is every vector aligned? Call it
/// once for each tile.
template <index_t... Widths, class P, Layout L, class E>
TESSERA_HD constexpr bool can_vectorize(const Tensor<P, L, E>& t) {
  static_assert(sizeof...(Widths) == L.rank() && detail::is_flat(L),
                "can_vectorize<...> takes one width for each mode, and modes that do not nest");
  constexpr index_t count = (index_t{1} * ... * Widths);
  constexpr bool wide =
      detail::is_contiguous(detail::lanes_of<L, Widths...>()) && detail::kRun<P> >= count;
  return [&]<int... M>(std::integer_sequence<int, M...>) {
    bool fits = ((t.template valid<M>() % Widths == 0) && ...);
    if constexpr (wide) {
      using Scalar = std::remove_cvref_t<decltype(*detail::address_of(t.data(), 0))>;
      constexpr auto aligned = static_cast<index_t>(detail::vec_alignment(sizeof(Scalar), count));
      constexpr index_t step = aligned / static_cast<index_t>(sizeof(Scalar));
      fits = fits &&
             reinterpret_cast<std::intptr_t>(detail::address_of(t.data(), 0)) % aligned == 0 &&
             ((t.template extent<M>() <= Widths || t.template stride<M>() * Widths % step == 0) &&
              ...);
    }
    return fits;
  }
  (std::make_integer_sequence<int, L.rank()>{});
}

/// The elements of t in vectors: (M,N) to (M/W0,N/W1) of Vec<T, W0*W1>, lanes in the order of the
/// modes, first mode fastest.
template <index_t... Widths, class P, Layout L, class E>
TESSERA_HD constexpr auto vectorize(const Tensor<P, L, E>& t) {
  static_assert(sizeof...(Widths) == L.rank(), "vectorize<...> takes one width for each mode");
  static_assert(((Widths > 0) && ...), "the widths of vectorize<...> are positive");
  static_assert(detail::is_flat(L),
                "only a tensor without nested modes is vectorized: coalesce it first");
  static_assert(detail::widths_fit<L, Widths...>(),
                "the widths of vectorize<...> divide the extents of the tensor");
  constexpr Layout pattern = detail::vectors_of<L, Widths...>();
  constexpr Layout lanes = detail::lanes_of<L, Widths...>();
  detail::for_each_number<L.rank()>([&](auto m) {
    detail::require_vectors(t.template valid<m>(), detail::width_of<Widths...>(m));
  });

  using Engine = VectorPointer<P, lanes>;
  typename Engine::Strides strides{};
  if constexpr (detail::count_dynamic(lanes.stride) > 0) {
    detail::for_each_number<L.rank()>([&](auto m) {
      if constexpr (Engine::element_layout.stride.leaf(m) == dynamic)
        strides.v[detail::count_dynamic_before(Engine::element_layout.stride, m)] =
            t.template stride<m>();
    });
  }
  const auto edge = [&] {
    if constexpr (!Tensor<P, L, E>::is_clipped) return Whole{};
    else {
      return detail::clipped_by<L.rank()>(
          [&](auto m) { return t.template valid<m>() / detail::width_of<Widths...>(m); });
    }
  }();
  return detail::assemble<pattern>(
      Engine(t.data(), strides), edge,
      [&](auto m) { return t.template extent<m>() / detail::width_of<Widths...>(m); },
      [&](auto m) { return t.template stride<m>() * detail::width_of<Widths...>(m); });
}

}  // namespace tessera
