// Wrong elements that are right for another position, or 0 at the same positions of each piece:
// typical errors of a thread with several elements.
#include <algorithm>
#include <cmath>
#include <optional>

#include "cause_parts.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

/// A matrix, or its transpose, so that rules for rows also apply to columns.
class Side {
 public:
  Side(const PuzzleMatrix& m, bool turned) : m_(m), turned_(turned) {}

  index_t rows() const { return turned_ ? m_.cols : m_.rows; }
  index_t cols() const { return turned_ ? m_.rows : m_.cols; }
  double got(index_t i, index_t j) const { return m_.got[at(i, j)]; }
  double expected(index_t i, index_t j) const { return m_.expected[at(i, j)]; }
  bool is_wrong(index_t i, index_t j) const { return m_.is_wrong(static_cast<index_t>(at(i, j))); }
  bool agree(index_t row, index_t col, index_t other_row, index_t other_col) const {
    return std::abs(got(row, col) - expected(other_row, other_col)) <= m_.tolerance;
  }
  /// "(row, col)" of the matrix itself.
  std::string place(index_t i, index_t j) const {
    return turned_ ? cat("(", j, ",", i, ")") : cat("(", i, ",", j, ")");
  }
  const char* row() const { return turned_ ? "column" : "row"; }
  const char* col() const { return turned_ ? "row" : "column"; }
  std::string_view other_row() const { return turned_ ? "other-column" : "other-row"; }
  std::string_view other_col() const { return turned_ ? "other-row" : "other-column"; }

 private:
  std::size_t at(index_t i, index_t j) const {
    return static_cast<std::size_t>(turned_ ? j * m_.cols + i : i * m_.cols + j);
  }
  const PuzzleMatrix& m_;
  bool turned_;
};

/// Positions in each piece of rows x cols where every piece has a wrong 0.
struct Zeros {
  index_t rows = 1, cols = 1, count = 0, first_row = 0, first_col = 0;
  double part() const { return static_cast<double>(count) / static_cast<double>(rows * cols); }
};
Zeros zeros_of(const Side& m, index_t rows, index_t cols) {
  Zeros out{rows, cols};
  for (index_t i = 0; i < rows * cols; ++i) {
    bool all = true, any_expected = false;
    for (index_t r = i / cols; r < m.rows(); r += rows)
      for (index_t c = i % cols; c < m.cols(); c += cols) {
        all = all && m.got(r, c) == 0;
        any_expected = any_expected || m.expected(r, c) != 0;
      }
    if (!all || !any_expected) continue;
    if (out.count++ == 0) out.first_row = i / cols, out.first_col = i % cols;
  }
  return out;
}

Cause of_zeros(const PuzzleCase& c, const PuzzleMatrix& m) {
  const Side side(m, false);
  Zeros most;
  for (const index_t rows : {1, 2, 4, 8, 16})
    for (const index_t cols : {1, 2, 4, 8, 16}) {
      if (m.rows % rows != 0 || m.cols % cols != 0 || rows * cols * 4 > m.rows * m.cols) continue;
      const Zeros here = zeros_of(side, rows, cols);
      if (here.count < rows * cols && here.part() > most.part()) most = here;
    }
  if (most.count == 0) return {};
  const bool has_several = c.grid[0] * c.grid[1] * c.block[0] * c.block[1] < m.rows * m.cols;
  return cause("not-all",
               cat("in each ", most.rows, " x ", most.cols, " piece of ", m.name, " the same ",
                   most.count, " of ", most.rows * most.cols, " elements stay 0, the first is (",
                   most.first_row, ",", most.first_col, ") of the piece"),
               has_several ? "a thread has several sums: does each of them get its products?"
                           : "which threads add nothing?");
}

/// The row whose expected numbers this one contains.
std::optional<index_t> row_meant(const Side& m, index_t row) {
  for (index_t i = 0; i < m.rows(); ++i) {
    const index_t other = (row + i) % m.rows();
    bool agrees = true;
    for (index_t j = 0; agrees && j < m.cols(); ++j) agrees = m.agree(row, j, other, j);
    if (agrees) return other;
  }
  return {};
}

/// Each row is one of the expected rows, and some are at a wrong position.
Cause of_rows(const Side& m) {
  index_t wrong = -1, meant = 0;
  for (index_t i = 0; i < m.rows(); ++i) {
    const auto other = row_meant(m, i);
    if (!other) return {};
    if (*other != i && wrong < 0) wrong = i, meant = *other;
  }
  if (wrong < 0) return {};
  return cause(m.other_row(), cat(m.row(), " ", wrong, " holds what belongs to ", m.row(), " ",
                                  meant, ", and each ", m.row(), " is one of the right ones"));
}

/// What fraction of the wrong elements is expected `shift` rows later?
double part_in_row(const Side& m, index_t shift) {
  index_t wrong = 0, found = 0;
  for (index_t i = 0; i < m.rows(); ++i)
    for (index_t j = 0; j < m.cols(); ++j) {
      if (!m.is_wrong(i, j)) continue;
      ++wrong;
      bool is_there = false;
      for (index_t k = 0; k < m.cols(); ++k)
        is_there = is_there || m.agree(i, j, (i + shift) % m.rows(), k);
      found += is_there ? 1 : 0;
    }
  return wrong == 0 ? 0 : static_cast<double>(found) / static_cast<double>(wrong);
}

/// All wrong elements are expected in their row, which is unlikely by chance.
Cause of_places_in_rows(const Side& m) {
  if (part_in_row(m, 0) < 1 || part_in_row(m, 1) > 0.5) return {};
  for (index_t i = 0; i < m.rows(); ++i)
    for (index_t j = 0; j < m.cols(); ++j) {
      if (!m.is_wrong(i, j)) continue;
      index_t meant = -1, count = 0;
      for (index_t k = 0; k < m.cols(); ++k)
        if (m.agree(i, j, i, k)) meant = k, ++count;
      if (count == 1)
        return cause(m.other_col(), cat(m.place(i, j), " holds what belongs to ", m.place(i, meant),
                                        ": each element is one of its own ", m.row(),
                                        ", but of another ", m.col()));
    }
  return {};
}

/// For positions in memory, which no kernel has computed: the first wrong step down or to the
/// right.
Cause of_steps(const PuzzleMatrix& m) {
  const bool is_whole = std::all_of(m.expected.begin(), m.expected.end(),
                                    [](double x) { return x == std::floor(x); });
  if (m.rows < 2 || m.cols < 2 || !is_whole) return {};
  for (const bool turned : {false, true}) {
    const Side side(m, turned);
    for (index_t i = 1; i < side.rows(); ++i) {
      const double is = side.got(i, 0) - side.got(i - 1, 0),
                   must = side.expected(i, 0) - side.expected(i - 1, 0);
      if (is != must)
        return cause("wrong-step",
                     cat("the step from ", side.place(i - 1, 0), " to ", side.place(i, 0), " is ",
                         is, " elements, and must be ", must));
    }
  }
  return {};
}

}  // namespace

Cause cause_of_pattern(const PuzzleCase& c, const PuzzleMatrix& m) {
  if (c.block[0] == 0) return of_steps(m);
  constexpr index_t least = 4;  // smaller ones are often right by chance
  if (m.rows < least || m.cols < least) return {};
  if (Cause out = of_zeros(c, m); !out.id.empty()) return out;
  for (const bool turned : {false, true})
    if (Cause out = of_rows({m, turned}); !out.id.empty()) return out;
  for (const bool turned : {false, true})
    if (Cause out = of_places_in_rows({m, turned}); !out.id.empty()) return out;
  return {};
}

}  // namespace tessera::course
