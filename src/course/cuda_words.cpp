// A puzzle in plain CUDA: its page is that of the puzzle in Tessera's language, in CUDA's names and
// without the paragraphs about that language.
#include <algorithm>
#include <regex>

#include "requests.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

struct Words {
  std::regex ours;
  const char* cuda;
};

/// The longer first.
const std::vector<Words>& dictionary() {
  static const std::vector<Words> words{
      {std::regex(R"(\bt\.thread\.([xyz])\b)"), "threadIdx.$1"},
      {std::regex(R"(\bt\.thread\b)"), "threadIdx.x"},
      {std::regex(R"(\bt\.block\.([xyz])\b)"), "blockIdx.$1"},
      {std::regex(R"(\bt\.grid_dim\.([xyz])\b)"), "gridDim.$1"},
      {std::regex(R"(\bDim3 block\b)"), "dim3 block"},
      {std::regex(R"(\bt\.barrier\b)"), "__syncthreads"},
      {std::regex(R"(\bt\.warp_barrier\b)"), "__syncwarp"},
      {std::regex(R"(\bt\.ballot\b)"), "__ballot_sync"},
      {std::regex(R"(\bt\.shuffle_(down|up|xor)\()"), "__shfl_$1_sync(~0u, "},
      {std::regex(R"(\bt\.shuffle_(down|up|xor)\b)"), "__shfl_$1_sync"},
      {std::regex(R"(\bwait<(\d)>(\(t\))?)"), "__pipeline_wait_prior($1)"},
      {std::regex(R"(\bcommit\(t\))"), "__pipeline_commit()"},
      {std::regex(R"(\bcopy_async\b(?!\())"), "__pipeline_memcpy_async"},
      {std::regex(R"(\bTile<float, 1, (\w+)> (\w+))"), "float $2[$1]"},
      {std::regex(R"(\bTile<float, ([^,<>]+), ([^,<>]+)> (\w+))"), "float $3[$1][$2]"},
      {std::regex(R"(\bs\.(\w+)\(0, ([^(),]+)\))"), "$1[$2]"},  // a tile of one row
      {std::regex(R"(\bs\.(\w+)\(0, (\w+\(\w+\))\))"), "$1[$2]"},
      {std::regex(R"(\bs\.(\w+)\(([^(),]+), ([^(),]+)\))"), "$1[$2][$3]"},
      {std::regex(R"(\bs\.(?=[a-z]))"), ""},
      {std::regex(R"(\b(a|b|x|out)\(([^(),]+)\))"), "$1[$2]"},
      {std::regex(R"(\bt\.atomic_(add|max)\((\w+)\(([^(),]+), ([^(),]+)\))"),
       "t.atomic_$1($2[$3 * N + $4]"},
      {std::regex(R"(\bt\.atomic_add\()"), "atomicAdd(&"},
      {std::regex(R"(\bt\.atomic_max\()"), "atomicMax(&"},
      {std::regex(R"(\bt\.atomic_add\b)"), "atomicAdd"},
      {std::regex(R"(\bt\.atomic_max\b)"), "atomicMax"},
  };
  return words;
}

/// What these paragraphs say is about Tessera's language.
bool is_only_ours(const std::string& paragraph) {
  static const std::regex ours(
      R"(TESSERA_|\bShared\b|\b[Tt]ile<|\bextent<|operator\(\)|\bMma\b|\w\(t[,)]|\bt\.\w|`t`|wizzled?[<{]|\bcopy_(async\(|vectorized))");
  return std::regex_search(paragraph, ours);
}

/// The paragraphs of a page.
std::string page_in_cuda(const std::string& page) {
  std::string out;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = std::min(page.find("\n\n", at), page.size() - 2) + 2;
    const std::string paragraph = with_names_of_cuda(page.substr(at, end - at));
    if (!is_only_ours(paragraph)) out += paragraph;
    at = end;
  }
  if (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace

std::string with_names_of_cuda(std::string text) {
  for (const auto& [ours, cuda] : dictionary()) text = std::regex_replace(text, ours, cuda);
  return text;
}

std::string advice_in_cuda(std::string advice) {
  std::string out = with_names_of_cuda(std::move(advice));
  return is_only_ours(out) ? "" : out;
}

Puzzle in_cuda(Puzzle puzzle) {
  if (!puzzle.has_cuda())
    throw Error(Category::unavailable, cat(puzzle.id, " has no form in plain CUDA"), {}, {},
                "'tessera puzzle list --cuda' shows those that have one");
  puzzle.is_in_cuda = true;
  for (std::string* text : {&puzzle.idea, &puzzle.configuration, &puzzle.explanation})
    *text = page_in_cuda(*text);
  if (!puzzle.cuda_note.empty()) puzzle.idea += cat("\nIn plain CUDA: ", puzzle.cuda_note);
  std::vector<std::string> hints;
  for (const std::string& each : puzzle.hints)
    if (std::string hint = page_in_cuda(each); !hint.empty()) hints.push_back(std::move(hint));
  puzzle.hints = hints.empty() ? std::vector<std::string>{puzzle.cuda_note} : std::move(hints);
  return puzzle;
}

std::vector<Puzzle> requested_course(const PuzzleRequest& request) {
  std::vector<Puzzle> course = read_course(course_folder(request.course));
  if (!request.is_in_cuda) return course;
  std::vector<Puzzle> out;
  for (const Puzzle& each : course)
    if (each.has_cuda()) out.push_back(in_cuda(each));
  if (out.empty())
    throw Error(Category::unavailable, "this course has no puzzle in plain CUDA", {}, {},
                "a file puzzle.cu in the folder of a puzzle is its form in plain CUDA");
  return out;
}

Puzzle requested_puzzle(const std::vector<Puzzle>& course, const PuzzleRequest& request) {
  const Puzzle& puzzle = find_puzzle(course, request.id);
  return request.is_in_cuda ? in_cuda(puzzle) : puzzle;
}

}  // namespace tessera::course
