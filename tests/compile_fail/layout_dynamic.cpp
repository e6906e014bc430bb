// expect: this_needs_a_stride_that_is_only_known_at_run_time
// expect: this_needs_an_extent_that_is_only_known_at_run_time
// expect: this stride is only known at run time
#include "tessera/layout/algebra.hpp"

using namespace tessera;

constexpr index_t use_1 = row_major(8, dynamic)(1, 2);                      // refused
constexpr Layout use_2 = composition(row_major(dynamic, 8), Layout(4, 2));  // refused
index_t use_3(index_t i) { return index_of<row_major(8, dynamic)>(i, i); }  // refused
