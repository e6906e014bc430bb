// An access to an element that does not exist: by a thread too many, or with a wrong index?
#include <algorithm>
#include <optional>
#include <regex>

#include "cause_parts.hpp"
#include "names.hpp"
#include "source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

/// The thread's index in the whole grid.
index_t place(const PuzzleCase& c, const PuzzleFinding& f, std::size_t mode) {
  return f.block[mode] * c.block[mode] + f.thread[mode];
}

/// The learner's own index of a mode, or its usual name.
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
constexpr Comparison kInWords{" with ", ", and "};  // for puzzles whose exercise is the syntax
std::string compared(const Comparison& words, const PuzzleAttempt& attempt, const PuzzleCase& c,
                     const PuzzleFinding& f, const std::vector<std::string>& indices) {
  std::string out;
  for (std::size_t i = 0; i < f.extents.size(); ++i)
    out += cat(i > 0 ? words.joins : "", index_of(f, indices, i), words.compares,
               extent_name(attempt, c, f.tensor, i, f.extents[i]));
  return out;
}

/// Is there at most one thread for each element? Then no thread needs a guard.
bool has_no_thread_too_many(const PuzzleCase& c) {
  const index_t threads = c.grid[0] * c.grid[1] * c.block[0] * c.block[1];
  return std::any_of(c.outputs.begin(), c.outputs.end(), [&](const auto& m) {
    return m.rows * m.cols % threads == 0 && m.rows * m.cols >= threads;
  });
}

/// Does the index of one mode contain the thread's position along the other one?
bool is_swapped(const PuzzleCase& c, const PuzzleFinding& f) {
  if (f.element.size() != 2 || f.extents.size() != 2) return false;
  const index_t x = place(c, f, 0), y = place(c, f, 1);
  const bool row_is_x = f.element[0] >= f.extents[0] && f.element[0] == x && x != y;
  const bool col_is_y = f.element[1] >= f.extents[1] && f.element[1] == y && x != y;
  return (row_is_x && x < f.extents[1]) || (col_is_y && y < f.extents[0]);
}

/// The index that is too large: its mode, and its text in the line ("" if not found).
struct TooLarge {
  std::size_t mode;
  std::string index;
};
std::optional<TooLarge> too_large(const PuzzleFinding& f, const std::vector<std::string>& indices) {
  for (std::size_t m = 0; m < std::min(f.element.size(), f.extents.size()); ++m)
    if (f.element[m] >= f.extents[m])
      return TooLarge{m, indices.size() == f.extents.size() ? indices[m] : ""};
  return {};
}

/// Would the element exist with its row and column swapped?
bool exists_reversed(const PuzzleFinding& f) {
  return f.element.size() == 2 && f.extents.size() == 2 && f.element[0] < f.extents[1] &&
         f.element[1] < f.extents[0];
}

/// "for (int i = 0; i <= n; ++i)": one iteration more than n.
bool counts_to_its_bound(const std::string& line, const std::string& variable) {
  const std::regex header(cat(R"(\b)", variable, R"(\s*=\s*0\s*;\s*)", variable,
                              R"(\s*<=[^;-]*;\s*(\+\+)", variable, "|", variable, R"(\s*\+\+))"));
  return std::regex_search(line, header);
}

/// "s.a(y, k)" in a loop over i inside that over k, where no index moves with i; empty id: the
/// line is another one.
Cause of_inner_loop(const PuzzleAttempt& attempt, const PuzzleFinding& f, const Loop& loop,
                    const std::string& index) {
  const Loop inner = loop_around(attempt.source, f.line);
  const std::string i = loop_variable(line_of(attempt.source, inner.first));
  const std::string line = line_of(attempt.source, f.line);
  const auto body = inner.first == f.line ? line.find(')', line.rfind("++")) : std::size_t{0};
  const bool moves = body == std::string::npos || has_word(line.substr(body), i);
  if (i.empty() || inner.first == loop.first || moves) return {};
  return cause(
      "wrong-index", f.problem,
      cat(index, " counts the rounds of the loop in line ", loop.first,
          "; nothing in this line moves with ", i, ", the variable of the loop around it"));
}

