// The course as files: a folder for each puzzle, pNN_name, with
//   puzzle.cpp    the solution; the learner's file is cut from it
//   spec.hpp      what is run and expected (puzzle/run.hpp)
//   page.md       title, idea, pictures, configuration, hints, explanation
//   puzzle.cu     the solution in plain CUDA, where there is one; its kernels have the names that
//                 those of puzzle.cpp declare, and pointers to float as parameters
//   mistakes.txt  typical wrong solutions as changes of puzzle.cpp, with the cause to be named; an
//                 entry without changes says it of the file that the learner gets. Those whose
//                 lines, in CUDA's names, are in puzzle.cu apply there, too; "in-cuda:" has the
//                 cause if it is another one there, or "none"
// Learner's file and solution are one text, so they cannot drift apart.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::course {

/// The cause of a text that does not compile.
inline constexpr std::string_view kDoesNotCompile = "does-not-compile";

/// A wrong solution and its expected answer; without lines: the file that the learner gets.
struct Mistake {
  std::string title, cause;
  std::string cause_in_cuda;             ///< empty: the same; "none": it does not apply there
  std::string variant;                   ///< to run; empty: all
  std::vector<std::string> wrong, says;  ///< lines to insert; texts that the answer contains
  std::vector<std::string> right;        ///< lines of the solution that they replace
};

struct Puzzle {
  std::string id;  ///< "p16"
  int number = 0;
  std::filesystem::path folder;
  std::string title, idea;            ///< the page's heading and first paragraph
  std::vector<std::string> variants;  ///< "tiled", "idiomatic-tiled"; or none
  std::string configuration, explanation;
  std::vector<std::string> hints;
  std::vector<std::string> pictures;  ///< for the book: what to draw, and what it shows
  std::string cuda_note;              ///< what is different in plain CUDA; or empty
  bool is_in_cuda = false;            ///< solution and start are in plain CUDA

  /// Of the learner's file, by which the progress knows the puzzle.
  std::string file_name() const { return id + (is_in_cuda ? ".cu" : ".cpp"); }
  std::string key() const { return is_in_cuda ? file_name() : id; }
  /// The options that choose this form: " --cuda" or none.
  const char* form_flag() const { return is_in_cuda ? " --cuda" : ""; }
  bool has_cuda() const { return std::filesystem::exists(folder / "puzzle.cu"); }
  /// The text with the learner's part, and without.
  std::string solution() const;
  std::string start() const;
  std::vector<Mistake> mistakes() const;
};

/// The course's folder: `folder` if it is not empty, TESSERA_COURSE, or the one installed with the
/// command. Throws Error(unavailable) if there is none.
std::filesystem::path course_folder(const std::string& folder);
/// In the order of their numbers. Throws Error(file) that names an invalid file.
std::vector<Puzzle> read_course(const std::filesystem::path& folder);
/// By id: "p16", "16". Throws Error(argument) with the nearest.
const Puzzle& find_puzzle(const std::vector<Puzzle>& course, const std::string& id);

/// The puzzle in plain CUDA, with CUDA's names in its texts. Throws Error(unavailable) if it has no
/// such form.
Puzzle in_cuda(Puzzle puzzle);
/// The same for any text: "threadIdx.x" instead of "t.thread.x".
std::string with_names_of_cuda(std::string text);
/// The same for what to write instead; "" if it is about Tessera's language alone.
std::string advice_in_cuda(std::string advice);

/// The solution with the mistake in it; it must have lines. Throws Error(file) unless the lines to
/// replace occur in it exactly once.
std::string with_mistake(const Puzzle& puzzle, const Mistake& mistake);

/// What is between the markers `//> FILL ME IN ...` (or `//> CHANGE ...`, where the learner
/// replaces lines), `//> instead` and `//> end` of a source: solution or start. Throws Error(file),
/// which names `file` and line.
enum class Side { solution, start };
std::string cut(std::string_view text, Side side, const std::string& file);

std::vector<std::string> lines_of(std::string_view text);
std::string read_text(const std::filesystem::path& file);

}  // namespace tessera::course
