// `tessera puzzle run`: see requests.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "answer.hpp"
#include "progress.hpp"
#include "requests.hpp"
#include "shell/json_text.hpp"
#include "shell/suggest.hpp"
#include "shell/write_file.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera::course {

namespace {

namespace fs = std::filesystem;

/// "--naive belongs to p14", if it does.
std::string owner_of(const std::vector<Puzzle>& course, const std::string& flag) {
  for (const auto& each : course)
    for (const auto& variant : each.variants)
      if (flag == "--" + variant)
        return cat(flag, " belongs to ", each.id, ": 'tessera puzzle run ", each.id, " ", flag,
                   "'");
  return {};
}

/// The variant that the flags name, or "" for all of them.
std::string variant_of(const std::vector<Puzzle>& course, const Puzzle& puzzle,
                       const std::vector<std::string>& words) {
  std::vector<std::string> flags;
  for (const auto& each : puzzle.variants) flags.push_back("--" + each);
  std::string out;
  for (const auto& word : words) {
    if (!word.starts_with("-"))
      throw Error(Category::argument, cat("run: unexpected '", word, "' after the file"), {}, {},
                  cat("one file is run at a time: tessera puzzle run ", puzzle.id, " FILE"));
    const bool is_known = std::find(flags.begin(), flags.end(), word) != flags.end();
    if (!is_known && flags.empty())
      throw Error(Category::argument,
                  cat("run: unexpected '", word, "': puzzle ", puzzle.id, " has no flags"), {}, {},
                  owner_of(course, word));
    if (!is_known)
      throw Error(Category::argument,
                  cat("run: invalid option '", word,
                      "'; choose among the available flags: ", shell::join(flags)),
                  {}, {}, owner_of(course, word));
    if (!out.empty())
      throw Error(Category::argument, "run: one flag at a time; without a flag all are run");
    out = word.substr(2);
  }
  return out;
}

/// FILE, or where it was started, or here.
fs::path file_of(const Puzzle& puzzle, const std::string& named, const std::string& started) {
  for (const fs::path& each : {fs::path(named), fs::path(puzzle.file_name()), fs::path(started)}) {
    if (each.empty()) continue;
    if (fs::is_regular_file(each)) return each;
    if (each == named && fs::is_directory(each))
      throw Error(Category::file, cat("run: ", named, " is a folder"), "the file you wrote", {},
                  cat("name it: ", (each / puzzle.file_name()).string()));
    const auto& flags = puzzle.variants;
    const bool is_flag = std::find(flags.begin(), flags.end(), named) != flags.end();
    if (each == named)
      throw Error(Category::file, cat("run: there is no file ", named), {}, {},
                  is_flag ? cat("the flag is --", named) : "");
  }
  throw Error(Category::file, cat("run: there is no file ", puzzle.file_name()), {}, {},
              cat("'tessera puzzle start ", puzzle.id, puzzle.form_flag(), "' writes it"));
}

/// Records the attempt; returns the unsolved variants.
std::vector<std::string> note_progress(const shell::Context& context, const Puzzle& puzzle,
                                       const std::string& variant, const PuzzleAttempt& attempt) {
  std::vector<std::string> open;
  LearnerProgress::update(context, [&](LearnerProgress& progress) {
    PuzzleState& state = progress[puzzle.key()];
    ++state.runs;
    if (is_solved(attempt)) {
      if (!variant.empty() || puzzle.variants.empty()) state.solved.insert(variant);
      else state.solved.insert(puzzle.variants.begin(), puzzle.variants.end());
    }
    for (const auto& each : puzzle.variants)
      if (!state.solved.contains(each)) open.push_back(each);
  });
  return open;
}

/// The next puzzle after a solved one.
std::string next_steps(const std::vector<Puzzle>& course, const Puzzle& puzzle) {
  const char* const flag = puzzle.form_flag();
  std::string out = cat("now: tessera puzzle explain ", puzzle.id, flag);
  const auto next = std::find_if(course.begin(), course.end(), [&](const Puzzle& each) {
    return each.number > puzzle.number && (!puzzle.is_in_cuda || each.has_cuda());
  });
  if (next != course.end()) out += cat("; next: tessera puzzle start ", next->id, flag);
  return out + "\n";
}

/// A program may write to its own folder only; if the system cannot enforce that, its changes to
/// the learner's file are undone.
void put_back(const shell::Context& context, const fs::path& file, const std::string& text) {
  std::error_code none;
  if (fs::is_regular_file(file, none) && read_text(file) == text) return;
  std::ofstream(file) << text;
  context.warn(cat("your program changed ", file.string(), "; it is as it was before"));
}

/// The result on a GPU; none if `is_there` is false, and `text` has the reason.
struct GpuAnswer {
  bool is_there = false, disagrees = false;
  std::string text;
};

/// Also runs the kernels of a right answer on the requested device, else on the GPU. An
/// error of its compiler does not count.
GpuAnswer ask_gpu(const PuzzleTry& one, const PuzzleAttempt& done, std::optional<PuzzleGpu> gpu,
                  double time_limit_s) {
  const auto runs_kernel = [](const PuzzleCase& c) { return c.block[0] > 0; };
  if (!is_solved(done)) return {.text = "only what is right is run there"};
  if (one.puzzle->is_in_cuda)
    return {.text = "a file in plain CUDA is run by nvcc's program alone"};
  const auto& cases = done.outcome->cases;
  if (std::none_of(cases.begin(), cases.end(), runs_kernel)) return {.text = "there is no kernel"};
  std::string why_not;
  if (!gpu) gpu = first_gpu(why_not);
  if (!gpu) return {.text = why_not};
  const PuzzleAttempt there = attempt_on(*gpu, {one}, time_limit_s).front();
  const bool disagrees = there.outcome && !there.outcome->solved && !there.outcome->unavailable;
  return {true, disagrees, gpu_text(*gpu, there)};
}

/// The result, and then that of the GPU.
bool print_answers(const shell::Context& context, const PuzzleTry& one, const PuzzleAttempt& done,
                   const std::vector<std::string>& open, const PuzzleRequest& request,
                   const std::optional<PuzzleGpu>& requested) {
  const double time_limit_s = request.time_limit_s;
  if (!context.json) {
    const Shown shown = request.all ? Shown::all : Shown::few;
    const std::string text = answer_text(context, *one.puzzle, done, open, shown);
    const bool is_ours = done.errors.empty();  // else it quotes the learner's line
    context.print_wrapped(one.puzzle->is_in_cuda && is_ours ? with_names_of_cuda(text) : text);
    std::fflush(stdout);  // compiling for a GPU takes a while
  }
  const GpuAnswer gpu = ask_gpu(one, done, requested, time_limit_s);
  if (context.json) {
    auto out = answer_json(*one.puzzle, one.variant, done);
    out["gpu"] = {{"asked", gpu.is_there}, {"disagrees", gpu.disagrees}, {"says", gpu.text}};
    out["seconds"] = {{"compile", done.compile_s}, {"run", done.run_s}};
    context.print(shell::json_text(out));
  } else if (gpu.is_there) {
    context.print(gpu.text + "\n");
  }
  return is_solved(done) && !gpu.disagrees;
}

}  // namespace