/// A loop whose variable is the index comes to what does not exist; empty id: none is sure to.
Cause of_a_loop(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f,
                const TooLarge& at) {
  const auto says = [&](const Loop& loop, const std::string& variable) {
    return cause("loop-too-long",
                 cat(f.problem, ": the loop in line ", loop.first, " takes ", variable, " too far"),
                 cat("that loop may run only while ", at.index, " < ",
                     extent_name(attempt, c, f.tensor, at.mode, f.extents[at.mode])));
  };
  static const std::regex name(R"([A-Za-z_]\w*)");
  for (std::sregex_iterator each(at.index.begin(), at.index.end(), name), end; each != end;
       ++each) {
    const std::string variable = each->str();
    const Loop loop = loop_over(attempt.source, f.line, variable);
    if (loop.first == 0) continue;
    const bool is_one_too_far = f.element[at.mode] == f.extents[at.mode] &&
                                counts_to_its_bound(line_of(attempt.source, loop.first), variable);
    const bool is_index = at.index == variable && !exists_reversed(f);
    if (is_index && f.memory == "shared")
      if (Cause inner = of_inner_loop(attempt, f, loop, at.index); !inner.id.empty()) return inner;
    if (is_one_too_far || is_index) return says(loop, variable);
  }
  return {};
}

/// "TPB" of "k * TPB + x"; "" if the variable is not multiplied.
std::string multiplier_of(const std::string& index, const std::string& variable) {
  const std::regex product(
      cat("\\b", variable, R"(\s*\*\s*(\w+)|\b(\w+)\s*\*\s*)", variable, "\\b"));
  std::smatch match;
  if (!std::regex_search(index, match, product)) return {};
  return match[1].matched ? match[1].str() : match[2].str();
}

/// A loop that counts tiles one by one, but runs up to the number of elements; empty id: it is
/// none. The first thread along the index is not at an edge: for it the whole tile does not exist.
Cause of_a_loop_over_tiles(const PuzzleAttempt& attempt, const PuzzleCase& c,
                           const PuzzleFinding& f, std::size_t mode, const std::string& index,
                           const std::string& size) {
  static const std::regex name(R"([A-Za-z_]\w*)");
  const bool is_first = (f.thread[0] == 0 || !comes_from(attempt.source, index, ".x")) &&
                        (f.thread[1] == 0 || !comes_from(attempt.source, index, ".y"));
  if (!is_first) return {};
  for (std::sregex_iterator each(index.begin(), index.end(), name), end; each != end; ++each) {
    const std::string k = each->str();
    const Loop loop = loop_over(attempt.source, f.line, k);
    const std::regex one_by_one(cat(R"(\b)", k, R"(\s*=\s*0\s*;\s*)", k,
                                    R"(\s*<\s*(\w+)\s*;\s*(\+\+)", k, "|", k, R"(\s*\+\+))"));
    const std::string head = line_of(attempt.source, loop.first);
    std::smatch match;
    if (loop.first == 0 || !std::regex_search(head, match, one_by_one)) continue;
    const std::string tile = size.empty() ? multiplier_of(index, k) : index == k ? size : "";
    const auto whole = std::find_if(c.coverage.begin(), c.coverage.end(),
                                    [&](const auto& t) { return t.tensor == f.tensor; });
    if (tile.empty() || whole == c.coverage.end()) continue;
    const index_t extent = mode == 0 ? whole->rows : whole->cols;
    const std::string bound = match[1].str();
    if (bound != extent_name(attempt, c, f.tensor, mode, extent) && bound != cat(extent)) continue;
    return cause("loop-too-long",
                 cat(f.problem, ": the loop in line ", loop.first, " counts tiles, and takes ", k,
                     " as far as there are elements"),
                 cat("one round for each tile: ", k, " < ", bound, " / ", tile, ", rounded up"));
  }
  return {};
}

