// Inputs, expected values, and what well-known mistakes would compute: see run.hpp.
#include <iterator>

#include "tessera/core/random.hpp"
#include "tessera/puzzle/run.hpp"

namespace tessera::puzzle {

namespace {

HostTensor<float> filled(index_t rows, index_t cols, const Rule& rule) {
  HostTensor<float> out(rows, cols);
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j) out.data()[i * cols + j] = static_cast<float>(rule(i, j));
  return out;
}

HostTensor<float> copy_of(const HostTensor<float>& m) {
  return filled(m.rows(), m.cols(),
                [&](index_t i, index_t j) { return m.data()[i * m.cols() + j]; });
}

double element(const Input& m, index_t row, index_t col) {
  return m.values.data()[row * m.values.cols() + col];
}

/// The sum over k in [begin, end) of a(row, k) * b(k, col).
Rule sum(index_t begin, index_t end, Rule a, Rule b) {
  return [=](index_t row, index_t col) {
    double out = 0;
    for (index_t k = begin; k < end; ++k) out += a(row, k) * b(k, col);
    return out;
  };
}

void suspect(Output& out, std::string cause, const Rule& rule) {
  out.suspects.push_back(
      {std::move(cause), filled(out.values.rows(), out.values.cols(), rule), {}, {}});
}
/// Only the products of k in [begin, end) are added up.
void suspect_part(Output& out, std::string cause, index_t begin, index_t end, const Rule& a,
                  const Rule& b) {
  suspect(out, std::move(cause), sum(begin, end, a, b));
  out.suspects.back().k_begin = begin, out.suspects.back().k_end = end;
}

/// Mistakes of tiles along k.
void suspect_tiles(Output& out, index_t K, index_t tile, const Rule& a, const Rule& b) {
  if (tile == 0 || tile >= K) return;
  const index_t last = (K - 1) / tile * tile;
  suspect_part(out, "last-k-tile-dropped", 0, last, a, b);
  suspect(out, "sum-not-kept", sum(last, K, a, b));
  suspect_part(out, "only-the-first-tile", 0, tile, a, b);
  suspect(out, "same-tile-again",
          sum(
              0, K / tile * tile, [=](index_t i, index_t k) { return a(i, k % tile); },
              [=](index_t k, index_t j) { return b(k % tile, j); }));
  // Element (i, j) of a tile taken for element (j, i); the last tiles are filled up with zeros.
  const auto inside_out = [=](const Rule& m, index_t rows, index_t cols) -> Rule {
    return [=](index_t i, index_t j) {
      const index_t row = i / tile * tile + j % tile, col = j / tile * tile + i % tile;
      return row < rows && col < cols ? m(row, col) : 0;
    };
  };
  const auto filled_up = [=](const Rule& m, index_t rows, index_t cols) -> Rule {
    return [=](index_t i, index_t j) { return i < rows && j < cols ? m(i, j) : 0; };
  };
  const index_t M = out.values.rows(), N = out.values.cols(), whole = last + tile;
  suspect(out, "tile-transposed", sum(0, whole, inside_out(a, M, K), filled_up(b, K, N)));
  suspect(out, "tile-transposed", sum(0, whole, filled_up(a, M, K), inside_out(b, K, N)));
  if (K % tile != 0 || M != K || N != K) return;
  // Tile (i, j) taken for tile (j, i).
  const auto other_tile = [=](const Rule& m) -> Rule {
    return [=](index_t i, index_t j) {
      return m(j / tile * tile + i % tile, i / tile * tile + j % tile);
    };
  };
  suspect(out, "wrong-tile", sum(0, K, other_tile(a), b));
  suspect(out, "wrong-tile", sum(0, K, a, other_tile(b)));
  // Tile (row, k) of B instead of (k, col), and the other way round.
  suspect(out, "wrong-tile", [=](index_t i, index_t j) {
    double all = 0;
    for (index_t k = 0; k < K; ++k)
      all += a(i, k) * b(i / tile * tile + k % tile, k / tile * tile + j % tile);
    return all;
  });
  out.suspects.back().sentence = "of B another tile is loaded than this block and round need";
  suspect(out, "wrong-tile", [=](index_t i, index_t j) {
    double all = 0;
    for (index_t k = 0; k < K; ++k)
      all += a(k / tile * tile + i % tile, j / tile * tile + k % tile) * b(k, j);
    return all;
  });
  out.suspects.back().sentence = "of A another tile is loaded than this block and round need";
}

/// One k for all of a tile, or of the matrix: k is missing in an index.
void suspect_one_k(Output& out, index_t K, index_t tile, const Rule& a, const Rule& b) {
  const index_t step = tile > 0 ? tile : K;
  const auto add = [&](const char* name, const Rule& left, const Rule& right) {
    suspect(out, "part-not-read", sum(0, K, left, right));
    out.suspects.back().sentence =
        std::string("of each tile of ") + name + " only the first k is used";
    if (step == K)
      out.suspects.back().sentence = std::string("every product takes ") + name + " at k = 0";
    out.suspects.back().advice = std::string("which index of ") + name + " moves with the loop?";
  };
  add(
      "A", [=](index_t i, index_t k) { return a(i, k / step * step); }, b);
  add("B", a, [=](index_t k, index_t j) { return b(k / step * step, j); });
}

/// Sums over a part of k: one wrong loop bound.
void suspect_ranges(Output& out, index_t K, const Rule& a, const Rule& b) {
  HostTensor<float> before(out.values.rows(), out.values.cols()), shortened = copy_of(out.expected);
  for (index_t k = 0; k + 1 < K; ++k) {
    for (index_t i = 0; i < before.size(); ++i) {
      const index_t row = i / before.cols(), col = i % before.cols();
      const auto product = static_cast<float>(a(row, k) * b(k, col));
      before.data()[i] += product;
      shortened.data()[i] -= product;
    }
    out.suspects.push_back({"loop-too-short", copy_of(before), {}, {}, 0, k + 1});
    out.suspects.push_back({"loop-too-short", copy_of(shortened), {}, {}, k + 1, K});
  }
}

/// The product of two rules, and mistakes that any product knows.
Output product_of(std::string name, index_t M, index_t N, index_t K, index_t tile, const Rule& a,
                  const Rule& b) {
  Output out = output(std::move(name), M, N, sum(0, K, a, b));
  out.K = K, out.k_tile = tile;
  suspect_tiles(out, K, tile, a, b);
  suspect(out, "one-product", [=](index_t i, index_t j) { return a(i, K - 1) * b(K - 1, j); });
  suspect_part(out, "loop-too-short", 0, K - 1, a, b);
  suspect_part(out, "loop-too-short", 1, K, a, b);
  if (M == K && K == N) {
    const Rule at = [=](index_t i, index_t j) { return a(j, i); };
    const Rule bt = [=](index_t i, index_t j) { return b(j, i); };
    suspect(out, "a-transposed", sum(0, K, at, b));
    suspect(out, "b-transposed", sum(0, K, a, bt));
    suspect(out, "operands-swapped", sum(0, K, b, a));
    suspect(out, "swapped-indices", sum(0, K, bt, at));
    suspect(out, "elementwise", [=](index_t i, index_t j) { return a(i, j) * b(i, j); });
  }
  if (M == N) {
    const Rule right = sum(0, K, a, b);
    suspect(out, "other-column", [=](index_t i, index_t) { return right(i, i); });
    out.suspects.back().sentence = "(row, col) holds what belongs to (row, row)";
    suspect(out, "other-row", [=](index_t, index_t j) { return right(j, j); });
    out.suspects.back().sentence = "(row, col) holds what belongs to (col, col)";
  }
  suspect_one_k(out, K, tile, a, b);
  suspect_ranges(out, K, a, b);
  return out;
}

}  // namespace

