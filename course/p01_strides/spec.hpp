#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto layout = [](const Layout& l) -> puzzle::Rule {
    return [l](index_t i, index_t j) { return double(l(i, j)); };
  };
  run.values("by_rows: where element (i, j) lies", 3, 5, layout(by_rows),
             [](index_t i, index_t j) { return 5.0 * i + j; });
  run.values("by_columns: where element (i, j) lies", 3, 5, layout(by_columns),
             [](index_t i, index_t j) { return i + 3.0 * j; });
}
