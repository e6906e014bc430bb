// Bulk copies: one thread starts the copy of a whole tile between global and shared memory, and the
// hardware does the rest (TMA, PTX ISA 9.7.9.27). A UnitTile is their destination, from which
// matrix units read; a BulkMatrix is their source, tile by tile. Elements outside the matrix are
// loaded as zero and not stored. Needs sm_90a on a GPU.
#pragma once

#include <type_traits>

#include "tessera/core/dtype.hpp"
#include "tessera/ops/descriptor.hpp"
#include "tessera/simt/bulk_map.hpp"
#include "tessera/simt/gate.hpp"
#include "tessera/tensor/swizzled.hpp"
#include "tessera/tensor/tile.hpp"

namespace tessera {

namespace detail {

#if TESSERA_CHECK
/// A tile's name for the checker, and the coordinates of its elements.
template <class Tile>
struct TileNames {
  using T = typename Tile::element;
  static bool locate(index_t offset, index_t* coordinates) {
    constexpr Swizzle swizzle = make_swizzle(Tile::mode, static_cast<int>(sizeof(T)));
    const index_t plain = swizzle(offset);  // the swizzle is its own inverse
    for (index_t i = 0; i < Tile::layout.size(); ++i) {
      if (Tile::layout(i) != plain) continue;
      coordinates[0] = i % Tile::rows, coordinates[1] = i / Tile::rows;
      return true;
    }
    return false;
  }
  static constexpr TileInfo info{
      2, {Tile::rows, Tile::cols}, sizeof(T), sizeof(Tile::elements), locate};
};
#endif

/// Registers a tile of shared storage with the checker, so that findings name it and its elements.
template <class Tile>
TESSERA_CHECKED_SYMBOL TESSERA_HD constexpr void tell_tile([[maybe_unused]] const Tile& tile) {
#if TESSERA_CHECK
  if (!std::is_constant_evaluated() && recorder != nullptr)
    recorder->tile(tile.elements, TileNames<Tile>::info);
#endif
}

}  // namespace detail

/// A tile in shared memory, (mn,k) by L, swizzled: the format that bulk copies fill and matrix
/// units read.
template <class T, Layout L, SwizzleMode Mode = SwizzleMode::bytes_128>
struct alignas(1024) TESSERA_CHECKED_SYMBOL UnitTile {
  static_assert(detail::is_canonical(L, Mode, static_cast<int>(sizeof(T))),
                "UnitTile: matrix units read K-major tiles whose rows are as wide as the swizzle, "
                "or MN-major tiles in panels as wide: make the layout with unit_layout<T>()");
  using element = T;
  static constexpr Layout layout = L;
  static constexpr SwizzleMode mode = Mode;
  static constexpr Major major = detail::major_of(L);
  using KMajor = UnitTile;  ///< same member as OperandTile, whose major is a run-time choice
  using MnMajor = UnitTile;
  static constexpr bool is_either = false;
  static constexpr int rows = static_cast<int>(L.shape.mode(0).product());
  static constexpr int cols = static_cast<int>(L.shape.mode(1).product());
  static constexpr int bytes = rows * cols * static_cast<int>(sizeof(T));

  T elements[static_cast<std::size_t>(L.cosize())];

  /// Its elements for ordinary accesses.
  TESSERA_HD constexpr auto view() {
    detail::tell_tile(*this);
    return swizzled<make_swizzle(Mode, static_cast<int>(sizeof(T)))>(Tensor<T*, L>(elements));
  }
};

/// Storage for a tile (Rows,Cols) that is K-major or MN-major as its matrix is in global memory,
/// which is known at run time. Elements of other than 16 bits are K-major.
template <class T, int Rows, int Cols>
struct alignas(1024) OperandTile {
  using element = T;
  using KMajor = UnitTile<T, unit_layout<T>(Major::k, Rows, Cols)>;
  using MnMajor = std::conditional_t<sizeof(T) == 2,
                                     UnitTile<T, unit_layout<T>(Major::mn, Rows, Cols)>, KMajor>;
  static constexpr bool is_either = !std::is_same_v<KMajor, MnMajor>;
  static constexpr int rows = Rows, cols = Cols, bytes = KMajor::bytes;