Input input(std::string name, index_t rows, index_t cols, const Rule& rule) {
  return {std::move(name), filled(rows, cols, rule)};
}

Input counting(std::string name, index_t rows, index_t cols, double factor) {
  return input(std::move(name), rows, cols, [=](index_t row, index_t col) {
    return factor * static_cast<double>(row * cols + col);
  });
}

Input scattered(std::string name, index_t rows, index_t cols, int seed) {
  return input(std::move(name), rows, cols, [=](index_t row, index_t col) {
    const auto bits =
        random_bits(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(row * cols + col));
    return (static_cast<double>(bits % 65) - 32) / 4;
  });
}

Output output(std::string name, index_t rows, index_t cols, const Rule& expected) {
  Output out{std::move(name), HostTensor<float>(rows, cols), filled(rows, cols, expected), 0, {}};
  if (rows == cols && rows > 1)
    suspect(out, "swapped-indices", [&](index_t i, index_t j) { return expected(j, i); });
  return out;
}

void expect_mistakes(Output& out, const std::vector<Known>& mistakes) {
  std::vector<Suspect> own;
  for (const Known& each : mistakes)
    own.push_back({each.cause, filled(out.values.rows(), out.values.cols(), each.values),
                   each.sentence, each.advice});
  out.suspects.insert(out.suspects.begin(), std::make_move_iterator(own.begin()),
                      std::make_move_iterator(own.end()));
}

Output product(std::string name, const Input& A, const Input& B, index_t tile) {
  return product_of(
      std::move(name), A.values.rows(), B.values.cols(), A.values.cols(), tile,
      [&A](index_t i, index_t k) { return element(A, i, k); },
      [&B](index_t k, index_t j) { return element(B, k, j); });
}

Output product_transposed(std::string name, const Input& A, const Input& B, index_t tile) {
  Output out = product_of(
      std::move(name), A.values.rows(), B.values.rows(), A.values.cols(), tile,
      [&A](index_t i, index_t k) { return element(A, i, k); },
      [&B](index_t k, index_t j) { return element(B, j, k); });
  for (auto& each : out.suspects)
    if (each.cause == "wrong-tile")
      each.advice = "of A tile (block.y, k), of B, which comes transposed, tile (block.x, k)";
  return out;
}

}  // namespace tessera::puzzle
