// The parts that causes.cpp puts together. Private to it.
#pragma once

#include <string>
#include <string_view>

#include "causes.hpp"

namespace tessera::course {

/// By its id; empty: what the table of causes says.
Cause cause(std::string_view id, std::string sentence = {}, std::string advice = {});

/// The same, with the finding that says so.
Cause told_by(const PuzzleFinding& finding, Cause cause);

/// What the text shows by itself, though it compiles; empty id: nothing. `c` may be null.
Cause cause_of_slip(const PuzzleAttempt& attempt, const PuzzleCase* c);
/// From the checker's findings, which are certain; empty id: they say nothing of it.
Cause cause_of_findings(const PuzzleAttempt& attempt, const PuzzleCase& c);
/// From what simt/array_bounds.hpp says of an index; empty id: it does not.
Cause cause_of_local_array(const std::string& problem);
/// An access to an element that does not exist.
Cause cause_of_outside(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f);
/// Two threads that nothing orders, in shared memory.
Cause cause_of_race(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleFinding& f);
/// From what the wrong elements have in common.
Cause cause_of_places(const PuzzleCase& c, const PuzzleMatrix& m);
/// From numbers that belong elsewhere, or to nothing; empty id: there is no pattern.
Cause cause_of_pattern(const PuzzleCase& c, const PuzzleMatrix& m);
/// Of an output whose sums lack the products of some k (PuzzleMatrix::sum).
Cause cause_of_sum(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleMatrix& m);
/// From what was read and written; empty id: from nothing.
Cause cause_of_coverage(const PuzzleAttempt& attempt, const PuzzleCase& c, const PuzzleMatrix& m);

/// What ended the run, or keeps it from being one; null: nothing.
const PuzzleFinding* fatal_of(const PuzzleCase& c);
const PuzzleFinding* find_finding(const PuzzleCase& c,
                                  std::initializer_list<std::string_view> kinds,
                                  std::string_view memory = {});
/// How a thread comes to its own element, in the terms of this launch.
std::string place_advice(const PuzzleAttempt& attempt, const PuzzleCase& c);

}  // namespace tessera::course
