// Findings first, since they are certain; then what the numbers agree with; then their places.
// Nothing here knows any one puzzle.
#include "puzzle_causes.hpp"

#include <algorithm>
#include <iterator>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

struct Words {
  std::string_view id, title, sentence, advice;
};

constexpr Words kCauses[] = {
    {"does-not-compile", "it does not compile", "", "change the line that is shown"},
    {"unfilled", "nothing is filled in yet", "the kernel touches no element",
     "write what the comment FILL ME IN asks for"},
    {"nothing-stored", "nothing is stored",
     "the kernel reads its inputs, but no element is written",
     "store the result, once, at the end"},
    {"guard", "a guard is missing, or is not strict enough", "",
     "let only those threads do it whose row and column exist: if (row < rows && col < cols)"},
    {"guard-too-strict", "a guard keeps too many threads away",
     "the elements that were never written are all at the edge",
     "compare with < and the extent itself, or launch enough threads"},
    {"swapped-indices", "rows and columns of the result are swapped",
     "what stands at (row, col) is what belongs to (col, row)",
     "y counts rows and x counts columns: out(row, col)"},
    {"a-transposed", "the indices of A are swapped", "this is the product with A transposed",
     "A is read at (row, k)"},
    {"b-transposed", "the indices of B are swapped", "this is the product with B transposed",
     "B is read at (k, col)"},
    {"operands-swapped", "A and B are swapped", "this is B * A", "row by A, column by B"},
    {"elementwise", "elements are multiplied one by one",
     "each element is A(row, col) * B(row, col), which is another product",
     "sum over k: A(row, k) * B(k, col)"},
    {"one-product", "the sum is overwritten instead of added to",
     "each element holds the last product only", "sum = fma(a, b, sum)"},
    {"loop-too-short", "the loop leaves out one step of k",
     "each element lacks its first or its last product", "for k from 0 while k < the extent"},
    {"last-k-tile-dropped", "the last tile along k is dropped",
     "each element lacks the products of the last tile",
     "round the number of tiles up: (K + T - 1) / T of them"},
    {"only-the-first-tile", "only the first tile along k is used",
     "each element holds the products of the first tile only",
     "the loop goes over all tiles along k"},
    {"same-tile-again", "each round loads the same tiles",
     "the result is that of the first tiles, as often as there are rounds",
     "k belongs into the index of each load: A(row, k + x), B(k + y, col)"},
    {"sum-not-kept", "the sum does not live across the tiles",
     "each element holds the products of the last tile only",
     "set the sum to 0 once, before the loop over the tiles"},
    {"wrong-tile", "the wrong tile is taken", "the tile's two indices are swapped",
     "of A tile (block.y, k), of B tile (k, block.x)"},
    {"tile-transposed", "a tile is stored or read with swapped indices",
     "inside of each tile rows and columns are swapped", "of A (y, i), of B (i, x)"},
    {"same-place", "several threads write the same element",
     "some elements are written by more than one thread, others by none",
     "the place in the result is that of the block and that of the thread: block.y * rows + "
     "thread.y"},
    {"needs-atomic", "several threads update the same element at once",
     "one reads what another is about to write, and an update is lost",
     "use t.atomic_add(C(row, col), value), or give each element to one thread"},
    {"missing-barrier", "a barrier is missing", "", ""},
    {"barrier-in-guard", "not all threads of the block reach the barrier",
     "a barrier stands inside of an if, a loop or behind a return that only some threads pass",
     "guard the load and the store, and let the barrier stand outside"},
    {"forgotten-wait", "an asynchronous copy is not waited for",
     "the tile is read while its copy may still be under way",
     "commit(t); wait<0>(t); t.barrier(); and only then read"},
    {"uninitialized", "something is read that nobody has written", "",
     "begin sums with 0, and write every element of a tile that will be read"},
    {"stale-edge", "the edge of a tile keeps what the tile before left there",
     "where the next tile reaches past the matrix, nothing is loaded, and the old numbers count "
     "once more",
     "write zero where the element does not exist"},
    {"wrong-index", "an element is asked for that does not exist", "",
     "follow the index: which row and column does this thread mean?"},
    {"part-not-read", "part of an input is never read", "",
     "look at the bounds of the loop, and at the index"},
    {"edge", "the elements at the edge are wrong", "the inner ones are right",
     "what happens in the last, partial tile? its missing part must count as zero"},
    {"some-blocks", "whole tiles are wrong, others are right",
     "threads of one block agree with each other", "the block's place is not what it should be"},
    {"not-all", "part of the result is wrong", "", "compare the first wrong element by hand"},
    {"all-wrong", "the formula is wrong", "no pattern fits: nearly every element is another number",
     "compute the first element by hand, and compare what the kernel adds up"},
    {"goal", "right, but not good enough yet", "",
     "the hints say where the cost is, and --html FILE draws which lane touches which bytes"},
    {"misaligned", "a wide access is not aligned", "",
     "vectors of four begin at a multiple of four elements"},
    {"mma-misuse", "not all lanes of the warp take part in the matrix instruction", "",
     "all 32 lanes call load_a, load_b, mma and store_d together, outside of every if"},
    {"endless", "it does not end", "a loop never comes to its end",
     "does the loop's variable move towards its bound?"},
    {"crash", "the program died", "", "look for an index or a pointer that is far away"},
    {"exception", "the kernel threw", "", ""},
    {"impossible-launch", "no GPU can run this block", "", "fewer threads, or less shared storage"},
    {"spec", "the puzzle could not be run", "", ""},
};

