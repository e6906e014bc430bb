// The sums of a product lack the products of some k: which ones, and the loop that omits them.
#include <algorithm>
#include <regex>

#include "cause_parts.hpp"
#include "names.hpp"
#include "source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

/// Loads of the inputs from global memory; if no loop is around these, or these omit nothing, those
/// of tiles.
std::vector<const PuzzleAccess*> loads_in_loops(const PuzzleAttempt& attempt, const PuzzleCase& c) {
  std::vector<const PuzzleAccess*> out;
  const bool all_read = std::all_of(c.coverage.begin(), c.coverage.end(), [](const auto& t) {
    return t.is_output || t.read == t.elements;
  });
  const auto first = all_read ? "shared" : "global", second = all_read ? "global" : "shared";
  for (const char* memory : {first, second}) {
    for (const auto& each : c.accesses)
      if (!each.is_store && each.memory == memory && each.file == attempt.file &&
          loop_around(attempt.source, each.line).first > 0)
        out.push_back(&each);
    if (!out.empty()) break;
  }
  return out;
}

/// Does the index of the access, or the line, have the variable?
bool moves_with(const std::string& source, const PuzzleAccess& access,
                const std::string& variable) {
  const std::string line = line_of(source, access.line);
  std::string text;
  for (const auto& each : indices_of(line, access.tensor)) text += each + ",";
  return has_word(text.empty() ? line : text, variable);
}

/// The line of the loop over k: the outermost with whose variable all loads move; else that around
/// the first load; 0: there is none.
int line_of_loop(const PuzzleAttempt& attempt, const PuzzleCase& c) {
  const auto loads = loads_in_loops(attempt, c);
  if (loads.empty()) return 0;
  const auto loops = loops_around(attempt.source, loads.front()->line);
  for (const Loop& loop : loops) {
    const std::string variable = loop_variable(line_of(attempt.source, loop.first));
    const auto moves = [&](const PuzzleAccess* load) {
      return loop.first <= load->line && load->line <= loop.last &&
             moves_with(attempt.source, *load, variable);
    };
    if (std::all_of(loads.begin(), loads.end(), moves)) return loop.first;
  }
  return loops.front().first;
}

/// "K = 11", or "11" if the file has no name for it.
std::string with_value(const std::string& name, index_t value) {
  return name == cat(value) ? name : cat(name, " = ", value);
}

/// "(A, row, k * T)" in the loop over k: a tile's number that is multiplied, or k counts elements.
Cause of_tile_numbers(const PuzzleAttempt& attempt, const Loop& loop, const std::string& range) {
  const std::string head = line_of(attempt.source, loop.first), k = loop_variable(head);
  static const std::regex view(R"(\btile<[^>]*>\(\s*(\w+)\s*,\s*([^,;]*?)\s*,\s*([^,;()]*?)\s*\))");
  const bool counts_elements =
      std::regex_search(head, std::regex(cat("\\b", k, R"(\s*\+=\s*(?!1\b))")));
  for (int i = loop.first; i <= loop.last; ++i) {
    const std::string line = line_of(attempt.source, i);
    std::smatch match;
    if (!std::regex_search(line, match, view)) continue;
    for (const std::size_t mode : {2, 3}) {
      const std::string number = match[mode].str();
      const bool is_element = counts_elements ? number.find('/') == std::string::npos
                                              : number.find('*') != std::string::npos;
      if (!has_word(number, k) || !is_element) continue;
      return cause("wrong-tile",
                   cat(range, ": line ", i, " takes tile (", match[2].str(), ", ", match[3].str(),
                       ") of ", match[1].str(), ", and not all of these exist"),
                   "the numbers of a tile count tiles, not elements: the next tile has the next "
                   "number");
    }
  }
  return {};
}

/// Does the loop go from 0 up to K, as far as its header says?
bool goes_over_all(const std::string& head, const std::string& K, index_t value) {
  const std::string k = loop_variable(head);
  const std::regex all(
      cat("\\b", k, R"(\s*=\s*0\s*;\s*)", k, R"(\s*<\s*()", K, "|", value, R"()\s*;)"));
  return !k.empty() && std::regex_search(head, all);
}

}  // namespace

Cause cause_of_sum(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleMatrix& m) {
  const PuzzleSum& s = *m.sum;
  const bool lacks_end = s.begin == 0;
  const index_t first = lacks_end ? s.end : 0, last = (lacks_end ? s.K : s.begin) - 1;
  const std::string range = first == last ? cat(first) : cat(first, " to ", last);
  const bool is_of_tiles = s.tile > 0 && first % s.tile == 0;
  const int line = s.tile == 0 || is_of_tiles ? line_of_loop(attempt, c) : 0;
  std::string sentence = cat("no product of k = ", range, " is in ", m.name);
  const std::string K = c.coverage.empty()
                            ? constant_name(attempt, s.K)
                            : extent_name(attempt, c, c.coverage.front().tensor, 1, s.K);
  const std::string head = line_of(attempt.source, line);
  if (line > 0 && c.grid[2] > 1)
    return cause(m.looks_like, sentence,
                 cat("each of the ", c.grid[2],
                     " blocks along z has a part of the products: which "
                     "of them bring theirs to ",
                     m.name, "?"));
  if (is_of_tiles && line > 0) {
    const Loop loop = loop_over(attempt.source, line, loop_variable(head));
    if (Cause out = of_tile_numbers(attempt, loop, sentence); !out.id.empty()) return out;
  }
  if (line > 0 && goes_over_all(head, K, s.K))
    return cause(m.looks_like, sentence,
                 cat("the loop in line ", line,
                     " goes over all k: which index, or which if, in it "
                     "leaves them out?"));
  if (line > 0)
    sentence +=
        cat(": the loop in line ", line, lacks_end ? " ends too early" : " begins too late");
  if (!is_of_tiles) return cause(m.looks_like, sentence, cat("k from 0 while k < ", K));
  const std::string tile = constant_name(attempt, s.tile);
  std::string advice = cat(K == cat(s.K) ? "K = " : "", with_value(K, s.K), " makes ",
                           (s.K + s.tile - 1) / s.tile, " tiles of ", with_value(tile, s.tile),
                           ", and the loop comes to ", s.end / s.tile, " of them");
  if (s.K % s.tile != 0)
    advice += cat("; the last is a part only: (", K, " + ", tile, " - 1) / ", tile, " rounds up");
  return cause(m.looks_like, sentence, advice);
}

}  // namespace tessera::course
