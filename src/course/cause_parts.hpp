// The parts that causes.cpp puts together. Private to it.
#pragma once

#include <string>
#include <string_view>

#include "causes.hpp"

namespace tessera::course {

/// By its id; without one, the text of the table of causes.
Cause cause(std::string_view id, std::string sentence = {}, std::string advice = {});

/// The same, with the finding that shows it.
Cause told_by(const PuzzleFinding& finding, Cause cause);

/// A mistake that the text alone shows, though it compiles; empty id: none. `c` may be null.
Cause cause_of_slip(const PuzzleAttempt& attempt, const PuzzleCase* c);
/// From a variable that the text reads before it stores into it; empty id: from none.
Cause cause_of_no_value(const PuzzleAttempt& attempt, const PuzzleCase& c);
/// A loop that moves k by 1 over tiles that begin at k; empty id: there is none.
Cause cause_of_overlap(const PuzzleAttempt& attempt, const PuzzleCase& c);
/// From the checker's findings, which are certain; empty id: they say nothing of it.
Cause cause_of_findings(const PuzzleAttempt& attempt, const PuzzleCase& c);
/// From those of gates, bulk copies and the units of a warpgroup; empty id: there are none.
Cause cause_of_gates(const PuzzleAttempt& attempt, const PuzzleCase& c);
/// From the message of simt/array_bounds.hpp about an index; empty id: there is none.
Cause cause_of_local_array(const std::string& problem);
/// An access to an element that does not exist.
Cause cause_of_outside(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f);
/// Two unordered threads, in shared memory.
Cause cause_of_race(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f);
/// From what the wrong elements have in common.
Cause cause_of_places(const PuzzleCase& c, const PuzzleMatrix& m);
/// From numbers that belong elsewhere or nowhere; empty id: there is no pattern.
Cause cause_of_pattern(const PuzzleCase& c, const PuzzleMatrix& m);
/// For an output whose sums lack the products of some k (PuzzleMatrix::sum).
Cause cause_of_sum(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleMatrix& m);
/// From the elements read and written; empty id: no cause found.
Cause cause_of_coverage(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleMatrix& m);

/// What ended or prevented the run; null: nothing.
const PuzzleFinding* fatal_of(const PuzzleCase& c);
const PuzzleFinding* find_finding(const PuzzleCase& c,
                                  std::initializer_list<std::string_view> kinds,
                                  std::string_view memory = {});
/// How a thread computes the position of its element, in the names of this launch.
std::string place_advice(const PuzzleAttempt& attempt, const PuzzleCase& c);

}  // namespace tessera::course
