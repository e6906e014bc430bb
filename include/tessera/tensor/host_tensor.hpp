// HostTensor<T, Rank>: owns the elements of a tensor in host memory, row-major without gaps.
// Computations take its view(). Movable; a copy is made by copy_of(). For host code only.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>

#include "tessera/core/dtype.hpp"
#include "tessera/core/error.hpp"
#include "tessera/tensor/for_each.hpp"
#include "tessera/tensor/host_buffer.hpp"

namespace tessera {

namespace detail {

/// (?,...,?):(?,...,?,1), rows contiguous.
template <int Rank>
constexpr Layout row_major_pattern() {
  TupleBuilder shape, stride;
  for (int i = 0; i < Rank; ++i) shape.push(dynamic);
  for (int i = 0; i < Rank; ++i) stride.push(i + 1 < Rank ? dynamic : index_t{1});
  return {shape.done(), stride.done()};
}

/// A tensor of pattern L over compact row-major elements of these extents. Throws Error(shape)
/// where the pattern disagrees.
template <Layout L, class T, int Rank>
Tensor<T*, L> view_as(T* data, const std::array<index_t, Rank>& extents) {
  using View = Tensor<T*, L>;
  const auto refuse = [&](const std::string& what) {
    std::string shape;
    for (const index_t extent : extents) shape += cat(shape.empty() ? "(" : ",", extent);
    throw Error(Category::shape, "view: the layout does not fit the tensor " + shape + ")", {},
                what);
  };
  typename View::Values values{};
  if constexpr (L.is_static()) {
    index_t size = 1;
    for (const index_t extent : extents) size *= extent;
    if (L.size() != size || L.cosize() > size)
      refuse(cat("a layout of ", L.size(), " elements that reaches over ", L.cosize()));
  } else {
    static_assert(L.shape.leaves() == Rank && L.rank() == Rank,
                  "view<L>(): a layout with dynamic numbers has one number for each mode of the "
                  "tensor");
    index_t stride = 1;
    for (int i = Rank; i-- > 0;) {
      const index_t want = L.shape.leaf(i), step = L.stride.leaf(i);
      if (want != dynamic && want != extents[i]) refuse(cat("extent ", want, " of mode ", i));
      if (step != dynamic && step != stride && extents[i] > 1)
        refuse(cat("stride ", step, " of mode ", i));
      if constexpr (View::dynamic_count > 0) {
        if (want == dynamic) values.v[count_dynamic_before(L.shape, i)] = extents[i];
        if (step == dynamic)
          values.v[View::dynamic_shapes + count_dynamic_before(L.stride, i)] = stride;
      }
      stride *= extents[i];
    }
  }
  return View(data, values, Whole{});
}

}  // namespace detail

namespace detail {

/// The first coordinate of an access, with the access's source location.
struct FirstCoordinate {
  index_t value;
  Here here;
  template <class I>
  requires std::is_convertible_v<I, index_t>
  constexpr FirstCoordinate(I first,
                            Here place = Here::current())  // NOLINT(google-explicit-constructor)
      : value(static_cast<index_t>(first)), here(place) {}
};

}  // namespace detail

/// Rank extents and their elements of type T, which it owns. Throws Error(shape) for a negative
/// extent, Error(resource) where there is no memory.
template <class T, int Rank = 2>
class TESSERA_CHECKED_SYMBOL HostTensor {
  static_assert(Rank >= 1 && Rank <= 8, "a HostTensor has 1 to 8 modes");

 public:
  using element = T;
  static constexpr int rank = Rank;
  static constexpr Layout pattern = detail::row_major_pattern<Rank>();

