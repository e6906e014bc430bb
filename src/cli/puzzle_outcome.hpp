// What a learner's program has left, as the command reads it: see puzzle/run.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/core/config.hpp"

namespace tessera::cli {

/// One finding of the checker.
struct PuzzleFinding {
  std::string kind, severity, memory, tensor, problem, hint, superstep;
  std::vector<std::int64_t> element;
  std::string file, other_file;
  int line = 0, other_line = 0;  ///< 0: none
  std::int64_t count = 0;

  bool counts() const { return severity != "note"; }
};

/// How much of a tensor was touched, in elements.
struct PuzzleCoverage {
  std::string tensor;
  bool is_output = false;
  std::int64_t elements = 0, read = 0, written = 0;
};

/// One output, row by row.
struct PuzzleMatrix {
  std::string name, looks_like;
  index_t rows = 0, cols = 0, wrong = 0;
  double tolerance = 0;
  std::vector<double> got, expected;

  bool is_wrong(index_t i) const;
};

struct PuzzleGoal {
  std::string what;
  double got = 0, limit = 0;
  bool reached = false;
};

struct PuzzleCase {
  std::string what;
  index_t tile_rows = 0, tile_cols = 0;  ///< threads of a block; 0: no kernel was run
  std::vector<PuzzleMatrix> outputs;
  std::vector<PuzzleGoal> goals;
  std::vector<PuzzleFinding> findings;
  std::vector<PuzzleCoverage> coverage;

  bool is_right() const;
};

struct PuzzleOutcome {
  bool solved = false;
  std::string error;  ///< why the spec could not be run
  std::vector<PuzzleCase> cases;
};

/// Of its JSON; nothing where the text is none.
std::optional<PuzzleOutcome> read_outcome(const std::string& text);

}  // namespace tessera::cli
