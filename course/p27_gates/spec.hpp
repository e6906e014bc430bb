#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::scattered("A", 60, 100, 1);
  const auto sum = [&](index_t row, index_t first, index_t last) {
    double out = 0;
    for (index_t k = first; k < last; ++k) out += A.values(row, k);
    return out;
  };
  auto out = puzzle::output("out", 1, 60, [&](index_t, index_t row) { return sum(row, 0, 100); });
  puzzle::expect_mistakes(
      out, {{"sum-not-kept", [&](index_t, index_t row) { return sum(row, 96, 100); },
             "out has the sums of the last tile only",
             "sum begins with 0 once, before the loop over the tiles"},
            {"loop-too-short",
             [&](index_t, index_t row) {
               double without = 0;
               for (index_t k = 0; k < 100; ++k) without += k % 32 == 0 ? 0 : A.values(row, k);
               return without;
             },
             "the first column of each tile is missing", "i goes from 0 to width - 1"}});
  run.launch("60 rows of 100 numbers", Dim3{2}, RowSums{}, puzzle::in_bulk<Part>(A),
             puzzle::line(out));
  const auto& total = run.total();
  run.goal("barriers of a block", double(total.block_barriers) / 2, 1,
           "gates are enough: no thread waits for all others after the first line");
  run.goal("bulk copies of a block", double(total.bulk_copies) / 2, 4,
           "each of the four tiles is copied once");
}
