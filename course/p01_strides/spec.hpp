#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto layout = [](const Layout& l) -> puzzle::Rule {
    return [l](index_t i, index_t j) { return double(l(i, j)); };
  };
  run.values("by_rows: where element (i, j) lies", 3, 5, layout(by_rows),
             [](index_t i, index_t j) { return 5.0 * i + j; },
             {{"other-product", [](index_t i, index_t j) { return i + 3.0 * j; },
               "these are the places of the matrix column by column",
               "row by row one step to the right is 1 element: it is the last stride that is 1"},
              {"other-product", [](index_t i, index_t j) { return i + 5.0 * j; },
               "the two strides are swapped", "the first stride is that of i, one step down"}});
  run.values("by_columns: where element (i, j) lies", 3, 5, layout(by_columns),
             [](index_t i, index_t j) { return i + 3.0 * j; },
             {{"other-product", [](index_t i, index_t j) { return 5.0 * i + j; },
               "these are the places of the matrix row by row",
               "column by column one step down is 1 element: it is the first stride that is 1"},
              {"other-product", [](index_t i, index_t j) { return 3.0 * i + j; },
               "the two strides are swapped", "the first stride is that of i, one step down"}});
}
