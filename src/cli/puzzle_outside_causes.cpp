// An element that does not exist was asked for: by a thread too many, or by a wrong index?
#include <algorithm>

#include "puzzle_cause_parts.hpp"
#include "puzzle_names.hpp"
#include "puzzle_source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

/// Where the thread stands among all of the grid.
index_t place(const PuzzleCase& c, const PuzzleFinding& f, std::size_t mode) {
  return f.block[mode] * c.block[mode] + f.thread[mode];
}

/// The learner's own index of a mode, or what it is usually called.
std::string index_of(const PuzzleFinding& f, const std::vector<std::string>& indices,
                     std::size_t mode) {
  if (mode < indices.size() && indices.size() == f.extents.size()) return indices[mode];
  return f.extents.size() == 1 ? "i" : mode == 0 ? "row" : "col";
}

/// Each index with its extent: "row < M && col < N".
struct Comparison {
  std::string_view compares, joins;
};
constexpr Comparison kAsCode{" < ", " && "};
constexpr Comparison kInWords{" with ", ", and "};  // where how to write it is the exercise
std::string compared(const Comparison& words, const PuzzleAttempt& attempt, const PuzzleCase& c,
                     const PuzzleFinding& f, const std::vector<std::string>& indices) {
  std::string out;
  for (std::size_t i = 0; i < f.extents.size(); ++i)
    out += cat(i > 0 ? words.joins : "", index_of(f, indices, i), words.compares,
               extent_name(attempt, c, f.tensor, i, f.extents[i]));
  return out;
}

/// Is there a thread for each element at most? Then none is to be kept away.
bool has_no_thread_too_many(const PuzzleCase& c) {
  const index_t threads = c.grid[0] * c.grid[1] * c.block[0] * c.block[1];
  return std::any_of(c.coverage.begin(), c.coverage.end(), [&](const auto& t) {
    return t.is_output && t.elements % threads == 0 && t.elements >= threads;
  });
}

/// Does the index of one mode hold the thread's place in the other one?
bool is_swapped(const PuzzleCase& c, const PuzzleFinding& f) {
  if (f.element.size() != 2 || f.extents.size() != 2) return false;
  const index_t x = place(c, f, 0), y = place(c, f, 1);
  const bool row_is_x = f.element[0] >= f.extents[0] && f.element[0] == x && x != y;
  const bool col_is_y = f.element[1] >= f.extents[1] && f.element[1] == y && x != y;
  return (row_is_x && x < f.extents[1]) || (col_is_y && y < f.extents[0]);
}

Cause of_a_tile(const PuzzleCase& c, const PuzzleFinding& f) {
  const bool is_empty = std::find(f.extents.begin(), f.extents.end(), 0) != f.extents.end();
  if (is_empty)
    return cause(
        "wrong-index", cat("the whole tile lies outside of ", f.tensor),
        "the numbers of a tile count tiles, not elements: of A tile (0, k), of B tile (k, 0)");
  if (c.block[1] > 1 && f.element.size() == 2 && f.extents.size() == 2)
    return cause(
        "wrong-index", f.problem,
        "the indices of a tile begin at 0 in its corner: (y, x), the thread's place in the block");
  return cause("wrong-index", f.problem, "the indices of a tile begin at 0 in its corner");
}

/// "s.sums(0, i) = s.sums(0, i) + ...": does the line write the tile that it reads?
bool changes_in_place(const std::string& line, const std::string& tile) {
  const auto assigns = line.find(" = "), first = line.find(tile + "(");
  return first < assigns && assigns != std::string::npos &&
         line.find(tile + "(", assigns) != std::string::npos;
}

Cause of_shared(const PuzzleFinding& f, const std::string& line,
                const std::vector<std::string>& indices) {
  if (f.extents.empty()) return cause("wrong-index", f.problem);
  std::string last;
  for (const index_t each : f.extents) last += cat(last.empty() ? "" : ", ", each - 1);
  if (changes_in_place(line, f.tensor))
    return cause("wrong-index", f.problem,
                 cat("the last element is (", last,
                     "); but to stay below it is not enough: what a "
                     "thread reads here no other one may write in the same round. So which threads "
                     "take part in a round?"));
  return cause("wrong-index", f.problem,
               cat("the last element is (", last, "): let only those threads read or write whose ",
                   indices.empty() ? "element exists" : cat("(", indices.back(), ") exists"),
                   ", or correct the index"));
}

/// Of a load into a tile, where the thread must write something all the same.
std::string zero_instead(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f,
                         const std::string& line, const std::vector<std::string>& indices) {
  const auto assigns = line.find(" = ");
  const bool fills_tile = assigns != std::string::npos && line.find("s.") < assigns &&
                          line.find("if (") == std::string::npos && indices.size() == 2;
  if (!fills_tile) return {};
  const auto begin = line.find("s.");
  return cat("store 0 in the tile instead: ", line.substr(begin, assigns - begin), " = ",
             compared(kAsCode, attempt, c, f, indices), " ? ", f.tensor, "(", indices[0], ", ",
             indices[1], ") : 0.0f");
}

}  // namespace

Cause cause_of_outside(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f) {
  const std::string line = line_of(attempt.source, f.line);
  const auto indices = indices_of(line, f.tensor);
  if (f.memory == "shared") return of_shared(f, line, indices);
  if (f.is_of_part) return of_a_tile(c, f);
  if (is_swapped(c, f))
    return cause("swapped-access", f.problem,
                 "the row comes first: what counts columns belongs behind the comma");
  if (std::any_of(f.element.begin(), f.element.end(), [](const auto i) { return i < 0; }))
    return cause("wrong-index", f.problem,
                 "the index is below 0: what is it for block 0, thread 0?");
  const index_t own = place(c, f, 0);
  const bool is_line = f.extents.size() == 1 && c.grid[1] * c.block[1] == 1;
  const bool has_own =
      is_line && f.element.size() == 1 && f.element[0] != own && own < f.extents[0];
  if (has_own || has_no_thread_too_many(c))
    return cause("wrong-index", f.problem,
                 has_own ? cat("that thread's own element is ", own,
                               ": the index is wrong, and a guard would leave elements out")
                         : cat("no thread is too many here, so the index is wrong: ",
                               place_advice(attempt, c)));
  const std::string zero = zero_instead(attempt, c, f, line, indices);
  if (!zero.empty()) return cause("guard", f.problem + ": that access must not happen", zero);
  return cause("guard", f.problem + ": that thread must be kept away",
               "let only those threads do it whose element exists: an if that compares " +
                   compared(kInWords, attempt, c, f, indices));
}

}  // namespace tessera::cli
