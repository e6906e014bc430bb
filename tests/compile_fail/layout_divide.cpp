// expect: a_tile_has_at_most_as_many_modes
// expect: a_tiler_has_at_most_as_many_modes
// expect: a_tile_must_divide_the_shape_it_fills
#include "tessera/layout/algebra.hpp"

using namespace tessera;

constexpr Layout use_1 = zipped_divide(row_major(4, 4), tuple(2, 2, 2));            // refused
constexpr Layout use_2 = zipped_divide(row_major(8), tiler(Layout(2), Layout(2)));  // refused
constexpr Layout use_3 = tile_to_shape(row_major(2, 5), tuple(6, 21));              // refused
