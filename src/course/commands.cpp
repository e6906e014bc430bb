// The short commands of `tessera puzzle`. Each reads the course's folder and the learner's
// progress.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "answer.hpp"
#include "progress.hpp"
#include "requests.hpp"
#include "shell/json_text.hpp"
#include "shell/wrap.hpp"
#include "tessera/core/error.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera::course {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// For a page that has a matrix: "A (9,9)".
std::string about_elements(const Puzzle& puzzle) {
  static const std::regex matrix(R"( \(\d+,\d+\))");
  if (!puzzle.is_in_cuda || !std::regex_search(puzzle.configuration, matrix)) return {};
  return "\nA matrix A with N columns is a pointer here: A(r, c) is A[r * N + c].\n";
}

std::vector<Puzzle> course_of(const PuzzleRequest& request) {
  return read_course(course_folder(request.course));
}

/// Where `start` and `reset` write.
fs::path learners_file(const Puzzle& puzzle, const std::string& folder) {
  const fs::path in = folder.empty() ? fs::current_path() : fs::absolute(folder);
  return (in / puzzle.file_name()).lexically_normal();
}

void print_page(const shell::Context& context, const std::string& page) {
  context.print(shell::reflowed(page, shell::terminal_columns(shell::Stream::out)));
}

std::size_t parts_of(const Puzzle& puzzle) {
  return std::max<std::size_t>(1, puzzle.variants.size());
}

const char* state_name(const Puzzle& puzzle, const PuzzleState& state) {
  if (state.solved.size() >= parts_of(puzzle)) return "solved";
  return state.file.empty() ? "open" : "started";
}

void write_start(const Puzzle& puzzle, const fs::path& file, bool force) {
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

/// A name for a backup that no other backup has: p05.cpp.bak, p05.cpp.bak2, ...
fs::path free_backup(const fs::path& file) {
  fs::path out = file.string() + ".bak";
  for (int i = 2; fs::exists(out); ++i) out = cat(file.string(), ".bak", i);
  return out;
}

}  // namespace

int list_puzzles(const shell::Context& context, const PuzzleRequest& request) {
  const auto course = requested_course(request);
  LearnerProgress progress;
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

int start_puzzle(const shell::Context& context, const PuzzleRequest& request) {
  const auto course = course_of(request);
  const Puzzle puzzle = requested_puzzle(course, request);
  const fs::path file = learners_file(puzzle, request.file);
  write_start(puzzle, file, request.force);
  std::string before;
  LearnerProgress::update(context, [&](auto& progress) {
    before = std::exchange(progress[puzzle.key()].file, file.string());
  });
  if (!before.empty() && before != file)
    context.warn(cat("in a folder without ", puzzle.file_name(), ", 'tessera puzzle run ",
                     puzzle.id, puzzle.form_flag(), "' uses this file from now on, no longer ",
                     before));
  print_page(context, cat("Puzzle ", puzzle.number, ": ", puzzle.title, "\n\n", puzzle.idea, "\n",
                          puzzle.configuration));
  context.print_wrapped(about_elements(puzzle));
  context.print_wrapped(cat("\nEdit ", file.string(), "\nthen: tessera puzzle run ", puzzle.id,
                            puzzle.form_flag(),
                            puzzle.variants.empty() ? "" : " --" + puzzle.variants.front(), "\n"));
  return 0;
}

int show_hint(const shell::Context& context, const PuzzleRequest& request) {
  const auto course = course_of(request);
  const Puzzle puzzle = requested_puzzle(course, request);
  const int all = static_cast<int>(puzzle.hints.size());
  int shown = 0;
  LearnerProgress::update(context, [&](auto& progress) {
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

int show_solution(const shell::Context& context, const PuzzleRequest& request) {
  const auto course = course_of(request);
  context.print(requested_puzzle(course, request).solution());
  return 0;
}

int explain_puzzle(const shell::Context& context, const PuzzleRequest& request) {
  const auto course = course_of(request);
  const Puzzle puzzle = requested_puzzle(course, request);
  print_page(context, cat("Puzzle ", puzzle.number, ": ", puzzle.title, "\n\n", puzzle.idea, "\n",
                          puzzle.configuration, "\n", puzzle.explanation));
  return 0;
}

int reset_puzzle(const shell::Context& context, const PuzzleRequest& request) {
  const auto course = course_of(request);
  const Puzzle puzzle = requested_puzzle(course, request);
  LearnerProgress progress;
  const std::string known = progress[puzzle.key()].file;
  const fs::path file = known.empty() ? learners_file(puzzle, "") : fs::path(known);
  std::string kept;
  const bool is_there = fs::exists(file);
  if (is_there && read_text(file) != puzzle.start()) {  // an unchanged file needs no backup
    kept = free_backup(file).string();
    fs::rename(file, kept);
  }
  if (!is_there || !kept.empty()) write_start(puzzle, file, false);
  LearnerProgress::update(context, [&](auto& all) {
    all.forget(puzzle.key());
    all[puzzle.key()].file = file.string();
  });
  context.print_wrapped(
      cat(file.string(), " is reset", kept.empty() ? "" : "; your version is " + kept, "\n"));
  return 0;
}

int show_progress(const shell::Context& context, const PuzzleRequest& request) {
  const auto course = requested_course(request);
  LearnerProgress progress;
  std::size_t solved = 0;
  ordered_json puzzles = ordered_json::array();
  // the first unsolved one, and the first after the last solved one
  std::string first_open, next_behind;
  for (const auto& each : course) {
    const PuzzleState& state = progress[each.key()];
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

}  // namespace tessera::course
