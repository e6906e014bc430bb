// The refusals of the layout algebra, one function per reason, whose name is the sentence. None is
// constexpr: in a constant expression the compiler stops at the call and quotes the name; at run
// time it throws Error(Category::shape) with the layouts written out. Called by the headers beside
// it only.
#pragma once

#include "tessera/core/config.hpp"

namespace tessera {

struct IntTuple;
struct Layout;

namespace refused {

[[noreturn]] void a_tuple_has_at_most_16_numbers(index_t count);
[[noreturn]] void a_tuple_nests_at_most_15_deep();
[[noreturn]] void a_tuple_has_at_least_one_number();
[[noreturn]] void there_is_no_such_mode(const IntTuple& tuple, index_t mode);
[[noreturn]] void a_tuple_of_several_numbers_has_no_single_value(const IntTuple& tuple);
[[noreturn]] void the_product_does_not_fit_in_64_bits(index_t a, index_t b);
[[noreturn]] void the_sum_does_not_fit_in_64_bits(index_t a, index_t b);
[[noreturn]] void an_extent_must_not_be_negative(const IntTuple& shape);
[[noreturn]] void shape_and_stride_must_nest_alike(const IntTuple& shape, const IntTuple& stride);
[[noreturn]] void coordinate_and_shape_must_nest_alike(const IntTuple& coordinate,
                                                       const IntTuple& shape);
[[noreturn]] void the_number_of_coordinates_must_be_one_or_the_rank(const Layout& layout,
                                                                    index_t coordinates);
[[noreturn]] void this_needs_an_extent_that_is_only_known_at_run_time(const IntTuple& shape);
[[noreturn]] void this_needs_a_stride_that_is_only_known_at_run_time(const Layout& layout);

}  // namespace refused

}  // namespace tessera
