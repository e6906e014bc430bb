// `tessera puzzle`: the course. Each command reads the course's folder and the learner's progress.
#include "puzzle.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "course/answer.hpp"
#include "course/progress.hpp"
#include "course/requests.hpp"
#include "process/signals.hpp"
#include "shell/json_text.hpp"
#include "shell/options.hpp"
#include "shell/wrap.hpp"
#include "tessera/core/error.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// For a page that has a matrix: "A (9,9)".
std::string about_elements(const course::Puzzle& puzzle) {
  static const std::regex matrix(R"( \(\d+,\d+\))");
  if (!puzzle.is_in_cuda || !std::regex_search(puzzle.configuration, matrix)) return {};
  return "\nA matrix A with N columns is a pointer here: A(r, c) is A[r * N + c].\n";
}

std::vector<course::Puzzle> course_of(const course::PuzzleRequest& request) {
  return course::read_course(course::course_folder(request.course));
}

/// Where `start` and `reset` write.
fs::path learners_file(const course::Puzzle& puzzle, const std::string& folder) {
  const fs::path in = folder.empty() ? fs::current_path() : fs::absolute(folder);
  return (in / puzzle.file_name()).lexically_normal();
}

void print_page(const shell::Context& context, const std::string& page) {
  context.print(shell::reflowed(page, shell::terminal_columns(shell::Stream::out)));
}

std::size_t parts_of(const course::Puzzle& puzzle) {
  return std::max<std::size_t>(1, puzzle.variants.size());
}

const char* state_name(const course::Puzzle& puzzle, const course::PuzzleState& state) {
  if (state.solved.size() >= parts_of(puzzle)) return "solved";
  return state.file.empty() ? "open" : "started";
}

void write_start(const course::Puzzle& puzzle, const fs::path& file, bool force) {
  std::error_code none;
  if (!force && fs::exists(file, none))
    throw Error(Category::argument, cat("start: ", file.string(), " exists already"), {}, {},
                cat("continue with it, or start again: 'tessera puzzle reset ", puzzle.id,
                    puzzle.form_flag(), "' keeps it as .bak, --force replaces it"));
  fs::create_directories(file.parent_path(), none);
  AtomicFile out(file.string(), force ? Overwrite::replace : Overwrite::refuse);
  out.write(puzzle.start());
  out.commit();
}

int list(const shell::Context& context, const course::PuzzleRequest& request) {
  const auto course = course::requested_course(request);
  course::LearnerProgress progress;
  if (context.json) {
    ordered_json out = ordered_json::array();
    for (const auto& each : course)
      out.push_back({{"id", each.id},
                     {"title", each.title},
                     {"variants", each.variants},
                     {"cuda", each.has_cuda()},
                     {"state", state_name(each, progress[each.key()])}});
    context.print(shell::json_text(out));
    return 0;
  }
  for (const auto& each : course) {
    const std::string state = state_name(each, progress[each.key()]);
    const char* mark = state == "solved" ? "✓" : state == "started" ? "…" : " ";
    context.print(
        fmt::format("{} {:<4} {}\n", context.paint(mark, shell::Ink::green), each.id, each.title));
  }
  context.print(cat("\n✓ solved  … started\nBegin with 'tessera puzzle start ", course.front().id,
                    course.front().form_flag(), "'.\n"));
  if (!request.is_in_cuda)
    context.print("'tessera puzzle list --cuda' shows those that are in plain CUDA, too.\n");
  return 0;
}

int start(const shell::Context& context, const course::PuzzleRequest& request) {
  const auto course = course_of(request);
  const course::Puzzle puzzle = course::requested_puzzle(course, request);
  const fs::path file = learners_file(puzzle, request.file);
  write_start(puzzle, file, request.force);
  std::string before;
  course::LearnerProgress::update(context, [&](auto& progress) {
    before = std::exchange(progress[puzzle.key()].file, file.string());
  });
  if (!before.empty() && before != file)
    context.warn(cat("where there is no ", puzzle.file_name(),
                     " in the folder, 'tessera puzzle run ", puzzle.id, puzzle.form_flag(),
                     "' uses this file from now on, no longer ", before));
  print_page(context, cat("Puzzle ", puzzle.number, ": ", puzzle.title, "\n\n", puzzle.idea, "\n",
                          puzzle.configuration));
  context.print_wrapped(about_elements(puzzle));
  context.print_wrapped(cat("\nEdit ", file.string(), "\nthen: tessera puzzle run ", puzzle.id,
                            puzzle.form_flag(),
                            puzzle.variants.empty() ? "" : " --" + puzzle.variants.front(), "\n"));
  return 0;
}

