// The answer to an attempt: as text with a picture of the matrix, as one page of HTML, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "causes.hpp"
#include "shell/context.hpp"

namespace tessera::course {

/// All findings, or a few of those that do not follow from another one?
enum class Shown { few, all };
/// `open`: the variants that are not solved yet.
std::string answer_text(const shell::Context& context, const Puzzle& puzzle,
                        const PuzzleAttempt& attempt, const std::vector<std::string>& open = {},
                        Shown shown = Shown::few);
/// Self-contained; light and dark follow the reader's system.
std::string answer_html(const Puzzle& puzzle, const PuzzleAttempt& attempt);
nlohmann::ordered_json answer_json(const Puzzle& puzzle, const std::string& variant,
                                   const PuzzleAttempt& attempt);

bool is_solved(const PuzzleAttempt& attempt);

/// "81 of 81 elements of C are wrong. The first: row 0, column 0: expected 3672, got 0."
std::string wrong_elements(const PuzzleMatrix& matrix);
/// " at p16.cpp:21, 12 times".
std::string place_text(const PuzzleAttempt& attempt, const PuzzleFinding& finding);
/// The learner's lines that the answer mentions.
std::vector<int> lines_of_finding(const PuzzleAttempt& attempt, const PuzzleFinding& finding);
/// The line with its number, and a caret below `column` if it is given; "" if there is no such
/// line.
std::string source_line(const std::string& source, int line, int column = 0);

/// The content of a cell of the picture: one element, or several of a large matrix.
enum class Cell { right, wrong, mixed };
struct Picture {
  index_t rows = 0, cols = 0;  ///< of cells
  index_t step = 1;            ///< a cell is step x step elements
  std::vector<Cell> cells;
};
/// At most `most` cells in a row and a column.
Picture picture_of(const PuzzleMatrix& matrix, index_t most);

}  // namespace tessera::course