  union {
    KMajor k_major;
    MnMajor mn_major;
  };
};

/// The `Rows` rows from part * Rows on, as their own tile: the part that one block of a
/// cluster loads for all of them.
template <int Rows, class T, int R, int C>
TESSERA_HD constexpr OperandTile<T, Rows, C>& share(OperandTile<T, R, C>& tile, int part) {
  using Part = OperandTile<T, Rows, C>;
  static_assert(R % Rows == 0 && Rows % 8 == 0, "share<R>: the rows of a tile in equal parts");
  static_assert(!Part::is_either || Rows == R || Rows % (128 / static_cast<int>(sizeof(T))) == 0,
                "share<R> of a tile that may be MN-major: whole panels");
  return *static_cast<Part*>(static_cast<void*>(
      static_cast<unsigned char*>(static_cast<void*>(&tile)) + part * Part::bytes));
}

/// The box that one bulk copy moves, and how many boxes fill a tile.
template <class Tile>
struct BulkBox {
  static constexpr bool is_k_major = Tile::major == Major::k;
  static constexpr int wide =
      row_bytes(Tile::mode) / static_cast<int>(sizeof(typename Tile::element));
  static constexpr int most = 256;  ///< extent of a box
  static constexpr int rows = is_k_major ? (Tile::rows < most ? Tile::rows : most)
                                         : (Tile::rows < wide ? Tile::rows : wide);
  static constexpr int cols = is_k_major ? (Tile::cols < wide ? Tile::cols : wide) : Tile::cols;
  static_assert(Tile::rows % rows == 0 && Tile::cols % cols == 0 && cols <= most,
                "a tile is filled by whole boxes of at most 256 x 256 elements");
  static constexpr int down = Tile::rows / rows, across = Tile::cols / cols;
};

/// A matrix (mn,k) in global memory of which bulk copies take tiles like Tile, a UnitTile or an
/// OperandTile. Made on the host: ops/bulk_matrix.hpp.
template <class Tile>
struct BulkMatrix {
  using tile_type = Tile;
  using element = typename Tile::element;
  BulkMap map;
  int rows = 0, cols = 0;
  Major major = Major::k;  ///< which mode is contiguous