int run_puzzle(const shell::Context& context, const PuzzleRequest& request) {
  const auto course = read_course(course_folder(request.course));
  PuzzleRequest wanted = request;
  if (fs::path(request.file).extension() == ".cu") wanted.is_in_cuda = true;
  const Puzzle puzzle = requested_puzzle(course, wanted);
  const std::string variant = variant_of(course, puzzle, request.words);
  std::optional<PuzzleGpu> gpu;  // refused before any work
  if (!request.device.empty()) gpu = named_gpu(request.device);
  PuzzleTry one{&puzzle, {}, variant, puzzle.id, !request.html.empty()};
  fs::path file;
  if (!request.solution) file = file_of(puzzle, request.file, LearnerProgress()[puzzle.key()].file);
  one.source = request.solution ? puzzle.solution() : read_text(file);
  if (!request.solution && request.file.empty()) context.note("runs " + file.string());
  if (!request.html.empty())
    check_output(request.html, request.force ? Overwrite::replace : Overwrite::refuse);
  if (!request.solution) one.file = file.filename().string();
  const PuzzleAttempt done = attempt(one, request.time_limit_s, request.build_cuda);
  context.detail(fmt::format("compiled in {:.2f} s, run in {:.2f} s", done.compile_s, done.run_s));
  std::vector<std::string> open;
  if (!request.solution) {
    put_back(context, file, one.source);
    open = note_progress(context, puzzle, variant, done);
  }
  if (!request.html.empty())
    shell::write_file(context, request.html, request.force, answer_html(puzzle, done));
  const bool is_right = print_answers(context, one, done, open, request, gpu);
  if (is_right && open.empty() && !request.solution && !context.json)
    context.print(next_steps(course, puzzle));
  return is_right ? 0 : 1;
}

}  // namespace tessera::course
