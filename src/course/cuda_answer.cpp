// Generates the texts of both programs: see cuda_answer.hpp.
#include "cuda_answer.hpp"

#include <regex>

#include "tessera/core/text.hpp"

namespace tessera::course {

std::string declarations_for(const Puzzle& puzzle) {
  static const std::regex body(R"(\bTESSERA_KERNEL void operator\(\))");
  Puzzle ours = puzzle;
  ours.is_in_cuda = false;
  return std::regex_replace(ours.solution(), body, "static constexpr bool is_in_cuda = true; $&");
}

std::vector<std::string> kernels_of(const std::string& source) {
  static const std::regex kernel(
      R"(__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\()");
  std::vector<std::string> out;
  for (std::sregex_iterator each(source.begin(), source.end(), kernel), end; each != end; ++each)
    out.push_back((*each)[1]);
  return out;
}

std::string cuda_program_of(const std::vector<PuzzleTry>& tries) {
  std::string includes = "#include <string_view>\n#include \"parts/puzzle_launch.h\"\n", bodies,
              table;
  for (const auto& one : tries) {
    bodies += cat("namespace ", one.name, " {\n#line 1 \"", name_of(one), "\"\n");
    int number = 0;
    for (const auto& line : lines_of(one.source)) {
      const bool is_include = line.starts_with("#include");
      ++number;
      if (is_include) includes += cat("#line ", number, " \"", name_of(one), "\"\n", line, "\n");
      bodies += (is_include ? "" : line) + "\n";
    }
    bodies += "}\n#line 1 \"tessera-puzzle.cu\"\n";
    for (const auto& kernel : kernels_of(one.source))
      table += cat("  if (name == \"", one.name, "::", kernel,
                   "\") return tessera::plain_cuda::launch_puzzle(", one.name, "::", kernel,
                   ", count - 2, words + 2);\n");
  }
  return cat(includes, bodies,
             "int main(int count, char** words) {\n"
             "  const std::string_view name = count > 1 ? words[1] : \"\";\n",
             table, "  return 1;\n}\n");
}

}  // namespace tessera::course
