// expect: the_number_of_coordinates_must_be_one_or_the_rank
// expect: a layout is called with one coordinate per mode, or a single one
// expect: coordinate_and_shape_must_nest_alike
#include "tessera/layout/layout.hpp"

using namespace tessera;

constexpr index_t use_1 = row_major(4, 8)(1, 2, 3);                      // refused
index_t use_2(index_t i) { return index_of<row_major(4, 8)>(i, i, i); }  // refused
constexpr index_t use_3 = row_major(4, 8)(tuple(1, tuple(1, 2)));        // refused
