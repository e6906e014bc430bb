// The published results of the layout algebra, as compile-time facts: every line is checked by the
// compiler, so the algebra is usable in constant expressions too.
#include <gtest/gtest.h>

#include "tessera/layout/algebra.hpp"

namespace tessera {
namespace {

constexpr Layout L(IntTuple shape, IntTuple stride) { return Layout(shape, stride); }
constexpr auto T = [](auto... parts) { return tuple(parts...); };

static_assert(row_major(2, 3) == L(T(2, 3), T(3, 1)));
static_assert(row_major(2, T(3, 4)) == L(T(2, T(3, 4)), T(12, T(4, 1))));

static_assert(coalesce(L(T(2, 8), T(4, 8))) == L(16, 4));
static_assert(coalesce_modes(L(T(2, 8), T(4, 8))) == L(T(2, 8), T(4, 8)));
static_assert(coalesce(L(T(2, T(1, 4)), T(1, T(4, 2)))) == L(8, 1));

static_assert(composition(row_major(8, 4), tiler(L(4, 1), L(2, 1))) == L(T(4, 2), T(4, 1)));

static_assert(complement(L(4, 1), 24) == L(6, 4));
static_assert(complement(L(6, 4), 24) == L(4, 1));
static_assert(complement(L(T(4, 6), T(1, 4)), 24) == L(1, 0));
static_assert(complement(L(4, 2), 24) == L(T(2, 3), T(1, 8)));
static_assert(complement(L(T(2, 4), T(1, 6)), 24) == L(3, 2));
static_assert(complement(L(T(2, 2), T(1, 6)), 24) == L(T(3, 2), T(2, 12)));

static_assert(logical_divide(L(T(4, 2, 3), T(2, 1, 8)), L(4, 2)) ==
              L(T(T(2, 2), T(2, 3)), T(T(4, 1), T(2, 8))));
static_assert(logical_divide(L(T(9, T(4, 8)), T(59, T(13, 1))),
                             tiler(L(3, 3), L(T(2, 4), T(1, 8)))) ==
              L(T(T(3, 3), T(T(2, 4), T(2, 2))), T(T(177, 59), T(T(13, 2), T(26, 1)))));
static_assert(logical_product(L(T(2, 2), T(4, 1)), L(6, 1)) ==
              L(T(T(2, 2), T(2, 3)), T(T(4, 1), T(2, 8))));
static_assert(blocked_product(L(T(2, 5), T(5, 1)), L(T(3, 4), T(1, 3))) ==
              L(T(T(2, 3), T(5, 4)), T(T(5, 10), T(1, 30))));
static_assert(tile_to_shape(L(T(2, 5), T(5, 1)), T(6, 20)) ==
              L(T(T(2, 3), T(5, 4)), T(T(5, 10), T(1, 30))));
static_assert(tile_to_shape(L(T(2, 5), T(5, 1)), T(6, 20), T(1, 0)) ==
              L(T(T(2, 3), T(5, 4)), T(T(5, 40), T(1, 10))));
static_assert(zipped_divide(row_major(4, 4), L(2, 1)) == L(T(2, T(2, 4)), T(4, T(8, 1))));
static_assert(zipped_divide(row_major(4, 4), tiler(L(2, 1), L(2, 1))) ==
              L(T(T(2, 2), T(2, 2)), T(T(4, 1), T(8, 2))));
// Upstream writes this one with a layout whose strides it ignores; the shape alone is the tiler.
static_assert(zipped_divide(L(T(T(16, 64), 4), T(T(128, 2), 2048)), T(T(8, 4), 4)) ==
              L(T(T(T(8, 4), 4), T(T(2, 16), 1)), T(T(T(128, 2), 2048), T(T(1024, 8), 0))));

static_assert(sublayout(L(T(2, 3, 4), T(12, 4, 1)), 0, 2) == L(T(2, 4), T(12, 1)));
static_assert(upcast(L(T(4, 3), T(2, 4)), 2) == L(T(4, 3), T(1, 2)));
static_assert(upcast(L(T(4, 3), T(2, 4)), 4) == L(T(2, 3), T(1, 1)));
static_assert(upcast(L(T(8, 1024), T(1024, 1)), 16) == L(T(8, 64), T(64, 1)));
static_assert(shape_div(T(3, 4), 6) == T(1, 2));

template <class Function, std::size_t N>
constexpr bool gives(const Function& f, index_t first, const index_t (&expected)[N]) {
  for (std::size_t i = 0; i < N; ++i)
    if (f(first + static_cast<index_t>(i)) != expected[i]) return false;
  return true;
}
static_assert(gives(Swizzle(1, 0, 4), 16, {17, 16, 19, 18}));
static_assert(gives(Swizzle(2, 0, 3), 8, {9, 8, 11, 10, 13, 12, 15, 14}));
static_assert(gives(Swizzle(2, 0, 3), 16, {18, 19, 16, 17, 22, 23, 20, 21}));
static_assert(gives(Swizzle(2, 1, 3), 16, {18, 19, 16, 17, 22, 23, 20, 21}));
static_assert(gives(Swizzle(2, 1, 3), 32, {36, 37, 38, 39, 32, 33, 34, 35}));
// Over (6,2):(8,2), the rows of (4,3):(3,1).
static_assert([] {
  const ComposedLayout c(L(T(6, 2), T(8, 2)), 0, L(T(4, 3), T(3, 1)));
  const index_t expected[] = {0, 24, 2, 26, 8, 32, 10, 34, 16, 40, 18, 42};
  for (int i = 0; i < 12; ++i)
    if (c(i) != expected[i]) return false;
  return true;
}());

// Distribution and vectorization are divisions.
static_assert([] {
  const Layout threads = zipped_divide(row_major(8, 4), T(2, 2));
  const index_t expected[] = {0, 2, 8, 10, 16, 18, 24, 26};
  // Thread 0 walks the rests, row by row.
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j)
      if (threads(0, T(i, j)) != expected[2 * i + j]) return false;
  return true;
}());
static_assert(zipped_divide(col_major(8, 8), T(1, 4)) ==
              L(T(T(1, 4), T(8, 2)), T(T(1, 8), T(1, 32))));
static_assert(zipped_divide(col_major(8, 8), T(4, 1)) ==
              L(T(T(4, 1), T(2, 8)), T(T(1, 8), T(4, 8))));
static_assert(zipped_divide(col_major(8, 8), T(4, 4)) ==
              L(T(T(4, 4), T(2, 2)), T(T(1, 8), T(4, 32))));

}  // namespace
}  // namespace tessera
