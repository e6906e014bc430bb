// The sentences of the views' run-time refusals.
#include "tessera/tensor/refused.hpp"

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::detail {

void refuse_range(index_t begin, index_t end, index_t extent) {
  throw Error(Category::shape, "slice: a range does not lie within its mode",
              cat("0 <= begin <= end <= ", extent), cat("between(", begin, ", ", end, ")"));
}
void refuse_position(index_t position, index_t extent, int mode) {
  throw Error(Category::shape, cat("slice: there is no such position in mode ", mode),
              extent > 0 ? cat("0 to ", extent - 1) : "none, the mode is empty", cat(position));
}
void refuse_thread(index_t thread, index_t threads) {
  throw Error(Category::shape, "distribute: the thread layout has no such thread",
              cat("0 to ", threads - 1), cat(thread));
}
void refuse_part(index_t index, index_t count) {
  throw Error(Category::shape, "split: there is no such part",
              count > 0 ? cat("0 to ", count - 1) : cat("a count of 1 or more, not ", count),
              cat(index));
}
void refuse_vector(index_t extent, index_t width) {
  throw Error(Category::shape,
              cat("vectorize: a mode of ", extent, " elements is no multiple of the width ", width),
              {}, {}, "ask can_vectorize() first, and take the rest element by element");
}
void refuse_extent(index_t extent, index_t want, int mode) {
  throw Error(Category::shape, cat("tensors do not broadcast: mode ", mode, " of the right side"),
              cat("extent ", want, " or 1"), cat(extent));
}
void refuse_copy(index_t from, index_t to, int mode) {
  throw Error(Category::shape, cat("copy: mode ", mode, " of source and destination differ"),
              cat("extent ", from), cat(to));
}
void refuse_fold(index_t from, index_t to, int mode) {
  throw Error(Category::shape,
              cat("sum and max along a mode: mode ", mode,
                  " of the destination is not what the source keeps"),
              cat("extent ", from), cat(to));
}
void refuse_reshape(index_t from, const index_t* to, int modes) {
  std::string shape;
  for (int i = 0; i < modes; ++i) shape += cat(i == 0 ? "(" : ",", to[i]);
  throw Error(Category::shape, "reshape: the number of elements must stay the same",
              cat("extents of 0 or more, ", from, " elements"), shape + ")");
}
void refuse_tile(index_t tile, index_t tiles, int mode) {
  throw Error(Category::shape, cat("tile: there is no such tile along mode ", mode),
              tiles > 0 ? cat("0 to ", tiles - 1) : "none, the mode is empty", cat(tile));
}
void refuse_reshape_of_strided() {
  throw Error(Category::shape,
              "reshape: only elements without gaps, last mode fastest, take new run-time extents",
              {}, {}, "copy them into a HostTensor first");
}

}  // namespace tessera::detail
