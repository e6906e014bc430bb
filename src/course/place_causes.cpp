// The common properties of wrong elements: their positions, their values, untouched elements.
#include <algorithm>
#include <cmath>
#include <optional>

#include "cause_parts.hpp"
#include "source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

double got(const PuzzleMatrix& m, index_t i) { return m.got[static_cast<std::size_t>(i)]; }
double expected(const PuzzleMatrix& m, index_t i) {
  return m.expected[static_cast<std::size_t>(i)];
}

/// Are all wrong elements in the last rows or columns, less than a block's worth of them?
bool only_at_the_edge(const PuzzleMatrix& m, index_t rows, index_t cols) {
  bool all_low = true, all_right = true;
  for (index_t i = 0; i < m.rows * m.cols; ++i) {
    if (!m.is_wrong(i)) continue;
    all_low = all_low && i / m.cols >= m.rows - rows;
    all_right = all_right && i % m.cols >= m.cols - cols;
  }
  const bool is_part_low = m.rows > rows, is_part_right = m.cols > cols;
  return (all_low && is_part_low) || (all_right && is_part_right);
}

/// Is each block's tile entirely right or entirely wrong?
bool whole_tiles(const PuzzleMatrix& m, index_t rows, index_t cols) {
  for (index_t i = 0; i < m.rows * m.cols; ++i) {
    const index_t row = i / m.cols / rows * rows, col = i % m.cols / cols * cols;
    if (m.is_wrong(i) != m.is_wrong(row * m.cols + col)) return false;
  }
  return m.wrong < m.rows * m.cols;
}

/// Right if the block's two numbers are equal, wrong elsewhere, except by chance?
bool diagonal_tiles(const PuzzleMatrix& m, index_t rows, index_t cols) {
  index_t elsewhere = 0;
  for (index_t i = 0; i < m.rows * m.cols; ++i) {
    const bool is_diagonal = i / m.cols / rows == i % m.cols / cols;
    if (is_diagonal && m.is_wrong(i)) return false;
    elsewhere += is_diagonal ? 0 : 1;
  }
  return elsewhere > 0 && 10 * m.wrong >= 9 * elsewhere;
}

/// The size of square pieces of which each has rows and columns swapped; 0: of none.
index_t turned_pieces(const PuzzleCase& c, const PuzzleMatrix& m) {
  const index_t square = c.block[0] == c.block[1] ? c.block[0] : 0;
  for (const index_t t : {index_t{2}, index_t{4}, index_t{8}, index_t{16}, square}) {
    if (t < 2) continue;
    bool is_turned = m.rows % t == 0 && m.cols % t == 0;
    for (index_t i = 0; is_turned && i < m.rows * m.cols; ++i) {
      const index_t row = i / m.cols, col = i % m.cols;
      const index_t other = (row / t * t + col % t) * m.cols + col / t * t + row % t;
      is_turned = std::abs(got(m, i) - expected(m, other)) <= m.tolerance;
    }
    if (is_turned) return t;
  }
  return 0;
}

/// All elements of each row are one number, and should not be; or of each column.
Cause of_same_numbers(const PuzzleMatrix& m, bool of_columns) {
  const index_t lines = of_columns ? m.cols : m.rows, length = of_columns ? m.rows : m.cols;
  if (lines < 2 || length < 2) return {};
  bool should_differ = false;
  for (index_t line = 0; line < lines; ++line)
    for (index_t i = 1; i < length; ++i) {
      const index_t first = of_columns ? line : line * m.cols,
                    other = of_columns ? i * m.cols + line : line * m.cols + i;
      if (got(m, other) != got(m, first) || !std::isfinite(got(m, other))) return {};
      should_differ = should_differ || expected(m, other) != expected(m, first);
    }
  if (!should_differ) return {};
  const char* const line = of_columns ? "column" : "row";
  const char* const moves = of_columns ? "row" : "column";
  return cause("all-wrong", cat("all elements of a ", line, " are the same number"),
               cat("which index of an input moves with the ", moves, " of the result?"));
}

/// By what every right element was multiplied; nothing where it is not the same for all.
std::optional<double> factor_of(const PuzzleMatrix& m) {
  std::optional<double> out;
  for (index_t i = 0; i < m.rows * m.cols; ++i) {
    const double should = expected(m, i), is = got(m, i);
    if (should == 0 && is == 0) continue;
    if (should == 0 || (out && std::abs(is - *out * should) > 1e-6 * std::abs(is))) return {};
    if (!out) out = is / should;
  }
  return out;
}

/// Is each row of the result the right one times a number of its own?
bool has_factor_of_rows(const PuzzleMatrix& m) {
  if (m.rows < 2 || m.cols < 4) return false;
  for (index_t row = 0; row < m.rows; ++row) {
    double both = 0, largest = 0, squares = 0;
    for (index_t i = row * m.cols; i < (row + 1) * m.cols; ++i) {
      both += got(m, i) * expected(m, i), squares += expected(m, i) * expected(m, i);
      largest = std::max(largest, std::abs(got(m, i)));
    }
    if (squares == 0 || both == 0) return false;
    for (index_t i = row * m.cols; i < (row + 1) * m.cols; ++i)
      if (std::abs(got(m, i) - both / squares * expected(m, i)) > 1e-4 * largest) return false;
  }
  return true;
}

