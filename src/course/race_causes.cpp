// A race between two threads in shared memory: which barrier is missing, or why the existing one
// does not help.
#include <algorithm>

#include "cause_parts.hpp"
#include "source.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

/// Lines of a race, and the loop around both.
struct Meeting {
  const std::string& source;
  int first, last;
  Loop loop;
};

Cause in_one_line(const Meeting& m, const PuzzleFinding& f) {
  const bool has_barrier =
      m.loop.first > 0 && barrier_between(m.source, m.first, m.loop.last + 1) > 0;
  const bool reads = f.problem.find(" reads ") != std::string::npos;
  if (f.problem.find(" the same value to it ") != std::string::npos)
    return cause("written-again",
                 cat("in line ", m.last, " several threads write the same value to one element of ",
                     f.tensor),
                 "one thread for each element: which of them should write it in this line?");
  if (has_barrier && reads)
    return cause(
        "too-many-in-a-round",
        cat("within one round a thread reads in line ", m.first, " what another one writes there"),
        {});
  if (m.loop.first > 0)
    return cause(
        "missing-barrier",
        cat("in line ", m.last, " threads meet in ", f.tensor,
            ", in one round or in two, and nothing orders them"),
        "t.barrier() at the end of each round, and in a round one thread for each element");
  if (reads)
    return cause("missing-barrier",
                 cat("in line ", m.last, " a thread reads of ", f.tensor,
                     " what another one writes there, and may do so before it is written"),
                 "write in one line, then t.barrier(), and read in a line after it");
  return cause("same-place",
               cat("in line ", m.last, " they do so in ", f.tensor,
                   ", and nothing says which of the numbers stays"),
               "one thread for each element of a tile: which do two of them write in this line?");
}

Cause without_barrier(const Meeting& m) {
  if (const int warp = line_with(m.source, "warp_barrier()", m.first, m.last))
    return cause("missing-barrier",
                 cat("t.warp_barrier() in line ", warp,
                     " waits for the 32 threads of a warp, and here other warps write"),
                 "t.barrier(), which waits for the whole block");
  const Loop guard = guard_between(m.source, m.first, m.last);
  return cause("missing-barrier",
               cat("line ", m.last, " reads what other threads have written in line ", m.first,
                   ", and they may not have done so yet"),
               guard.first > 0 ? cat("t.barrier() after line ", m.first, ", before the if in line ",
                                     guard.first, ": not all threads get into that")
                               : cat("t.barrier() between the lines ", m.first, " and ", m.last));
}

/// Is there a wait for copies after the barrier?
bool waits_behind(const std::string& source, int barrier, int last) {
  const std::string line = line_of(source, barrier);
  const auto waits = line.find("wait<");
  return line_with(source, "wait<", barrier + 1, last - 1) > 0 ||
         (waits != std::string::npos && waits > line.find("barrier()"));
}

Cause with_barrier(const Meeting& m, int barrier) {
  if (line_of(m.source, m.first).find("copy_async") != std::string::npos &&
      waits_behind(m.source, barrier, m.last))
    return cause("missing-barrier",
                 "wait<0>(t) covers the copies of this thread only, and it comes after the barrier",
                 "wait first, then t.barrier(): then all have waited");
  if (line_of(m.source, barrier).find("if (") != std::string::npos)
    return cause("missing-barrier",
                 cat("the barrier in line ", barrier, " is inside an if: not every round has it"),
                 "t.barrier() in every round, outside every if");
  if (m.loop.first > 0 && barrier_between(m.source, m.last, m.loop.last + 1) == 0)
    return cause("missing-barrier",
                 cat("in the next round line ", m.first,
                     " overwrites what a slower thread still reads in line ", m.last),
                 cat("t.barrier() at the end of the loop, after line ", m.last));
  return cause(
      "missing-barrier",
      cat("the lines ", m.first, " and ", m.last, " race although there is a barrier between them"),
      "follow two rounds of two threads: which of their accesses have no barrier between them?");
}

}  // namespace

Cause cause_of_race(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f) {
  const std::string& source = attempt.source;
  const int first = std::min(f.line, f.other_line), last = std::max(f.line, f.other_line);
  const Meeting m{source, first, last, loop_around(source, first, last)};
  if (first == last || f.other_line == 0)
    return in_one_line({source, last, last, loop_around(source, last)}, f);
  if (f.problem.find(" reads ") == std::string::npos)
    return cause("filled-twice", cat("lines ", first, " and ", last,
                                     " both write the same elements of ", f.tensor));
  const int barrier = barrier_between(source, first, last);
  if (barrier == 0) return without_barrier(m);
  if (m.loop.first > 0 && find_finding(c, {"uninitialized-read"}, "shared") != nullptr)
    return cause("read-too-early",
                 cat("line ", last, " reads elements that a later round of the loop loads"));
  return with_barrier(m, barrier);
}

}  // namespace tessera::course