/// The same if the index is that of a tile: "tile<TPB, TPB>(A, t.block.y, k)".
Cause of_numbers_of_tiles(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f,
                          const std::string& line) {
  const std::regex view(cat(R"(\btile<\s*(\w+)\s*,\s*(\w+)\s*>\(\s*)", f.tensor,
                            R"(\s*,\s*([^,;]*?)\s*,\s*([^,;()]*?)\s*\))"));
  std::smatch match;
  if (!std::regex_search(line, match, view)) return {};
  for (const std::size_t mode : {0, 1})
    if (Cause out =
            of_a_loop_over_tiles(attempt, c, f, mode, match[3 + mode].str(), match[1 + mode].str());
        !out.id.empty())
      return out;
  return {};
}

Cause of_a_tile(const PuzzleCase& c, const PuzzleFinding& f, const std::string& line) {
  const bool is_empty = std::find(f.extents.begin(), f.extents.end(), 0) != f.extents.end();
  if (is_empty) {
    const std::string row = c.grid[1] > 1 ? "t.block.y" : "0",
                      col = c.grid[0] > 1 ? "t.block.x" : "0";
    const std::string outside = cat("the whole tile is outside ", f.tensor);
    if (stands_in(line,
                  cat("(", f.tensor, ", ", f.tensor == "A" ? row + ", k)" : "k, " + col + ")")))
      return cause("wrong-index", outside,
                   "the numbers count tiles of the shape before them: is it that of "
                   "one tile?");
    return cause("wrong-index", outside,
                 cat("the numbers of a tile count tiles, not elements: of A tile (", row,
                     ", k), of B tile (k, ", col, ")"));
  }
  if (c.block[1] > 1 && f.element.size() == 2 && f.extents.size() == 2)
    return cause(
        "wrong-index", f.problem,
        "the indices of a tile begin at 0 in its corner: (y, x), the thread's place in the block");
  return cause("wrong-index", f.problem, "the indices of a tile begin at 0 in its corner");
}

/// "s.sums(0, i) = s.sums(0, i) + ...": does the line write the tile that it reads?
bool changes_in_place(const std::string& line, const std::string& tile) {
  const auto first = line.find(tile + "("), assigns = line.find("= ", first);
  return first != std::string::npos && assigns != std::string::npos &&
         line.find(tile + "(", assigns) != std::string::npos;
}

Cause of_shared(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f,
                const std::string& line, const std::vector<std::string>& indices) {
  if (f.extents.empty()) return cause("wrong-index", f.problem);
  std::string last, all;
  for (const index_t each : f.extents) last += cat(last.empty() ? "" : ", ", each - 1);
  for (const auto& each : indices) all += cat(all.empty() ? "" : ", ", each);
  const int rounds = loop_around(attempt.source, f.line).first;
  const bool is_guarded = line.find("if (") < line.find(f.tensor + "(");
  if (rounds > 0 && changes_in_place(line, f.tensor) && is_guarded)
    return cause("wrong-index", f.problem,
                 cat("the last element is (", last, "), and the if in line ", f.line,
                     " lets this thread pass: with what does the loop in line ", rounds,
                     " begin, and which threads take part in its first round?"));
  if (rounds > 0 && changes_in_place(line, f.tensor))
    return cause("wrong-index", f.problem,
                 cat("the last element is (", last,
                     "); but to stay below it is not enough: what a "
                     "thread reads here no other one may write in the same round. So which threads "
                     "take part in a round?"));
  const std::string where = cat("the last element is (", last, ")");
  if (exists_reversed(f) && indices.size() == 2)
    return cause("wrong-index", f.problem,
                 cat(where, ", and the row comes first: do ", indices[0], " and ", indices[1],
                     " in the right order?"));
  const auto at = too_large(f, indices);
  for (const std::size_t along : {0, 1})
    if (at && f.element[at->mode] == f.thread[along] && c.block[along] > f.extents[at->mode])
      return cause("wrong-index", f.problem,
                   cat("the block has ", c.block[along], " threads along ", along == 0 ? "x" : "y",
                       ": is the tile large enough for them? If it is, let only those threads read "
                       "or write whose element exists"));
  if (f.thread == std::array<index_t, 3>{})
    return cause("wrong-index", f.problem,
                 cat(where, "; the first thread already reads past it, so no guard is missing: ",
                     all.empty() ? "the index is wrong" : cat("(", all, ") is wrong")));
  return cause(
      "wrong-index", f.problem,
      cat(where, ": let only those threads read or write whose ",
          all.empty() ? "element exists" : cat("(", all, ") exists"), ", or correct the index"));
}