/// The difference between every element and the right one; nothing if it varies.
std::optional<double> offset_of(const PuzzleMatrix& m) {
  const double out = got(m, 0) - expected(m, 0);
  for (index_t i = 1; i < m.rows * m.cols; ++i)
    if (std::abs(got(m, i) - expected(m, i) - out) > std::max(m.tolerance, 1e-6 * std::abs(out)))
      return {};
  return m.rows * m.cols > 1 && m.is_wrong(0) ? std::optional(out) : std::nullopt;
}

/// Is every element an integer, though most should not be?
bool is_cut_to_whole(const PuzzleMatrix& m) {
  const auto is_whole = [](double x) { return x == std::floor(x); };
  const auto broken = m.expected.size() - static_cast<std::size_t>(std::count_if(
                                              m.expected.begin(), m.expected.end(), is_whole));
  return 2 * broken > m.expected.size() && std::all_of(m.got.begin(), m.got.end(), is_whole);
}

Cause of_numbers(const PuzzleMatrix& m) {
  for (index_t i = 0; i < m.rows * m.cols; ++i)
    if (m.is_wrong(i) && !std::isfinite(got(m, i)))
      return cause("not-finite", cat("element (", i / m.cols, ",", i % m.cols, ") is ", got(m, i)));
  const index_t size = m.rows * m.cols;
  const bool is_constant =
      size > 1 && std::all_of(m.got.begin(), m.got.end(), [&](double x) { return x == m.got[0]; });
  if (is_constant && m.got[0] == 0)
    return cause("constant", "every element is 0", "is what is computed ever added, and stored?");
  if (is_constant) return cause("constant", cat("every element is ", m.got[0]));
  const auto factor = size > 1 ? factor_of(m) : std::nullopt;
  if (factor && *factor == 2)
    return cause("factor", "every product is added twice", "are old lines still there?");
  if (factor && *factor < 1 && *factor > 0)
    return cause("factor", cat("each element is a ", 1 / *factor, "th of the right one"),
                 "look for what is left out, or divided once too often");
  if (factor) return cause("factor", cat("each element is ", *factor, " times the right one"));
  if (has_factor_of_rows(m))
    return cause("factor", "each row is a multiple of the right one, and each of another",
                 "what are the numbers of a row multiplied with, or divided by?");
  if (const auto offset = offset_of(m))
    return cause("offset", cat("each element is ", std::abs(*offset), " too ",
                               *offset > 0 ? "large" : "small"));
  if (is_cut_to_whole(m)) return cause("whole-numbers");
  return {};
}

/// The `if` around the only line of the learner's file that touches the tensor; 0: uncertain.
int guard_of_store(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleCoverage& t) {
  int line = 0;
  for (const auto& each : c.accesses) {
    if (each.tensor != t.tensor || each.file != attempt.file || each.line == line) continue;
    if (line != 0) return 0;
    line = each.line;
  }
  if (line_of(attempt.source, line).find("if (") != std::string::npos) return line;
  return guard_between(attempt.source, kernel_named(attempt.source, c.kernel).first, line).first;
}

/// "the row is Y, the column X": does the file have both?
bool has_places(const std::string& source, const std::string& advice) {
  constexpr std::string_view row = "the row is ", col = ", the column ";
  const auto middle = advice.find(col);
  return advice.starts_with(row) && middle != std::string::npos &&
         stands_in(source, advice.substr(row.size(), middle - row.size())) &&
         stands_in(source, advice.substr(middle + col.size()));
}

Cause of_unwritten(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleCoverage& t,
                   const PuzzleMatrix& m, bool is_edge) {
  const index_t x = c.grid[0] * c.block[0], y = c.grid[1] * c.block[1];
  bool behind_y = t.cols > y && x >= t.cols;
  for (index_t i = 0; i < m.rows * m.cols; ++i)
    behind_y = behind_y && (!m.is_wrong(i) || i % m.cols >= y);
  if (behind_y && y > 1)
    return cause("swapped-threads",
                 cat("columns from ", y, " on are never written: along y there are ", y,
                     " threads, for ", t.cols, " columns"));
  if (is_edge) return cause("guard-too-strict");
  const std::string sentence = cat(t.elements - t.written, " of ", t.elements, " elements of ",
                                   t.tensor, " are never written");
  const std::string place = place_advice(attempt, c);
  if (!has_places(attempt.source, place)) return cause("never-written", sentence, place);
  const int guard = guard_of_store(attempt, c, t);
  return cause("never-written", sentence,
               guard > 0 ? cat("which threads pass the if in line ", guard, "?") : "");
}

