// The tiles of a tensor along one mode, to be looped over:
//
//   for (auto gA : tile_range<BM, BK>(A, block_row, along)) ...   // (BM,BK) tiles of A along K
//
// In place of a tile coordinate, `along` marks the mode to walk. Every tile is what tile()
// gives: clipped at the border. circular_tiles walks a number of steps and starts again at the
// first tile after the last, for rings of buffers.
#pragma once

#include "tessera/tensor/tile.hpp"

namespace tessera {

/// Marks the mode that tile_range walks along.
enum Along : int { along };

/// `Sizes` of the tiles in a tensor T, walked along mode Mode; `first` holds the other coordinates.
template <class T, int Mode, index_t... Sizes>
class TileRange {
 public:
  struct Coordinates {
    index_t at[T::rank];
  };
  /// The position in a TileRange; `*i` is the tile.
  class Iterator {
   public:
    TESSERA_HD constexpr Iterator(const TileRange& range, index_t step)
        : range_(&range), step_(step) {}
    TESSERA_HD constexpr auto operator*() const { return (*range_)[step_]; }
    TESSERA_HD constexpr Iterator& operator++() {
      ++step_;
      return *this;
    }
    TESSERA_HD constexpr Iterator& operator+=(index_t steps) {
      step_ += steps;
      return *this;
    }
    TESSERA_HD constexpr bool operator==(const Iterator& other) const {
      return step_ == other.step_;
    }
    TESSERA_HD constexpr bool operator!=(const Iterator& other) const {
      return step_ != other.step_;
    }

   private:
    const TileRange* range_;
    index_t step_;
  };

  TESSERA_HD constexpr TileRange(const T& t, Coordinates first, index_t count, index_t period)
      : tensor_(t), first_(first), count_(count), period_(period) {}

  /// Steps of the walk.
  TESSERA_HD constexpr index_t size() const { return count_; }
  /// The tile at this step; a circular range starts again after its last tile.
  TESSERA_HD constexpr auto operator[](index_t step) const {
    return [&]<int... M>(std::integer_sequence<int, M...>) {
      return tile<Sizes...>(tensor_, (M == Mode ? step % period_ : first_.at[M])...);
    }
    (std::make_integer_sequence<int, T::rank>{});
  }
  TESSERA_HD constexpr Iterator begin() const { return {*this, 0}; }
  TESSERA_HD constexpr Iterator end() const { return {*this, count_}; }

 private:
  T tensor_;
  Coordinates first_;
  index_t count_, period_;
};

namespace detail {

template <class... I>
constexpr int along_mode() {
  int mode = -1, i = 0;
  ((std::is_same_v<I, Along> ? void(mode = i++) : void(++i)), ...);
  return mode;
}

template <index_t... Sizes, class P, Layout L, class E, class... I>
TESSERA_HD constexpr auto range_of_tiles(const Tensor<P, L, E>& t, index_t steps,
                                         I... coordinates) {
  using T = Tensor<P, L, E>;
  static_assert(sizeof...(Sizes) == T::rank && sizeof...(I) == T::rank,
                "tile_range<sizes...>(t, coordinates...) takes one size and one coordinate for "
                "each mode of the tensor");
  static_assert((0 + ... + int{std::is_same_v<I, Along>}) == 1,
                "tile_range: exactly one of the tile coordinates is `along`, the mode to walk");
  constexpr int mode = along_mode<I...>();
  constexpr index_t sizes[] = {Sizes...};
  constexpr index_t size = sizes[mode];
  const index_t period = tiles<mode>(t, size);
  using Range = TileRange<T, mode, Sizes...>;
  // In a walk that is not circular the modulo changes nothing; an empty mode has no tile.
  return Range(t, {{static_cast<index_t>(coordinates)...}}, steps < 0 ? period : steps,
               period > 0 ? period : 1);
}

}  // namespace detail

/// The tiles of t with these sizes along the mode marked `along`, at the given other coordinates.
template <index_t... Sizes, AnyTensor T, class... I>
TESSERA_HD constexpr auto tile_range(const T& t, I... coordinates) {
  return detail::range_of_tiles<Sizes...>(t, -1, coordinates...);
}

/// The same for `steps` steps, starting again at the first tile after the last one.
template <index_t... Sizes, AnyTensor T, class... I>
TESSERA_HD constexpr auto circular_tiles(const T& t, index_t steps, I... coordinates) {
  return detail::range_of_tiles<Sizes...>(t, steps < 0 ? 0 : steps, coordinates...);
}

}  // namespace tessera
