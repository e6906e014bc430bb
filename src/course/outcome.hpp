// The results of a learner's program, as the command reads them: see puzzle/run.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/core/config.hpp"

namespace tessera::course {

/// One finding of the checker.
struct PuzzleFinding {
  std::string kind, severity, memory, tensor, problem, hint, superstep;
  std::vector<std::int64_t> element;
  std::string file, other_file;
  int line = 0, other_line = 0;  ///< 0: none
  std::int64_t count = 0;
  std::array<index_t, 3> thread{}, block{};  ///< x, y, z of the first occurrence
  bool is_of_blocks = false;                 ///< between threads of two blocks?
  std::vector<index_t> extents;              ///< the extents that the element exceeds
  bool is_of_part = false;                   ///< these are of a tile of the tensor
  bool follows = false;                      ///< from a finding that is shown, or from the cause

  /// Must it be fixed before the puzzle is solved?
  bool counts() const { return severity != "note"; }
  /// About an element that does not exist.
  bool is_outside() const { return kind == "out-of-bounds" || kind == "outside-view"; }
};

/// A tensor of the kernel, and how many of its elements were touched.
struct PuzzleCoverage {
  std::string tensor;
  bool is_output = false;
  index_t rows = 0, cols = 0;
  std::int64_t elements = 0, read = 0, written = 0;
};

/// For a product, the part of its sums that an output contains: k in [begin, end), of K, in tiles
/// of `tile` or, if that is 0, one by one.
struct PuzzleSum {
  index_t begin = 0, end = 0, K = 0, tile = 0;
};

/// One output, row by row.
struct PuzzleMatrix {
  std::string name, looks_like;
  std::string sentence, advice;  ///< the pattern of the wrong values, in the puzzle's own terms
  index_t rows = 0, cols = 0, wrong = 0;
  double tolerance = 0;
  std::vector<double> got, expected;
  std::optional<PuzzleSum> sum;  ///< if the pattern is one

  bool is_wrong(index_t i) const;
};

struct PuzzleGoal {
  std::string what;
  double got = 0, limit = 0;
  bool reached = false;
  std::string advice;
};

/// All requests of one access of the source.
struct PuzzleAccess {
  std::string tensor, memory;
  bool is_store = false;
  std::string file;
  int line = 0;
  double worst = 0, ideal = 0;  ///< sectors or passes of its worst request
};

/// What the lanes of the worst warp of one access touched.
struct PuzzlePicture {
  std::string tensor, memory;  ///< "A", "global"; "tile (32,32)", "shared"
  bool is_store = false;
  int line = 0, lane_bytes = 0, transfers = 0, ideal = 0;
  std::string svg;

  /// "load from A, line 12: 32 sectors, ideal 4"
  std::string title() const;
};

struct PuzzleCase {
  std::string what, kernel;                ///< the kernel's name
  std::array<index_t, 3> grid{}, block{};  ///< x, y, z; 0: no kernel ran
  index_t shared_bytes = 0;                ///< of a block
  bool is_brief = false;                   ///< a further input of the previous case
  bool chooses_tiles = false;              ///< the learner must find the size of the tiles
  std::vector<PuzzleMatrix> outputs;
  std::vector<PuzzleGoal> goals;
  std::vector<PuzzleFinding> findings;
  std::vector<PuzzleCoverage> coverage;
  std::vector<PuzzleAccess> accesses;
  std::vector<PuzzlePicture> pictures;  ///< if requested
  std::string stages;                   ///< the phases of gates over time, as SVG; or empty

  bool is_right() const;
};

struct PuzzleOutcome {
  bool solved = false;
  std::string error;         ///< why the spec could not run
  bool unavailable = false;  ///< the machine lacks what it needs
  std::vector<PuzzleCase> cases;
};

/// A description of the run, as the page of the puzzle must contain it: "A (9,9), B (9,9), C (9,9);
/// grid 3 x 3, blocks of 3 x 3 threads." and "Goal: ...". Facts common to all cases appear once.
std::vector<std::string> configuration_of(const PuzzleOutcome& outcome);

/// Parses its JSON; nothing if the text is invalid.
std::optional<PuzzleOutcome> read_outcome(const std::string& text);

}  // namespace tessera::course
