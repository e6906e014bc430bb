#include <cmath>

#include "tessera/puzzle/run.hpp"

/// What a well-known mistake of the last line leaves in C: of each tile (64,32), the element that
/// is taken from (row, col) of which tile; none: 0.
inline std::vector<tessera::puzzle::Known> slips(const tessera::puzzle::Output& C) {
  using tessera::index_t;
  const auto product = [&values = C.expected](index_t i, index_t j) {
    return i < values.rows() && j < values.cols() ? double(values(i, j)) : 0.0;
  };
  const char* const right = "at is row + 64 column: at % 64, at / 64";
  return {{"swapped-indices",
           [product](index_t i, index_t j) {
             const index_t row = i % 64, col = j % 32;
             return row < 32 ? product(i - row + col, j - col + row) : 0.0;
           },
           "inside of each tile rows and columns are exchanged", right},
          {"wrong-step",
           [product](index_t i, index_t j) {
             const index_t row = i % 64, col = j % 32;
             return row < 32 ? product(i + col % 2 * 32, j - col + col / 2) : 0.0;
           },
           "the place in the tile is computed with 32, its width", right},
          {"wrong-tile",
           [product](index_t i, index_t j) {
             return product(j / 32 * 64 + i % 64, i / 64 * 32 + j % 32);
           },
           "the tile's two numbers are exchanged", "tile<64, 32>(C, t.block.y, t.block.x)"},
          {"other-column",
           [product](index_t i, index_t j) {
             return product(i - i % 16 + i % 8, j - j % 32 + j % 8 / 2 * 2);
           },
           "each thread stores its first sum in all of its places", "acc.value[0][v]"}};
}

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::scattered("A", 100, 72, 1), B = puzzle::scattered("B", 40, 72, 2);
  auto C = puzzle::product_transposed("C", A, B, depth);
  puzzle::expect_mistakes(C, slips(C));
  run.launch("(100,72) times (40,72) transposed", Dim3{2, 2}, Warpgroup{},
             puzzle::in_bulk<TileA>(A, Rounding::tf32), puzzle::in_bulk<TileB>(B, Rounding::tf32),
             C);
  const double wanted = 4.0 * 3 * 4 * 4;  // blocks, tiles, warps, instructions of depth 8
  run.goal("matrix instructions that are missing or too many",
           std::abs(wanted - double(run.total().mma_instructions)), 0,
           "Unit::mma once for each pair of tiles: the sums are the unit's work");
  run.goal("multiplications by the threads themselves", double(run.total().fma_threads), 0,
           "Unit::mma once for each pair of tiles: the sums are the unit's work");
}