Cause cause(std::string_view id, std::string sentence = {}, std::string advice = {}) {
  for (const Words& each : kCauses) {
    if (each.id != id) continue;
    return {std::string(each.id), std::string(each.title),
            sentence.empty() ? std::string(each.sentence) : std::move(sentence),
            advice.empty() ? std::string(each.advice) : std::move(advice)};
  }
  throw Error(Category::failed, cat("puzzle: no cause '", id, "'"));
}

const PuzzleFinding* find(const PuzzleCase& c, std::initializer_list<std::string_view> kinds,
                          std::string_view memory = {}) {
  for (const auto& f : c.findings) {
    const bool is_kind = std::find(kinds.begin(), kinds.end(), f.kind) != kinds.end();
    if (is_kind && f.counts() && (memory.empty() || f.memory == memory)) return &f;
  }
  return nullptr;
}

/// Is there a barrier between two lines of the learner's text?
bool barrier_between(const std::string& source, int first, int last) {
  const auto lines = lines_of(source);
  for (int i = first; i < last && i < static_cast<int>(lines.size()); ++i) {
    const std::string& line = lines[static_cast<std::size_t>(i)];
    if (line.find("barrier()") != std::string::npos || line.find("});") != std::string::npos)
      return true;
  }
  return false;
}

Cause missing_barrier(const PuzzleAttempt& attempt, const PuzzleFinding& f) {
  const int first = std::min(f.line, f.other_line), last = std::max(f.line, f.other_line);
  if (first == last || f.other_line == 0)
    return cause(
        "missing-barrier",
        cat("threads meet in ", f.tensor, " at line ", last, ", and nothing says who comes first"),
        "t.barrier() between writing and reading; each element is written by one thread");
  if (barrier_between(attempt.source, first, last))
    return cause("missing-barrier",
                 cat("in the next round line ", first,
                     " overwrites what a slower thread still reads in "
                     "line ",
                     last),
                 cat("t.barrier() at the end of the loop, behind line ", last));
  return cause("missing-barrier",
               cat("line ", last, " reads what other threads have written in line ", first,
                   ", and they may not have done so yet"),
               cat("t.barrier() between the lines ", first, " and ", last));
}

Cause guard(const PuzzleFinding& f) {
  if (f.memory == "shared")
    return cause("wrong-index", cat(f.problem), "the tile has the extents it is declared with");
  return cause("guard", cat(f.problem, ": that thread must be kept away"));
}

bool any_never_written(const PuzzleCase& c) {
  return std::any_of(c.coverage.begin(), c.coverage.end(),
                     [](const auto& t) { return t.is_output && t.written < t.elements; });
}
bool none_written(const PuzzleCase& c) {
  return std::none_of(c.coverage.begin(), c.coverage.end(),
                      [](const auto& t) { return t.is_output && t.written > 0; });
}
bool none_read(const PuzzleCase& c) {
  return std::none_of(c.coverage.begin(), c.coverage.end(),
                      [](const auto& t) { return !t.is_output && t.read > 0; });
}

bool any_output_read(const PuzzleCase& c) {
  return std::any_of(c.coverage.begin(), c.coverage.end(),
                     [](const auto& t) { return t.is_output && t.read > 0; });
}
/// Do some elements have more than one writer, and others none? The checker only notes it where all
/// of them write the same number.
bool writes_meet(const PuzzleCase& c) {
  return any_never_written(c) &&
         std::any_of(c.findings.begin(), c.findings.end(),
                     [](const auto& f) { return f.kind == "race" && f.memory == "global"; });
}

/// What ended the run, or keeps it from being one.
const PuzzleFinding* fatal(const PuzzleCase& c) {
  return find(c, {"endless", "crash", "exception", "stack-overflow", "impossible-launch",
                  "mma-misuse", "misaligned"});
}

