// Storage: elements with a static layout, held by value. The same type serves as shared memory (a
// member of a kernel's Shared struct) and as registers (a local variable). Not initialised unless
// made by zeros().
#pragma once

#include "tessera/tensor/tensor.hpp"

namespace tessera {

template <class T, Layout L>
struct alignas(16) Storage {
  using element = T;
  static constexpr Layout layout = L;
  T elements[static_cast<std::size_t>(L.cosize())];

  TESSERA_HD constexpr auto view() { return Tensor<T*, L>(elements); }
  TESSERA_HD constexpr auto view() const { return Tensor<const T*, L>(elements); }
  TESSERA_HD constexpr T& operator()(index_t i, index_t j) { return elements[view().offset(i, j)]; }
  TESSERA_HD constexpr const T& operator()(index_t i, index_t j) const {
    return elements[view().offset(i, j)];
  }
  TESSERA_HD constexpr T& operator()(index_t i) { return elements[view().offset(i)]; }
  TESSERA_HD constexpr const T& operator()(index_t i) const { return elements[view().offset(i)]; }
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