  /// Are neighbours along k contiguous in memory? Decided by the tile's type or else by `major`.
  TESSERA_HD constexpr bool is_k_major() const {
    if constexpr (requires { Tile::major; }) return Tile::major == Major::k;
    else return major == Major::k;
  }
  template <int Mode>
  TESSERA_HD constexpr index_t valid() const {
    return Mode == 0 ? rows : cols;
  }
  template <int Mode>
  TESSERA_HD constexpr index_t extent() const {
    return valid<Mode>();
  }
};

/// A tile of such a matrix: where it begins.
template <class Tile>
struct BulkTile {
  const BulkMap* map;
  int row, col;
  Major major;
};

/// Tile (i, j) of it, of the extents that its map has.
template <index_t Rows, index_t Cols, class Tile>
TESSERA_HD constexpr BulkTile<Tile> tile(const BulkMatrix<Tile>& matrix, int i, int j) {
  static_assert(Rows == Tile::rows && Cols == Tile::cols,
                "tile<R, C> of a BulkMatrix: it was made for tiles of other extents");
  return {&matrix.map, i * Tile::rows, j * Tile::cols, matrix.major};
}

/// The tile that begins at (row, col), which may be outside. Along the contiguous mode it must be a
/// multiple of 16 bytes; otherwise the copy is an illegal instruction on an H200.
template <class Tile>
TESSERA_HD constexpr BulkTile<Tile> tile_from(const BulkMatrix<Tile>& matrix, int row, int col) {
  return {&matrix.map, row, col, matrix.major};
}

/// The bytes that copies into these tiles deliver, to be passed to expect(); the same for
/// tiles that are partly outside.
template <class... Tiles>
constexpr int bytes_of(const Tiles&...) {
  return (Tiles::bytes + ...);
}

namespace detail {

/// body(x, y, elements): each box of a tile that begins at (row, col), innermost coordinate first,
/// and its offset in the tile's storage.
template <class Tile, class Body>
TESSERA_KERNEL void for_each_box(int row, int col, const Body& body) {
  using Box = BulkBox<Tile>;
  TESSERA_UNROLL_REGISTERS
  for (int j = 0; j < Box::across; ++j) {
    TESSERA_UNROLL_REGISTERS
    for (int i = 0; i < Box::down; ++i) {
      const int at = (j * Box::down + i) * Box::rows * Box::cols;
      const int r = row + i * Box::rows, c = col + j * Box::cols;
      if constexpr (Box::is_k_major) body(c, r, at);
      else body(r, c, at);
    }
  }
}

}  // namespace detail

/// Starts the copy of `from` into `to`; its bytes count at `gate`, which must expect them.
template <class Thread, class Tile>
TESSERA_KERNEL void copy_bulk(Thread& t, const BulkTile<Tile>& from, Tile& to, Gate& gate,
                              Here here = Here::current()) {
  detail::tell_tile(to);
  detail::for_each_box<Tile>(from.row, from.col, [&](int x, int y, int at) {
    t.async().copy(from.map, x, y, to.elements + at, &gate, here);
  });
}
template <class Thread, class T, int R, int C>
TESSERA_KERNEL void copy_bulk(Thread& t, const BulkTile<OperandTile<T, R, C>>& from,
                              OperandTile<T, R, C>& to, Gate& gate, Here here = Here::current()) {
  using To = OperandTile<T, R, C>;
  if (To::is_either && from.major == Major::mn)
    copy_bulk(t, BulkTile<typename To::MnMajor>{from.map, from.row, from.col, from.major},
              to.mn_major, gate, here);
  else
    copy_bulk(t, BulkTile<typename To::KMajor>{from.map, from.row, from.col, from.major},
              to.k_major, gate, here);
}
/// The same into the corresponding tile of every block of the cluster whose bit is set in `blocks`
/// (bit r: rank r); bytes count at the corresponding gate of each, which must expect them.
template <class Thread, class Tile>
TESSERA_KERNEL void copy_bulk(Thread& t, const BulkTile<Tile>& from, Tile& to, Gate& gate,
                              unsigned blocks, Here here = Here::current()) {
  detail::tell_tile(to);
  detail::for_each_box<Tile>(from.row, from.col, [&](int x, int y, int at) {
    t.async().copy(from.map, x, y, to.elements + at, &gate, blocks, here);
  });
}
template <class Thread, class T, int R, int C>
TESSERA_KERNEL void copy_bulk(Thread& t, const BulkTile<OperandTile<T, R, C>>& from,
                              OperandTile<T, R, C>& to, Gate& gate, unsigned blocks,
                              Here here = Here::current()) {
  using To = OperandTile<T, R, C>;
  if (To::is_either && from.major == Major::mn)
    copy_bulk(t, BulkTile<typename To::MnMajor>{from.map, from.row, from.col, from.major},
              to.mn_major, gate, blocks, here);
  else
    copy_bulk(t, BulkTile<typename To::KMajor>{from.map, from.row, from.col, from.major},
              to.k_major, gate, blocks, here);
}

/// Starts to store a tile; it is part of this thread's group of stores that commit_bulk() ends.
template <class Thread, class Tile>
TESSERA_KERNEL void store_bulk(Thread& t, const Tile& from, const BulkTile<Tile>& to,
                               Here here = Here::current()) {
  detail::tell_tile(from);
  detail::for_each_box<Tile>(to.row, to.col, [&](int x, int y, int at) {
    t.async().store(to.map, x, y, from.elements + at, here);
  });
}
template <class Thread>
TESSERA_KERNEL void commit_bulk(Thread& t, Here here = Here::current()) {
  t.async().commit(here);
}
/// Waits until all but the newest Pending groups of this thread have read their source, which may
/// then be overwritten.
template <int Pending, class Thread>
TESSERA_KERNEL void wait_bulk_read(Thread& t, Here here = Here::current()) {
  t.async().template wait_read<Pending>(here);
}
/// Waits until all but the newest Pending groups have been stored.
template <int Pending, class Thread>
TESSERA_KERNEL void wait_bulk(Thread& t, Here here = Here::current()) {
  t.async().template wait_stored<Pending>(here);
}

}  // namespace tessera
