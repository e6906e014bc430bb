// Storage: elements with a static layout, held by value. The same type serves as shared memory (a
// member of a kernel's Shared struct) and as registers (a local variable). Not initialised unless
// made by zeros().
#pragma once

#include "tessera/tensor/tensor.hpp"

namespace tessera {

template <class T, Layout L>
struct alignas(16) TESSERA_CHECKED_SYMBOL Storage {
  using element = T;
  static constexpr Layout layout = L;
  T elements[static_cast<std::size_t>(L.cosize())];

  TESSERA_HD constexpr auto view() { return Tensor<T*, L>(elements); }
  TESSERA_HD constexpr auto view() const { return Tensor<const T*, L>(elements); }
  TESSERA_HD constexpr T& operator()(index_t i, index_t j, Here here = Here::current()) {
    require_element(here, i, j);
    return elements[view().offset(i, j)];
  }
  TESSERA_HD constexpr const T& operator()(index_t i, index_t j,
                                           Here here = Here::current()) const {
    require_element(here, i, j);
    return elements[view().offset(i, j)];
  }
  TESSERA_HD constexpr T& operator()(index_t i, Here here = Here::current()) {
    require_element(here, i);
    return elements[view().offset(i)];
  }
  TESSERA_HD constexpr const T& operator()(index_t i, Here here = Here::current()) const {
    require_element(here, i);
    return elements[view().offset(i)];
  }

 private:
  template <class... I>
  TESSERA_HD constexpr void require_element([[maybe_unused]] Here here,
                                            [[maybe_unused]] I... coordinates) const {
    if constexpr (contract::kChecked) static_cast<void>(view()(coordinates..., here));
  }
};

/// A row-major tile of T: Tile<float, 16, 8> is (16,8):(8,1).
template <class T, index_t... Extents>
using Tile = Storage<T, row_major(Extents...)>;

/// A row-major tile of registers, all zero.
template <class T, index_t... Extents>
TESSERA_HD constexpr Tile<T, Extents...> zeros() {
  return Tile<T, Extents...>{};
}

}  // namespace tessera
