// expect: each_stride_must_be_a_multiple_of_the_next_smaller_for_a_left_inverse
// expect: a_factor_must_divide_for_an_upcast
// expect: one_extent_must_divide_the_other
// expect: a_factor_must_be_positive
#include "tessera/layout/algebra.hpp"

using namespace tessera;

constexpr Layout use_1 = left_inverse(Layout(tuple(2, 2), tuple(2, 5)));  // refused
constexpr Layout use_2 = upcast(Layout(4, 3), 2);                         // refused
constexpr Layout use_3 = upcast(row_major(4, 8), 0);                      // refused
constexpr index_t use_4 = shape_div(index_t{3}, index_t{2});              // refused
