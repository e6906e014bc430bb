// The subcommands of `tessera puzzle`. Private to the command.
#pragma once

#include <string>
#include <vector>

#include "course.hpp"
#include "program.hpp"
#include "shell/context.hpp"

namespace tessera::course {

/// The command line.
struct PuzzleRequest {
  std::string course;              ///< --course
  std::string id, file, html;      ///< ID, FILE or DIR
  std::string device;              ///< --device of `run`
  std::vector<std::string> words;  ///< options of `run` that are variants: "--tiled"
  std::vector<std::string> ids;    ///< of `test`
  double time_limit_s = 5;
  bool force = false, solution = false, all = false;
  bool is_in_cuda = false;           ///< --cuda
  CudaBuilder build_cuda = nullptr;  ///< null: this command has no plain CUDA
};

/// All puzzles; with --cuda those that have a form in plain CUDA, in this form.
std::vector<Puzzle> requested_course(const PuzzleRequest& request);
/// The puzzle of the command line, in the requested form.
Puzzle requested_puzzle(const std::vector<Puzzle>& course, const PuzzleRequest& request);

// The commands, each with its exit code.
int list_puzzles(const shell::Context& context, const PuzzleRequest& request);
int start_puzzle(const shell::Context& context, const PuzzleRequest& request);
int show_hint(const shell::Context& context, const PuzzleRequest& request);
int show_solution(const shell::Context& context, const PuzzleRequest& request);
int explain_puzzle(const shell::Context& context, const PuzzleRequest& request);
int reset_puzzle(const shell::Context& context, const PuzzleRequest& request);
int show_progress(const shell::Context& context, const PuzzleRequest& request);
/// `tessera puzzle run`: 0 solved, 1 not.
int run_puzzle(const shell::Context& context, const PuzzleRequest& request);
/// `tessera puzzle test`: is the course consistent? Solutions are right, unfilled files compile and
/// fail with an explanation, mistakes get theirs.
int test_course(const shell::Context& context, const PuzzleRequest& request);
/// `tessera puzzle new`: a folder with a small example puzzle.
int new_puzzle(const shell::Context& context, const PuzzleRequest& request);

}  // namespace tessera::course