/// From the checker's findings; empty id: they say nothing of it.
Cause cause_of_findings(const PuzzleAttempt& attempt, const PuzzleCase& c) {
  if (const auto* f = fatal(c)) {
    if (f->kind == "endless") return cause("endless");
    return cause(f->kind == "stack-overflow" ? "crash" : f->kind, f->problem);
  }
  if (const auto* f = find(c, {"diverged-barrier", "missing-barrier", "early-return"}))
    return cause("barrier-in-guard", f->problem);
  if (const auto* f = find(c, {"out-of-bounds", "outside-view"})) return guard(*f);
  if (find(c, {"async-not-waited", "async-never-waited"}) != nullptr)
    return cause("forgotten-wait");
  if (writes_meet(c)) return cause("same-place");
  if (find(c, {"race"}, "global") != nullptr)
    return cause(any_output_read(c) ? "needs-atomic" : "same-place");
  if (const auto* f = find(c, {"race"})) return missing_barrier(attempt, *f);
  if (find(c, {"stale-read"}) != nullptr) return cause("stale-edge");
  if (const auto* f = find(c, {"uninitialized-read"})) return cause("uninitialized", f->problem);
  return {};
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

/// Is each block's tile all right or all wrong?
bool whole_tiles(const PuzzleMatrix& m, index_t rows, index_t cols) {
  for (index_t i = 0; i < m.rows * m.cols; ++i) {
    const index_t row = i / m.cols / rows * rows, col = i % m.cols / cols * cols;
    if (m.is_wrong(i) != m.is_wrong(row * m.cols + col)) return false;
  }
  return m.wrong < m.rows * m.cols;
}

Cause cause_of_places(const PuzzleCase& c, const PuzzleMatrix& m) {
  const index_t rows = std::max<index_t>(1, c.block[1]), cols = std::max<index_t>(1, c.block[0]);
  const index_t edge_rows = m.rows > rows ? rows : 1, edge_cols = m.cols > cols ? cols : 1;
  const bool edge = only_at_the_edge(m, edge_rows, edge_cols);
  if (any_never_written(c) && edge) return cause("guard-too-strict");
  for (const auto& t : c.coverage)
    if (!t.is_output && t.read < t.elements && t.read > 0)
      return cause("part-not-read", cat(t.elements - t.read, " of ", t.elements, " elements of ",
                                        t.tensor, " are never read"));
  if (10 * m.wrong >= 9 * m.rows * m.cols) return cause("all-wrong");  // 0 is often right by chance
  if (edge) return cause("edge");
  if (rows * cols > 1 && whole_tiles(m, rows, cols)) return cause("some-blocks");
  return cause("not-all",
               cat(m.rows * m.cols - m.wrong, " of ", m.rows * m.cols, " elements are right"));
}

}  // namespace

std::vector<std::string_view> cause_ids() {
  std::vector<std::string_view> out;
  for (const Words& each : kCauses) out.push_back(each.id);
  return out;
}

const PuzzleCase* wrong_case(const PuzzleAttempt& attempt) {
  if (!attempt.outcome || attempt.outcome->cases.empty()) return nullptr;
  const PuzzleCase& last = attempt.outcome->cases.back();
  return last.is_right() ? nullptr : &last;
}

Cause cause_of(const PuzzleAttempt& attempt) {
  if (!attempt.errors.empty()) return cause("does-not-compile");
  if (!attempt.outcome) return cause(attempt.timed_out ? "endless" : "crash", attempt.end);
  const PuzzleCase* const c = wrong_case(attempt);
  if (c == nullptr) return cause("spec", attempt.outcome->error);
  const bool is_kernel = c->block[0] > 0;
  if (is_kernel && none_written(*c) && fatal(*c) == nullptr && none_read(*c))
    return cause("unfilled");
  Cause found = cause_of_findings(attempt, *c);
  if (!found.id.empty()) return found;
  if (is_kernel && none_written(*c)) return cause("nothing-stored");
  for (const auto& m : c->outputs) {
    if (m.wrong == 0) continue;
    if (!m.looks_like.empty()) return cause(m.looks_like);
    return cause_of_places(*c, m);
  }
  for (const auto& goal : c->goals)
    if (!goal.reached)
      return cause("goal",
                   cat(goal.what, ": ", goal.got, ", at most ", goal.limit, " is the goal"));
  if (const auto* f = find(*c, {"never-read"})) return cause("part-not-read", f->problem);
  return cause("not-all");
}

}  // namespace tessera::cli