/// For a load into a tile, where a thread past the edge must still write a value.
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

/// The right index of a thread, if it exists and the thread uses another one; -1: it is uncertain,
/// or the thread is one too many.
index_t own_index(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f,
                  const std::optional<TooLarge>& at) {
  const index_t x = place(c, f, 0), y = place(c, f, 1);
  if (f.extents.size() == 1 && f.element.size() == 1 && c.grid[1] * c.block[1] == 1)
    return f.element[0] != x && x < f.extents[0] ? x : -1;
  if (!at || at->index.empty() || loop_around(attempt.source, f.line).first > 0) return -1;
  const bool is_x = comes_from(attempt.source, at->index, ".x"),
             is_y = comes_from(attempt.source, at->index, ".y");
  if (is_x == is_y) return -1;
  const index_t own = is_x ? x : y;  // the next element, as of a stencil, may be meant
  return own < f.extents[at->mode] && f.element[at->mode] > own + 1 ? own : -1;
}

/// The thread's own place in the output, where it has one outside every loop: then an index that
/// does not exist is wrong, and no thread is one too many. Empty: it has none.
std::string own_place(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f) {
  if (loop_around(attempt.source, f.line).first > 0) return {};
  const index_t col = place(c, f, 0), row = place(c, f, 1);
  for (const auto& t : c.coverage)
    if (t.is_output && t.tensor != f.tensor && t.rows > 1 && t.cols > 1 && row < t.rows &&
        col < t.cols)
      return cat(t.tensor, "(", row, ",", col, ")");
  return {};
}

}  // namespace

Cause cause_of_outside(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f) {
  const std::string line = line_of(attempt.source, f.line);
  const auto indices = indices_of(line, called(attempt.source, f.tensor));
  const auto at = too_large(f, indices);
  if (at && !f.is_of_part && !is_swapped(c, f)) {
    if (Cause loop = of_a_loop(attempt, c, f, *at); !loop.id.empty()) return loop;
    if (Cause loop = of_a_loop_over_tiles(attempt, c, f, at->mode, at->index, ""); !loop.id.empty())
      return loop;
  }
  if (f.is_of_part)
    if (Cause loop = of_numbers_of_tiles(attempt, c, f, line); !loop.id.empty()) return loop;
  if (f.memory == "shared") return of_shared(attempt, c, f, line, indices);
  if (f.is_of_part) return of_a_tile(c, f, line);
  if (is_swapped(c, f))
    return cause("swapped-access", f.problem,
                 "the row comes first: what counts columns belongs after the comma");
  if (std::any_of(f.element.begin(), f.element.end(), [](const auto i) { return i < 0; }))
    return cause("wrong-index", f.problem,
                 "the index is below 0: what is it for block 0, thread 0?");
  const index_t own = own_index(attempt, c, f, at);
  const bool has_own = own >= 0;
  if (has_own || has_no_thread_too_many(c))
    return cause(
        "wrong-index", f.problem,
        has_own
            ? cat("that thread's own ",
                  f.extents.size() == 1 ? "element"
                  : at && at->mode == 1 ? "column"
                                        : "row",
                  " is ", own, ": the index is wrong, and a guard would leave elements out")
            : cat("no thread is too many here, so the index is wrong: ", place_advice(attempt, c)));
  if (const std::string own_one = own_place(attempt, c, f); !own_one.empty())
    return cause("wrong-index", f.problem,
                 cat("that thread has its own element, ", own_one, ": its index of ", f.tensor,
                     " is wrong, and a guard would leave elements out"));
  const std::string zero = zero_instead(attempt, c, f, line, indices);
  if (!zero.empty()) return cause("guard", f.problem + ": that access must not happen", zero);
  const std::string sides = compared(kInWords, attempt, c, f, indices);
  return cause("guard", f.problem + ": that thread must be kept away",
               cat("only threads whose element exists may do it",
                   sides.empty() ? "" : ": an if that compares ", sides));
}

}  // namespace tessera::course
