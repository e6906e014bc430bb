// The messages of the views' run-time errors.
#include "tessera/tensor/refused.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::detail {

namespace {

std::string shape_text(const index_t* extents, int modes) {
  std::string text;
  for (int i = 0; i < modes; ++i) text += cat(i == 0 ? "(" : ",", extents[i]);
  return text + ")";
}
std::string mode_text(int mode, int rank) {
  if (rank == 1) return "a position";
  if (rank == 2) return mode == 0 ? "a row" : "a column";
  return cat("in mode ", mode);
}
/// " at file:line:column", or nothing.
std::string place_text(Here here) {
  if (here.line == 0) return {};
  const std::string line = cat(", at ", here.file, ":", here.line);
  return here.column > 0 ? cat(line, ":", here.column) : line;
}

}  // namespace

void refuse_range(index_t begin, index_t end, index_t extent) {
  throw Error(Category::shape, "slice: a range is not within its mode",
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
  throw Error(Category::shape, "reshape: the number of elements must stay the same",
              cat("extents of 0 or more, ", from, " elements"), shape_text(to, modes));
}
void refuse_tile(index_t tile, index_t tiles, int mode) {
  throw Error(Category::shape, cat("tile: there is no such tile along mode ", mode),
              tiles > 0 ? cat("0 to ", tiles - 1) : "none, the mode is empty", cat(tile));
}
void refuse_fragment(index_t got_rows, index_t got_cols, index_t rows, index_t cols, Here here) {
  throw Error(Category::shape, cat("a matrix instruction takes another tile", place_text(here)),
              cat(rows, " x ", cols), cat(got_rows, " x ", got_cols),
              cat("give it one: tile<", rows, ", ", cols, ">(A, i, j)"));
}
void refuse_reshape_of_strided() {
  throw Error(Category::shape,
              "reshape: only elements without gaps, last mode fastest, take new run-time extents",
              {}, {}, "copy them into a HostTensor first");
}

void refuse_element(const index_t* at, int coordinates, const index_t* extents,
                    const index_t* valid, int rank, Here here) {
  const bool clipped = !std::equal(valid, valid + rank, extents);
  const std::string problem =
      cat("element ", shape_text(at, coordinates), " of a ", shape_text(extents, rank), " tensor",
          clipped ? cat(", of which ", shape_text(valid, rank), " exists,") : "", " does not exist",
          place_text(here));
  const std::string advice =
      "let contains() decide before the access, or use copy() and store(), "
      "which skip what does not exist";
  if (coordinates != rank) {
    const index_t size = std::accumulate(extents, extents + rank, index_t{1}, std::multiplies<>{});
    throw Error(Category::shape, problem, cat("a position of 0 to ", size - 1), cat(*at), advice);
  }
  int mode = 0;
  while (at[mode] >= 0 && at[mode] < valid[mode]) ++mode;
  const std::string what = mode_text(mode, rank);
  throw Error(Category::shape, problem,
              valid[mode] > 0 ? cat(what, " of 0 to ", valid[mode] - 1)
                              : cat("none, as there is not ", what),
              cat(at[mode]), advice);
}

}  // namespace tessera::detail
