// The errors of the layout algebra, one function per reason; its name is the message. None is
// constexpr: in a constant expression the compiler stops at the call and quotes the name; at run
// time it throws Error(Category::shape) with the layouts written out. Called by the headers beside
// it only.
#pragma once

#include "tessera/core/config.hpp"

namespace tessera {

struct IntTuple;
struct Layout;
struct Tiler;

namespace refused {

/// The public function that was called, where one implementation serves several: its name and
/// arguments.
struct Call {
  const char* function;
  const Layout* a = nullptr;
  const Layout* b = nullptr;  ///< null: the message is about `a` alone
};

[[noreturn]] void a_tuple_has_at_most_16_numbers(index_t count);
[[noreturn]] void a_tuple_nests_at_most_15_deep();
[[noreturn]] void a_tuple_has_at_least_one_number();
[[noreturn]] void there_is_no_such_mode(const IntTuple& tuple, index_t mode);
[[noreturn]] void this_layout_has_no_such_mode(const Layout& layout, index_t mode);
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
[[noreturn]] void tuples_to_zip_must_have_as_many_modes(const IntTuple& a, const IntTuple& b);
[[noreturn]] void shapes_to_divide_must_have_as_many_modes(const IntTuple& a, const IntTuple& b);
[[noreturn]] void one_extent_must_divide_the_other(index_t a, index_t b);
[[noreturn]] void an_order_needs_one_number_per_mode(const IntTuple& shape, const IntTuple& order);
[[noreturn]] void a_tiler_has_at_most_as_many_modes(const Layout& layout, const Tiler& tiler);
[[noreturn]] void a_tile_has_at_most_as_many_modes(const Layout& layout, const IntTuple& tile);
[[noreturn]] void the_strides_must_divide_for_a_composition(const Call& call, const Layout& a,
                                                            const Layout& b);
[[noreturn]] void the_extents_must_divide_for_a_composition(const Call& call, const Layout& a,
                                                            const Layout& b);
[[noreturn]] void modes_overlap_for_a_composition(const Call& call, const Layout& a,
                                                  const Layout& b);
[[noreturn]] void a_complement_needs_known_extents_and_strides(const Call& call,
                                                               const Layout& layout);
[[noreturn]] void a_complement_needs_strides_of_0_or_more(const Call& call, const Layout& layout);
[[noreturn]] void a_complement_needs_a_layout_without_overlap(const Call& call,
                                                              const Layout& layout);
[[noreturn]] void an_empty_layout_has_no_complement(const Call& call, const Layout& layout);
[[noreturn]] void each_stride_must_be_a_multiple_of_the_next_smaller_for_a_left_inverse(
    const Layout& layout);
[[noreturn]] void a_tile_must_divide_the_shape_it_fills(const Layout& tile, const IntTuple& shape);
[[noreturn]] void a_shape_must_refine_the_layouts_own(const Layout& layout, const IntTuple& shape);
[[noreturn]] void a_factor_must_be_positive(const Call& call, index_t factor);
[[noreturn]] void a_factor_must_divide_for_an_upcast(const Layout& layout, index_t factor);
[[noreturn]] void a_swizzle_needs_0_to_31_bits_and_a_shift_of_at_least_bits(int bits, int base,
                                                                            int shift);
[[noreturn]] void a_swizzle_needs_powers_of_two(index_t n);
[[noreturn]] void a_swizzle_needs_elements_of_1_to_16_bytes(index_t bytes);

}  // namespace refused

}  // namespace tessera
