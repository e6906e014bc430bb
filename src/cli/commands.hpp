// The sub-commands, one file each. `add_x` adds the sub-command with its options to the tree; its
// callback sets Context::action, which main runs after the whole command line is parsed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}
namespace tessera::shell {
struct Context;
}

namespace tessera::cli {

/// Runs the command and returns its exit code. Every error is reported on stderr.
int run_command_line(int argc, char** argv);
/// How `tessera` describes itself in this build.
struct CommandTexts {
  std::string_view description, examples;
  std::string_view others;  ///< printed after "unknown command": where to get the other commands
};
const CommandTexts& command_texts();
/// All sub-commands of this build.
void add_commands(CLI::App& root, shell::Context& context);
/// What `--list` prints in addition: algorithms, element types, help topics.
std::string known_names();

void add_multiply(CLI::App& root, shell::Context& context);
void add_plan(CLI::App& root, shell::Context& context);
void add_compare(CLI::App& root, shell::Context& context);
void add_bench(CLI::App& root, shell::Context& context);
void add_tune(CLI::App& root, shell::Context& context);
void add_check(CLI::App& root, shell::Context& context);
void add_cuda_run(CLI::App& root, shell::Context& context);
void add_judge(CLI::App& root, shell::Context& context);
void add_explain(CLI::App& root, shell::Context& context);
void add_layout(CLI::App& root, shell::Context& context);
void add_banks(CLI::App& root, shell::Context& context);
void add_mcp(CLI::App& root, shell::Context& context);
void add_doctor(CLI::App& root, shell::Context& context);
void add_config(CLI::App& root, shell::Context& context);
void add_completion(CLI::App& root, shell::Context& context);
void add_help(CLI::App& root, shell::Context& context);

/// A page of `tessera help` that belongs to no single command.
struct HelpTopic {
  std::string_view name, summary;
};
const std::vector<HelpTopic>& help_topics();
/// Every algorithm with its idea, tiles and types.
std::string algorithms_page();

}  // namespace tessera::cli
