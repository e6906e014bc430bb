#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto multiply = [&](const puzzle::LaunchOptions& how, const char* what,
                            const puzzle::Input& A) {
    auto C = puzzle::product_transposed("C", A, A);
    const auto a = [&A](index_t i, index_t j) { return double(A.values(i, j)); };
    puzzle::expect_mistakes(
        C, {{"other-product",
             [&](index_t i, index_t j) { return a(i, 0) * a(0, j) + a(i, 1) * a(1, j); },
             "this is A * A, without the transpose",
             "column col of the transpose is row col of A: read s.a(col, k)"},
            {"other-product",
             [&](index_t i, index_t j) { return a(0, i) * a(0, j) + a(1, i) * a(1, j); },
             "this is the transpose times A: columns are multiplied",
             "multiply rows: s.a(row, k) and s.a(col, k)"}});
    run.launch_with(how, what, Dim3{1}, TimesTranspose{}, A, C);
    run.goal("elements that are read from global memory", double(run.total().global_load_bytes) / 4,
             4, "multiply from the tile: s.a(row, k) and s.a(col, k), not A");
  };
  multiply({}, "2 x 2 in one block of 3 x 3", puzzle::counting("A", 2, 2));
  multiply({.is_brief = true}, "2 x 2, other numbers", puzzle::scattered("A", 2, 2));
}
