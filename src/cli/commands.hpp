// The sub-commands, one file each. `add_x` puts the sub-command with its options into the tree; its
// callback sets Context::action, which main runs once the whole command line is understood.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace tessera::cli {

struct Context;

/// Does what the arguments say; the exit code. Whatever goes wrong is told on stderr.
int run_command_line(int argc, char** argv);

void add_multiply(CLI::App& root, Context& context);
void add_compare(CLI::App& root, Context& context);
void add_bench(CLI::App& root, Context& context);
void add_check(CLI::App& root, Context& context);
void add_explain(CLI::App& root, Context& context);
void add_puzzle(CLI::App& root, Context& context);
void add_layout(CLI::App& root, Context& context);
void add_doctor(CLI::App& root, Context& context);
void add_config(CLI::App& root, Context& context);
void add_completion(CLI::App& root, Context& context);
void add_help(CLI::App& root, Context& context);

/// A page of `tessera help` that belongs to no single command.
struct HelpTopic {
  std::string_view name, summary;
};
const std::vector<HelpTopic>& help_topics();
/// Every algorithm with its idea, tiles and types.
std::string algorithms_page();

}  // namespace tessera::cli
