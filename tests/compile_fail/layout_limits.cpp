// expect: a_tuple_has_at_most_16_numbers
// expect: the_product_does_not_fit_in_64_bits
// expect: an_extent_must_not_be_negative
// expect: a_tuple_of_several_numbers_has_no_single_value
// expect: there_is_no_such_mode
// expect: this_layout_has_no_such_mode
#include "tessera/layout/algebra.hpp"

using namespace tessera;

constexpr IntTuple eight = tuple(1, 2, 3, 4, 5, 6, 7, 8);
constexpr IntTuple use_1 = append(extend(eight, eight), 1);                      // refused
constexpr index_t use_2 = row_major(index_t{1} << 40, index_t{1} << 40).size();  // refused
constexpr Layout use_3 = row_major(4, -8);                                       // refused
constexpr index_t use_4 = tuple(2, 3).value();                                   // refused
constexpr IntTuple use_5 = tuple(2, 3).mode(2);                                  // refused
constexpr Layout use_6 = row_major(4, 8).mode(2);                                // refused
