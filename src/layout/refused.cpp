// The sentences of the refusals, with the layouts at fault written out.
#include "tessera/layout/refused.hpp"

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/layout/print.hpp"

namespace tessera::refused {

namespace {

template <class... Text>
[[noreturn]] void refuse(const Text&... text) {
  throw Error(Category::shape, cat(text...));
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

}  // namespace tessera::refused
