// Run-time errors of the views: dynamic bounds and widths are checked on the CPU and throw
// Error(shape). On a GPU the checks are compiled out: run the kernel on the CPU first.
#pragma once

#include "tessera/core/config.hpp"
#include "tessera/core/here.hpp"

namespace tessera::detail {

[[noreturn]] void refuse_range(index_t begin, index_t end, index_t extent);
[[noreturn]] void refuse_position(index_t position, index_t extent, int mode);
[[noreturn]] void refuse_thread(index_t thread, index_t threads);
[[noreturn]] void refuse_part(index_t index, index_t count);
[[noreturn]] void refuse_vector(index_t extent, index_t width);
[[noreturn]] void refuse_extent(index_t extent, index_t want, int mode);
[[noreturn]] void refuse_copy(index_t from, index_t to, int mode);
[[noreturn]] void refuse_fold(index_t from, index_t to, int mode);
[[noreturn]] void refuse_reshape(index_t from, const index_t* to, int modes);
[[noreturn]] void refuse_tile(index_t tile, index_t tiles, int mode);
[[noreturn]] void refuse_reshape_of_strided();
/// A matrix instruction takes (rows, cols) of it.
[[noreturn]] void refuse_fragment(index_t got_rows, index_t got_cols, index_t rows, index_t cols,
                                  Here here);
/// No element at these `coordinates`: one for each of the `rank` modes, or one for all.
[[noreturn]] void refuse_element(const index_t* at, int coordinates, const index_t* extents,
                                 const index_t* valid, int rank, Here here);

#if TESSERA_GPU_CODE
TESSERA_HD constexpr void require_range(index_t, index_t, index_t) {}
TESSERA_HD constexpr void require_position(index_t, index_t, int) {}
TESSERA_HD constexpr void require_thread(index_t, index_t) {}
TESSERA_HD constexpr void require_part(index_t, index_t) {}
TESSERA_HD constexpr void require_vectors(index_t, index_t) {}
TESSERA_HD constexpr void require_extent(index_t, index_t, int) {}
TESSERA_HD constexpr void require_reshape(index_t, const index_t*, int, bool) {}
TESSERA_HD constexpr void require_tile(index_t, index_t, int) {}
TESSERA_HD constexpr void require_copy_extent(index_t, index_t, int) {}
TESSERA_HD constexpr void require_fold(index_t, index_t, index_t, int) {}
TESSERA_HD constexpr void require_fragment(index_t, index_t, index_t, index_t, Here) {}
#else
/// 0 <= begin <= end <= extent.
TESSERA_HD constexpr void require_range(index_t begin, index_t end, index_t extent) {
  if (begin < 0 || begin > end || end > extent) refuse_range(begin, end, extent);
}
/// 0 <= position < extent.
TESSERA_HD constexpr void require_position(index_t position, index_t extent, int mode) {
  if (position < 0 || position >= extent) refuse_position(position, extent, mode);
}
/// 0 <= thread < threads.
TESSERA_HD constexpr void require_thread(index_t thread, index_t threads) {
  if (thread < 0 || thread >= threads) refuse_thread(thread, threads);
}
/// 0 <= index < count.
TESSERA_HD constexpr void require_part(index_t index, index_t count) {
  if (index < 0 || index >= count) refuse_part(index, count);
}
/// `extent` positions make whole vectors.
TESSERA_HD constexpr void require_vectors(index_t extent, index_t width) {
  if (extent % width != 0) refuse_vector(extent, width);
}
/// An extent that broadcasts to `want`.
TESSERA_HD constexpr void require_extent(index_t extent, index_t want, int mode) {
  if (extent != want && extent != 1) refuse_extent(extent, want, mode);
}
/// The extents of source and destination.
TESSERA_HD constexpr void require_copy_extent(index_t from, index_t to, int mode) {
  if (from != to) refuse_copy(from, to, mode);
}
/// The extent of the source that a fold keeps in this mode, or as much of it as exists.
TESSERA_HD constexpr void require_fold(index_t from, index_t valid, index_t to, int mode) {
  if (to < valid || to > from) refuse_fold(from, to, mode);
}
/// The extents of what a matrix instruction loads or stores.
TESSERA_HD constexpr void require_fragment(index_t got_rows, index_t got_cols, index_t rows,
                                           index_t cols, Here here) {
  if (got_rows != rows || got_cols != cols) refuse_fragment(got_rows, got_cols, rows, cols, here);
}
/// Extents of 0 or more with as many elements as before, and compact.
TESSERA_HD constexpr void require_reshape(index_t from, const index_t* to, int modes,
                                          bool compact) {
  index_t size = 1;
  bool possible = true, empty = false;
  for (int i = 0; i < modes; ++i) {
    possible = possible && to[i] >= 0;
    empty = empty || to[i] == 0;
  }
  for (int i = 0; i < modes && !empty; ++i)
    possible = possible && !__builtin_mul_overflow(size, to[i], &size);
  if (!possible || from != (empty ? 0 : size)) refuse_reshape(from, to, modes);
  if (!compact) refuse_reshape_of_strided();
}
/// 0 <= tile < tiles.
TESSERA_HD constexpr void require_tile(index_t tile, index_t tiles, int mode) {
  if (tile < 0 || tile >= tiles) refuse_tile(tile, tiles, mode);
}
#endif

}  // namespace tessera::detail
