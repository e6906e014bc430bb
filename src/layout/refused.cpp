// The texts of the errors, with the layouts at fault written out.
#include "tessera/layout/refused.hpp"

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/layout/print.hpp"
#include "tessera/layout/tiler.hpp"

namespace tessera::refused {

namespace {

template <class... Text>
[[noreturn]] void refuse(const Text&... text) {
  throw Error(Category::shape, cat(text...));
}

/// "logical_divide of (4,4):(4,1) and (3,3):(1,1): ".
std::string call_text(const Call& call) {
  if (call.b == nullptr) return cat(call.function, ": ");
  return cat(call.function, " of ", *call.a, " and ", *call.b, ": ");
}

}  // namespace

void a_tuple_has_at_most_16_numbers(index_t count) {
  throw Error(Category::shape, "layout: too many numbers in one tuple", "at most 16", cat(count));
}
void a_tuple_nests_at_most_15_deep() {
  refuse("layout: brackets nest more than 15 deep; flatten or coalesce first");
}
void a_tuple_has_at_least_one_number() { refuse("layout: an empty tuple has no meaning here"); }
void there_is_no_such_mode(const IntTuple& tuple, index_t mode) {
  throw Error(Category::shape, cat("layout: ", tuple, " has no mode ", mode),
              cat("0 to ", tuple.rank() - 1), cat(mode));
}
void this_layout_has_no_such_mode(const Layout& layout, index_t mode) {
  throw Error(Category::shape, cat("layout: ", layout, " has no mode ", mode),
              cat("0 to ", layout.rank() - 1), cat(mode));
}
void a_tuple_of_several_numbers_has_no_single_value(const IntTuple& tuple) {
  refuse("layout: a single number is needed here, not the tuple ", tuple);
}
void the_product_does_not_fit_in_64_bits(index_t a, index_t b) {
  refuse("layout: ", a, " * ", b, " does not fit in 64 bits");
}
void the_sum_does_not_fit_in_64_bits(index_t a, index_t b) {
  refuse("layout: ", a, " + ", b, " does not fit in 64 bits");
}
void an_extent_must_not_be_negative(const IntTuple& shape) {
  throw Error(Category::shape, "layout: an extent is negative", "0 or more", to_string(shape));
}
void shape_and_stride_must_nest_alike(const IntTuple& shape, const IntTuple& stride) {
  throw Error(Category::shape,
              cat("layout: shape ", shape, " and stride ", stride, " nest differently"), {}, {},
              "give one stride for each extent, with the same brackets");
}
void coordinate_and_shape_must_nest_alike(const IntTuple& coordinate, const IntTuple& shape) {
  throw Error(Category::shape,
              cat("layout: coordinate ", coordinate, " does not fit shape ", shape), {}, {},
              "give one coordinate for each mode, or a single number");
}
void the_number_of_coordinates_must_be_one_or_the_rank(const Layout& layout, index_t coordinates) {
  throw Error(Category::shape, cat("layout: wrong number of coordinates for ", layout),
              cat("1 or ", layout.rank()), cat(coordinates));
}
void this_needs_an_extent_that_is_only_known_at_run_time(const IntTuple& shape) {
  refuse("layout: this needs an extent of ", shape, " that is only known at run time (written ?)");
}
void this_needs_a_stride_that_is_only_known_at_run_time(const Layout& layout) {
  refuse("layout: this needs a stride of ", layout, " that is only known at run time (written ?)");
}
void tuples_to_zip_must_have_as_many_modes(const IntTuple& a, const IntTuple& b) {
  refuse("zip: ", a, " has ", a.rank(), " modes but ", b, " has ", b.rank());
}
void shapes_to_divide_must_have_as_many_modes(const IntTuple& a, const IntTuple& b) {
  refuse("shape_div: ", a, " has ", a.rank(), " modes but ", b, " has ", b.rank());
}
void one_extent_must_divide_the_other(index_t a, index_t b) {
  refuse("shape_div: neither of ", a, " and ", b, " divides the other");
}
void an_order_needs_one_number_per_mode(const IntTuple& shape, const IntTuple& order) {
  refuse("order ", order, " does not fit shape ", shape, "; give one number for each mode");
}
void a_tiler_has_at_most_as_many_modes(const Layout& layout, const Tiler& tiler) {
  refuse("tiler ", tiler, " has ", tiler.rank(), " modes but ", layout, " has ", layout.rank());
}
void a_tile_has_at_most_as_many_modes(const Layout& layout, const IntTuple& tile) {
  refuse("tile ", tile, " has ", tile.rank(), " modes but ", layout, " has ", layout.rank());
}
void the_strides_must_divide_for_a_composition(const Call& call, const Layout& a, const Layout& b) {
  refuse(call_text(call), "a stride of ", b, " cuts a mode of ", a,
         " unevenly; strides of the second must divide, or be multiples of, extents of the first");
}
void the_extents_must_divide_for_a_composition(const Call& call, const Layout& a, const Layout& b) {
  refuse(call_text(call), "an extent of ", b, " ends inside a mode of ", a,
         "; extents of the second must be multiples of what they cover of the first");
}
void modes_overlap_for_a_composition(const Call& call, const Layout& a, const Layout& b) {
  refuse(call_text(call), "modes of ", b, " add up past the end of a mode of ", a,
         ", so that no layout is their composition");
}
void a_complement_needs_known_extents_and_strides(const Call& call, const Layout& layout) {
  refuse(call_text(call), "the extents and strides of ", layout,
         " must be known unless it has a single mode");
}
void a_complement_needs_strides_of_0_or_more(const Call& call, const Layout& layout) {
  refuse(call_text(call), layout, " has a negative stride");
}
void a_complement_needs_a_layout_without_overlap(const Call& call, const Layout& layout) {
  refuse(call_text(call), "two coordinates of ", layout, " have one index");
}
void an_empty_layout_has_no_complement(const Call& call, const Layout& layout) {
  refuse(call_text(call), layout, " is empty");
}
void each_stride_must_be_a_multiple_of_the_next_smaller_for_a_left_inverse(const Layout& layout) {
  refuse("left_inverse: the inverse of ", layout,
         " is no layout; each stride must be a multiple of the next smaller one");
}
void a_tile_must_divide_the_shape_it_fills(const Layout& tile, const IntTuple& shape) {
  refuse("tile_to_shape: ", tile, " does not fill ", shape, " evenly");
}
void a_shape_must_refine_the_layouts_own(const Layout& layout, const IntTuple& shape) {
  refuse("expand: ", shape, " does not refine the shape of ", layout);
}
void a_factor_must_be_positive(const Call& call, index_t factor) {
  throw Error(Category::shape, cat(call.function, ": the factor for ", *call.a, " is wrong"),
              "1 or more", cat(factor));
}
void a_factor_must_divide_for_an_upcast(const Layout& layout, index_t factor) {
  refuse("upcast: ", layout, " has no whole elements ", factor,
         " times as wide; each stride must divide ", factor,
         " or be a multiple of it, and extents along smaller strides must divide likewise");
}
void a_swizzle_needs_0_to_31_bits_and_a_shift_of_at_least_bits(int bits, int base, int shift) {
  throw Error(Category::shape, cat("swizzle(", bits, ",", base, ",", shift, ") is impossible"),
              "bits and base of 0 or more, together at most 31, and a shift of at least bits");
}
void a_swizzle_needs_powers_of_two(index_t n) {
  throw Error(Category::shape, "swizzle: not a power of two", "1, 2, 4, ...", cat(n));
}
void a_swizzle_needs_elements_of_1_to_16_bytes(index_t bytes) {
  throw Error(Category::shape, "swizzle: wrong element size", "1 to 16 bytes", cat(bytes));
}

}  // namespace tessera::refused
