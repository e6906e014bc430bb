#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  // -1: the layout has no such element, though its strides would go on.
  const auto layout = [](const Layout& l) -> puzzle::Rule {
    return [l](index_t i, index_t j) {
      const auto& shape = l.shape;
      const bool is_there =
          shape.rank() != 2 || (i < shape.mode(0).product() && j < shape.mode(1).product());
      return is_there ? double(l(i, j)) : -1.0;
    };
  };
  const auto turned = [](auto place) -> puzzle::Rule {
    return [place](index_t i, index_t j) { return j < 3 ? place(i, j) : -1.0; };
  };
  const char* const shape =
      "the shape has columns and rows the wrong way round: there is no element (0,3)";
  const char* const rows_first = "the shape is rows, then columns: tuple(3, 5)";
  run.values("by_rows: offset of element (i, j)", 3, 5, layout(by_rows),
             [](index_t i, index_t j) { return 5.0 * i + j; },
             {{"other-product", turned([](index_t i, index_t j) { return 5.0 * i + j; }), shape,
               rows_first},
              {"other-product", [](index_t i, index_t j) { return i + 3.0 * j; },
               "these are the offsets of the matrix column by column",
               "row by row one step to the right is 1 element: it is the last stride that is 1"},
              {"other-product", [](index_t i, index_t j) { return i + 5.0 * j; },
               "the two strides are swapped", "the first stride is that of i, one step down"}});
  run.values("by_columns: offset of element (i, j)", 3, 5, layout(by_columns),
             [](index_t i, index_t j) { return i + 3.0 * j; },
             {{"other-product", turned([](index_t i, index_t j) { return i + 3.0 * j; }), shape,
               rows_first},
              {"other-product", [](index_t i, index_t j) { return 5.0 * i + j; },
               "these are the offsets of the matrix row by row",
               "column by column one step down is 1 element: it is the first stride that is 1"},
              {"other-product", [](index_t i, index_t j) { return 3.0 * i + j; },
               "the two strides are swapped", "the first stride is that of i, one step down"}});
}