/// A line that indexes elements with a row and a column that both move with x, or both with y.
std::string diagonal_advice(const std::string& source, const std::string& tensor) {
  const auto lines = lines_of(source);
  for (int i = 1; i <= static_cast<int>(lines.size()); ++i) {
    const auto at = indices_of(line_of(source, i), tensor);
    if (at.size() != 2) continue;
    const bool row_x = comes_from(source, at[0], ".x"), row_y = comes_from(source, at[0], ".y"),
               col_x = comes_from(source, at[1], ".x"), col_y = comes_from(source, at[1], ".y");
    const std::string both = cat("in line ", i, " both indices of ", tensor, " move with ");
    if (row_x && col_x && !row_y && !col_y)
      return cat(both, "x, (", at[0], ", ", at[1], "): its row must move with y");
    if (row_y && col_y && !row_x && !col_x)
      return cat(both, "y, (", at[0], ", ", at[1], "): its column must move with x");
  }
  return {};
}

struct Blocks {
  index_t rows, cols;
  bool is_edge;  ///< are only the last elements wrong?
};
Blocks blocks_of(const PuzzleCase& c, const PuzzleMatrix& m) {
  const index_t rows = std::max<index_t>(1, c.block[1]), cols = std::max<index_t>(1, c.block[0]);
  return {
      rows, cols,
      c.block[0] > 0 && only_at_the_edge(m, m.rows > rows ? rows : 1, m.cols > cols ? cols : 1)};
}

}  // namespace

Cause cause_of_coverage(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleMatrix& m) {
  const Blocks blocks = blocks_of(c, m);
  for (const auto& t : c.coverage)
    if (t.is_output && t.written < t.elements && t.written > 0) {
      Cause out = of_unwritten(attempt, c, t, m, blocks.is_edge);
      out.finding = find_finding(c, {"never-written"});
      return out;
    }
  const PuzzleCoverage* partial = nullptr;
  int whole = 0, inputs = 0;
  for (const auto& t : c.coverage) {
    if (t.is_output) continue;
    ++inputs;
    if (t.read == t.elements) ++whole;
    else if (partial == nullptr) partial = &t;
  }
  if (partial == nullptr || (inputs > 1 && whole != inputs - 1)) return {};
  if (inputs == 1 && !m.looks_like.empty()) return {};
  std::string sentence = partial->read == 0
                             ? cat(partial->tensor, " is never read")
                             : cat(partial->elements - partial->read, " of ", partial->elements,
                                   " elements of ", partial->tensor, " are never read");
  if (whole > 0) sentence += "; every element of the other inputs is";
  const std::string diagonal = diagonal_advice(attempt.source, partial->tensor);
  if (c.block[1] > 1 && !diagonal.empty()) return cause("part-not-read", sentence, diagonal);
  const bool has_loop = attempt.source.find("for (") != std::string::npos;
  return cause("part-not-read", sentence,
               cat("look at the index of ", partial->tensor,
                   has_loop ? ", at its guard and at the bounds of the loop" : ""));
}

Cause cause_of_places(const PuzzleCase& c, const PuzzleMatrix& m) {
  const Blocks blocks = blocks_of(c, m);
  const auto [rows, cols, is_edge] = blocks;
  Cause numbers = of_numbers(m);
  if (!numbers.id.empty()) return numbers;
  if (const index_t t = turned_pieces(c, m))
    return cause("tile-transposed",
                 cat("inside each piece of ", t, " x ", t, " rows and columns are swapped"),
                 t == c.block[0] && t == c.block[1]
                     ? "the row comes first: (y, x), where y counts rows and x counts columns"
                     : "a row's number goes with i and a column's with j, in the products and in "
                       "C(row + i, col + j) = sum[i][j]");
  for (const bool of_columns : {false, true})
    if (Cause same = of_same_numbers(m, of_columns); !same.id.empty()) return same;
  if (rows * cols > 1 && diagonal_tiles(m, rows, cols))
    return cause("some-blocks", "right only where block.x and block.y are the same",
                 "one of the two is used where the other belongs: y counts rows, x columns");
  if (Cause pattern = cause_of_pattern(c, m); !pattern.id.empty()) return pattern;
  for (const auto& t : c.coverage)
    if (!t.is_output && t.read < t.elements && t.read > 0)
      return cause("part-not-read", cat(t.elements - t.read, " of ", t.elements, " elements of ",
                                        t.tensor, " are never read"));
  const bool has_one = m.rows * m.cols == 1;
  if (10 * m.wrong >= 9 * m.rows * m.cols)  // 0 is often right by chance
    return has_one ? cause("all-wrong", cat("the number is ", got(m, 0), ", not ", expected(m, 0)))
                   : cause("all-wrong");
  if (is_edge) return cause("edge");
  if (rows * cols > 1 && whole_tiles(m, rows, cols)) return cause("some-blocks");
  return cause("not-all",
               cat(m.rows * m.cols - m.wrong, " of ", m.rows * m.cols, " elements are right"));
}

}  // namespace tessera::course
