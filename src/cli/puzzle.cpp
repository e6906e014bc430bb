// `tessera puzzle`: its options; course/ has what each of its commands does.
#include "puzzle.hpp"

#include <memory>

#include "course/requests.hpp"
#include "process/signals.hpp"
#include "shell/options.hpp"

namespace tessera::cli {

namespace {

using Command = int (*)(const shell::Context&, const course::PuzzleRequest&);
using SharedRequest = std::shared_ptr<course::PuzzleRequest>;

CLI::App* add(CLI::App& parent, shell::Context& context, const SharedRequest& request,
              const char* name, const char* what, const char* examples, Command command) {
  CLI::App* app = shell::add_command(parent, context, name, what, examples);
  shell::add_text(*app, "--course", "FOLDER", request->course, "The course is in FOLDER");
  shell::on_run(*app, context, [&context, request, command] { return command(context, *request); });
  return app;
}

void add_cuda_flag(CLI::App& app, course::PuzzleRequest& request) {
  shell::add_flag(app, "--cuda", request.is_in_cuda, "In plain CUDA, not in Tessera's language");
}

CLI::App* add_with_id(CLI::App& parent, shell::Context& context, const SharedRequest& request,
                      const char* name, const char* what, const char* examples, Command command) {
  CLI::App* app = add(parent, context, request, name, what, examples, command);
  shell::add_argument(*app, "ID", "PUZZLE", request->id, "The puzzle: p16, or 16");
  add_cuda_flag(*app, *request);
  return app;
}

void add_run(CLI::App& app, shell::Context& context, const SharedRequest& request) {
  CLI::App& run = *add_with_id(
      app, context, request, "run", "Compile and run your file and report its mistakes",
      "  tessera puzzle run p16 --tiled\n  tessera puzzle run p16 my_p16.cpp --html p16.html",
      course::run_puzzle);
  shell::add_text(run, "FILE", "FILE", request->file, "Your file; default where `start` wrote it");
  shell::add_flag(run, "--solution", request->solution, "Run the course's solution instead");
  shell::add_flag(run, "--all", request->all,
                  "Show all findings, those that follow from others too, and all numbers");
  shell::add_text(run, "--html", "FILE", request->html,
                  "Write the answer with the picture as a page");
  shell::add_flag(run, "--force", request->force, "Replace the page if it exists");
  shell::add_text(run, "--device", "opencl:0", request->device,
                  "Where a right answer runs, too; default: a GPU, if there is nvcc");
  shell::add_number(run, "--time-limit", "SECONDS", 0.1, 600, request->time_limit_s,
                    "Time limit of a kernel in seconds; its compilation may take 12 times as long");
  shell::add_json_option(run, context, "One JSON document on stdout");
  // The puzzle's own flags are the rest.
  shell::on_run(run, context, request->words, [&context, request] {
    const process::InterruptsAreNoted noted;
    return course::run_puzzle(context, *request);
  });
}

}  // namespace

void add_puzzle(CLI::App& root, shell::Context& context, course::CudaBuilder build_cuda) {
  const auto request = std::make_shared<course::PuzzleRequest>();
  request->build_cuda = build_cuda;
  CLI::App& app = *shell::add_command(
      root, context, "puzzle", "A course: write kernels, and learn why they are wrong",
      "  tessera puzzle list\n  tessera puzzle start p01\n  tessera puzzle "
      "run p16 --tiled\n  tessera puzzle hint p16\n  tessera puzzle start p16 --cuda");
  CLI::App& all = *add(app, context, request, "list", "Show all puzzles", "", course::list_puzzles);
  add_cuda_flag(all, *request);
  shell::add_json_option(all, context, "As JSON");
  CLI::App& begin = *add_with_id(app, context, request, "start", "Write the file to edit",
                                 "  tessera puzzle start p01 course", course::start_puzzle);
  shell::add_text(begin, "DIR", "FOLDER", request->file, "Where; default here");
  shell::add_flag(begin, "--force", request->force, "Replace the file if it exists");
  add_run(app, context, request);
  add_with_id(app, context, request, "hint", "Show one more hint", "", course::show_hint);
  add_with_id(app, context, request, "solution", "Show the solution", "", course::show_solution);
  add_with_id(app, context, request, "explain", "Explain the puzzle and its solution", "",
              course::explain_puzzle);
  add_with_id(app, context, request, "reset", "Start again; your version is kept as .bak", "",
              course::reset_puzzle);
  CLI::App& solved =
      *add(app, context, request, "progress", "Show what is solved", "", course::show_progress);
  add_cuda_flag(solved, *request);
  shell::add_json_option(solved, context, "As JSON");
  CLI::App& fresh =
      *add(app, context, request, "new", "Create a puzzle of your own from a template",
           "  tessera puzzle new p90_mine --course my_course", course::new_puzzle);
  shell::add_argument(fresh, "NAME", "TEXT", request->id, "pNN_name");
  CLI::App& test =
      *add(app, context, request, "test", "Test the course: solutions, unfilled files, mistakes",
           "  tessera puzzle test --course my_course", course::test_course);
  shell::add_arguments(test, "ID", "PUZZLE", request->ids, "Only these puzzles");
  add_cuda_flag(test, *request);
  shell::add_json_option(test, context, "As JSON: the course, and the answer to each of its texts");
  shell::require_command(app);
}

}  // namespace tessera::cli
