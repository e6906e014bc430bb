// The sub-commands of the whole command; course_commands.cpp has those of a course-only build.
#include <fmt/format.h>

#include "commands.hpp"
#include "plain_cuda/build.hpp"
#include "puzzle.hpp"
#include "shell/algorithm_options.hpp"
#include "shell/suggest.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::cli {

const CommandTexts& command_texts() {
  static constexpr CommandTexts texts{
      "Tiled matrix multiplication: multiply files, compare algorithms, check kernels, look at "
      "layouts.",
      "Examples:\n"
      "  tessera multiply a.npy b.npy -o c.npy\n"
      "  tessera compare -m 256 -n 256 -k 256\n"
      "  tessera layout '(4,2):(2,1)' --at 3,1\n"
      "  tessera help files\n",
      ""};
  return texts;
}

void add_commands(CLI::App& root, shell::Context& context) {
  add_multiply(root, context);
  add_plan(root, context);
  add_compare(root, context);
  add_bench(root, context);
  add_tune(root, context);
  add_check(root, context);
  add_cuda_run(root, context);
  add_judge(root, context);
  add_explain(root, context);
#if !defined(TESSERA_ONLY_DEMO)  // which is built without the course
  add_puzzle(root, context,
             [](const std::filesystem::path& source, const auto& folder, std::string& said) {
               try {
                 return plain_cuda::build(
                     {.sources = {source}, .flags = {}, .launch = {}, .prints = false}, folder);
               } catch (const plain_cuda::CompileRefused& refused) {
                 said = refused.said();
                 return std::filesystem::path();
               }
             });
#endif
  add_layout(root, context);
  add_banks(root, context);
  add_mcp(root, context);
  add_doctor(root, context);
  add_config(root, context);
#if !defined(TESSERA_ONLY_DEMO)
  add_completion(root, context);
#endif
  add_help(root, context);
}

std::string known_names() {
  std::string out = "algorithms:\n";
  for (const auto& each : algorithms()) out += fmt::format("  {:<24} {}\n", each.name, each.idea);
  out += "element types:\n  " + shell::join(shell::dtype_names(), " ") + "\n";
  out += "help topics:\n";
  for (const auto& topic : help_topics())
    out += fmt::format("  {:<12} {}\n", topic.name, topic.summary);
  return out;
}

}  // namespace tessera::cli
