// Storage: elements with a static layout, held by value. The same type serves as shared memory (a
// member of a kernel's Shared struct) and as registers (a local variable). Not initialised unless
// made by zeros(). Its elements are reached by coordinates or through view(), and it is copied as
// any value; where accesses are recorded, so is each element that is copied from or to shared
// memory.
#pragma once

#include "tessera/tensor/tensor.hpp"

namespace tessera {

template <class T, Layout L>
struct alignas(16) TESSERA_CHECKED_SYMBOL Storage {
  using element = T;
  static constexpr Layout layout = L;

#if TESSERA_CHECK
  Storage() = default;
  constexpr Storage(const Storage& other, Here here = Here::current()) { take(other, here); }
  /// An operator has no default arguments to capture its caller's location: reports name this line.
  constexpr Storage& operator=(const Storage& other) {
    take(other, Here::current());
    return *this;
  }
#endif
  TESSERA_HD constexpr auto view() {
    tell_tile();
    return Tensor<T*, L>(elements_);
  }
  TESSERA_HD constexpr auto view() const {
    tell_tile();
    return Tensor<const T*, L>(elements_);
  }
  TESSERA_HD constexpr decltype(auto) operator()(index_t i, index_t j,
                                                 Here here = Here::current()) {
    return at(*this, here, i, j);
  }
  TESSERA_HD constexpr decltype(auto) operator()(index_t i, index_t j,
                                                 Here here = Here::current()) const {
    return at(*this, here, i, j);
  }
  TESSERA_HD constexpr decltype(auto) operator()(index_t i, Here here = Here::current()) {
    return at(*this, here, i);
  }
  TESSERA_HD constexpr decltype(auto) operator()(index_t i, Here here = Here::current()) const {
    return at(*this, here, i);
  }

 private:
  T elements_[static_cast<std::size_t>(L.cosize())];

  template <class Self, class... I>
  static TESSERA_HD constexpr decltype(auto) at(Self& self, [[maybe_unused]] Here here,
                                                I... coordinates) {
    if constexpr (contract::kChecked || detail::kRecorded) return self.view()(coordinates..., here);
    else return (self.elements_[self.view().offset(coordinates...)]);
  }

  TESSERA_HD constexpr void tell_tile() const {
#if TESSERA_CHECK
    if (!std::is_constant_evaluated() && detail::recorder != nullptr)
      detail::recorder->tile(elements_, kTileInfo);
#endif
  }
#if TESSERA_CHECK
  constexpr void take(const Storage& other, Here here) {
    if (!std::is_constant_evaluated() && detail::recorder != nullptr &&
        (detail::recorder->is_shared(elements_) || detail::recorder->is_shared(other.elements_))) {
      const auto from = other.view();
      const auto to = view();
      for (index_t i = 0; i < L.size(); ++i) to(i, here) = from(i, here);
    } else {
      for (index_t i = 0; i < L.cosize(); ++i) elements_[i] = other.elements_[i];
    }
  }
  static bool locate(index_t offset, index_t* coordinates) {
    for (index_t i = 0; i < L.size(); ++i) {
      if (L(i) != offset) continue;
      index_t rest = i;
      for (int mode = 0; mode < L.rank(); ++mode) {
        const index_t extent = L.shape.mode(mode).product();
        coordinates[mode] = rest % extent;
        rest /= extent;
      }
      return true;
    }
    return false;
  }
  static constexpr detail::TileInfo tile_info() {
    detail::TileInfo info{L.rank(), {}, sizeof(T), sizeof(elements_), locate};
    for (int mode = 0; mode < L.rank() && mode < detail::TileInfo::kMaxRank; ++mode)
      info.extents[mode] = L.shape.mode(mode).product();
    return info;
  }
  static constexpr detail::TileInfo kTileInfo = tile_info();
#endif
};

namespace detail {
template <class T, Layout L>
inline constexpr bool kIsPlain<Storage<T, L>> = kIsPlain<T>;
}  // namespace detail

/// A row-major tile of T: Tile<float, 16, 8> is (16,8):(8,1).
template <class T, index_t... Extents>
using Tile = Storage<T, row_major(Extents...)>;

/// A row-major tile of registers, all zero.
template <class T, index_t... Extents>
TESSERA_HD constexpr Tile<T, Extents...> zeros() {
  return Tile<T, Extents...>{};
}

}  // namespace tessera