int hint(const shell::Context& context, const course::PuzzleRequest& request) {
  const auto course = course_of(request);
  const course::Puzzle puzzle = course::requested_puzzle(course, request);
  const int all = static_cast<int>(puzzle.hints.size());
  int shown = 0;
  course::LearnerProgress::update(context, [&](auto& progress) {
    int& hints = progress[puzzle.key()].hints;
    shown = hints = std::min(hints + 1, all);
  });
  for (int i = 0; i < shown; ++i)
    print_page(context, cat(i > 0 ? "\n" : "", "Hint ", i + 1, " of ", all, "\n\n",
                            puzzle.hints[static_cast<std::size_t>(i)]));
  if (shown == all)
    context.print_wrapped(cat("\nThat was the last hint: 'tessera puzzle solution ", puzzle.id,
                              puzzle.form_flag(), "' shows the solution.\n"));
  return 0;
}

int solution(const shell::Context& context, const course::PuzzleRequest& request) {
  const auto course = course_of(request);
  context.print(course::requested_puzzle(course, request).solution());
  return 0;
}

int explain(const shell::Context& context, const course::PuzzleRequest& request) {
  const auto course = course_of(request);
  const course::Puzzle puzzle = course::requested_puzzle(course, request);
  print_page(context, cat("Puzzle ", puzzle.number, ": ", puzzle.title, "\n\n", puzzle.idea, "\n",
                          puzzle.configuration, "\n", puzzle.explanation));
  return 0;
}

/// A name for a backup that no other backup has: p05.cpp.bak, p05.cpp.bak2, ...
fs::path free_backup(const fs::path& file) {
  fs::path out = file.string() + ".bak";
  for (int i = 2; fs::exists(out); ++i) out = cat(file.string(), ".bak", i);
  return out;
}

int reset(const shell::Context& context, const course::PuzzleRequest& request) {
  const auto course = course_of(request);
  const course::Puzzle puzzle = course::requested_puzzle(course, request);
  course::LearnerProgress progress;
  const std::string known = progress[puzzle.key()].file;
  const fs::path file = known.empty() ? learners_file(puzzle, "") : fs::path(known);
  std::string kept;
  const bool is_there = fs::exists(file);
  if (is_there && course::read_text(file) != puzzle.start()) {  // an unchanged file needs no backup
    kept = free_backup(file).string();
    fs::rename(file, kept);
  }
  if (!is_there || !kept.empty()) write_start(puzzle, file, false);
  course::LearnerProgress::update(context, [&](auto& all) {
    all.forget(puzzle.key());
    all[puzzle.key()].file = file.string();
  });
  context.print_wrapped(
      cat(file.string(), " is reset", kept.empty() ? "" : "; your version is " + kept, "\n"));
  return 0;
}

int show_progress(const shell::Context& context, const course::PuzzleRequest& request) {
  const auto course = course::requested_course(request);
  course::LearnerProgress progress;
  std::size_t solved = 0;
  ordered_json puzzles = ordered_json::array();
  // the first unsolved one, and the first after the last solved one
  std::string first_open, next_behind;
  for (const auto& each : course) {
    const course::PuzzleState& state = progress[each.key()];
    const bool done = std::string(state_name(each, state)) == "solved";
    solved += done ? 1 : 0;
    if (done) next_behind.clear();
    else if (next_behind.empty()) next_behind = each.id;
    if (!done && first_open.empty()) first_open = each.id;
    puzzles.push_back({{"id", each.id},
                       {"state", state_name(each, state)},
                       {"solved", state.solved},
                       {"runs", state.runs},
                       {"hints", state.hints}});
  }
  if (context.json) {
    context.print(
        shell::json_text({{"solved", solved}, {"puzzles", course.size()}, {"each", puzzles}}));
    return 0;
  }
  const std::size_t width = 30, filled = width * solved / course.size();
  std::string bar;
  for (std::size_t i = 0; i < width; ++i) bar += i < filled ? "█" : "░";
  context.print(fmt::format("{} {} of {} puzzles solved, {} %\n", bar, solved, course.size(),
                            100 * solved / course.size()));
  const std::string next = next_behind.empty() ? first_open : next_behind;
  if (!next.empty())
    context.print(cat("next: tessera puzzle start ", next, course.front().form_flag(), "\n"));
  return 0;
}

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
  CLI::App& all = *add(app, context, request, "list", "Show all puzzles", "", list);
  add_cuda_flag(all, *request);
  shell::add_json_option(all, context, "As JSON");
  CLI::App& begin = *add_with_id(app, context, request, "start", "Write the file to edit",
                                 "  tessera puzzle start p01 course", start);
  shell::add_text(begin, "DIR", "FOLDER", request->file, "Where; default here");
  shell::add_flag(begin, "--force", request->force, "Replace the file if it exists");
  add_run(app, context, request);
  add_with_id(app, context, request, "hint", "Show one more hint", "", hint);
  add_with_id(app, context, request, "solution", "Show the solution", "", solution);
  add_with_id(app, context, request, "explain", "Explain the puzzle and its solution", "", explain);
  add_with_id(app, context, request, "reset", "Start again; your version is kept as .bak", "",
              reset);
  CLI::App& solved =
      *add(app, context, request, "progress", "Show what is solved", "", show_progress);
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
