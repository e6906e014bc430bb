// expect: the_strides_must_divide_for_a_composition
// expect: the_extents_must_divide_for_a_composition
// expect: modes_overlap_for_a_composition
#include "tessera/layout/algebra.hpp"

using namespace tessera;

constexpr Layout a(tuple(4, 6), tuple(1, 8));
constexpr Layout use_1 = composition(a, Layout(3, 3));                      // refused
constexpr Layout use_2 = composition(a, Layout(6, 1));                      // refused
constexpr Layout use_3 = composition(a, Layout(tuple(4, 2), tuple(1, 1)));  // refused
