// expect: a_complement_needs_a_layout_without_overlap
// expect: a_complement_needs_strides_of_0_or_more
// expect: an_empty_layout_has_no_complement
#include "tessera/layout/algebra.hpp"

using namespace tessera;

constexpr Layout use_1 = complement(Layout(tuple(2, 2), tuple(1, 1)), 8);  // refused
constexpr Layout use_2 = complement(Layout(4, -1), 8);                     // refused
constexpr Layout use_3 = complement(Layout(0, 1), 8);                      // refused