  /// No elements.
  HostTensor() = default;
  /// A moved-from tensor has no elements.
  HostTensor(HostTensor&& other) noexcept
      : extents_(std::exchange(other.extents_, {})), buffer_(std::move(other.buffer_)) {}
  HostTensor& operator=(HostTensor&& other) noexcept {
    HostTensor taken(std::move(other));
    std::swap(extents_, taken.extents_);
    std::swap(buffer_, taken.buffer_);
    return *this;
  }
  HostTensor(const HostTensor&) = delete;
  HostTensor& operator=(const HostTensor&) = delete;
  /// All elements zero: HostTensor<float> m(rows, cols), HostTensor<float, 3> t(2, 3, 4).
  template <class... I>
  requires(sizeof...(I) == Rank &&
           (std::is_convertible_v<I, index_t> && ...)) explicit HostTensor(I... extents)
      : HostTensor(uninitialized(extents...)) {
    if (buffer_.bytes() > 0) std::memset(buffer_.data(), 0, buffer_.bytes());
  }
  /// HostTensor<float> m({{1, 2}, {3, 4}}); throws Error(shape) when the rows differ in length.
  HostTensor(std::initializer_list<std::initializer_list<T>> rows) requires(Rank == 2)
      : HostTensor(static_cast<index_t>(rows.size()),
                   rows.size() == 0 ? 0 : static_cast<index_t>(rows.begin()->size())) {
    T* out = data();
    for (const auto& row : rows) {
      if (static_cast<index_t>(row.size()) != extent(1)) {
        throw Error(Category::shape, "HostTensor: the rows differ in length", cat(extent(1)),
                    cat(row.size()));
      }
      out = std::copy(row.begin(), row.end(), out);
    }
  }
  /// Like the constructor, but the elements are not initialised.
  template <class... I>
  static HostTensor uninitialized(I... extents) {
    HostTensor out;
    out.extents_ = {static_cast<index_t>(extents)...};
    out.buffer_ = HostBuffer(checked_bytes(out.extents_.data(), Rank, sizeof(T)));
    return out;
  }

  T* data() { return static_cast<T*>(buffer_.data()); }
  const T* data() const { return static_cast<const T*>(buffer_.data()); }
  index_t extent(int mode) const { return extents_[static_cast<std::size_t>(mode)]; }
  const std::array<index_t, Rank>& extents() const { return extents_; }
  index_t rows() const requires(Rank == 2) { return extents_[0]; }
  index_t cols() const requires(Rank == 2) { return extents_[1]; }
  index_t size() const { return static_cast<index_t>(buffer_.bytes() / sizeof(T)); }
  T* begin() { return data(); }
  T* end() { return data() + size(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }

  /// All elements, extents known at run time.
  auto view() { return detail::view_as<pattern, T, Rank>(data(), extents_); }
  auto view() const { return detail::view_as<pattern, const T, Rank>(data(), extents_); }
  /// All elements with the layout L, whose static numbers must match.
  template <Layout L>
  auto view() {
    return detail::view_as<L, T, Rank>(data(), extents_);
  }
  template <Layout L>
  auto view() const {
    return detail::view_as<L, const T, Rank>(data(), extents_);
  }

  template <class... I>
  T& operator()(detail::FirstCoordinate first, I... others) {
    return data()[offset(first.here, first.value, static_cast<index_t>(others)...)];
  }
  template <class... I>
  const T& operator()(detail::FirstCoordinate first, I... others) const {
    return data()[offset(first.here, first.value, static_cast<index_t>(others)...)];
  }

 private:
  template <class... I>
  index_t offset([[maybe_unused]] Here here, I... coordinates) const {
    static_assert(sizeof...(I) == Rank, "a HostTensor takes one coordinate for each mode");
    if constexpr (contract::kChecked) static_cast<void>(view()(coordinates..., here));
    index_t at = 0;
    int mode = 0;
    ((at = at * extents_[static_cast<std::size_t>(mode++)] + coordinates), ...);
    return at;
  }

  std::array<index_t, Rank> extents_{};
  HostBuffer buffer_;
};

/// The elements of t that exist, in their own memory, converted to T: copy_of(tile) and
/// copy_of<float>(tile).
template <class To = void, AnyTensor T>
auto copy_of(const T& t) {
  using Element = std::conditional_t<std::is_void_v<To>, typename T::value, To>;
  auto out = [&]<int... M>(std::integer_sequence<int, M...>) {
    return HostTensor<Element, T::rank>::uninitialized(t.template valid<M>()...);
  }
  (std::make_integer_sequence<int, T::rank>{});
  const auto target = out.view();
  for_each_position(t, [&](auto... at) {
    target(at...) = detail::element_from<Element>(static_cast<typename T::value>(t(at...)));
  });
  return out;
}

}  // namespace tessera
