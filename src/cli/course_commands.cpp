// The sub-commands of a course-only build (TESSERA_ONLY_COURSE), instead of all_commands.cpp.
#include "commands.hpp"
#include "puzzle.hpp"

namespace tessera::cli {

const CommandTexts& command_texts() {
  static constexpr CommandTexts texts{
      "The course of Tessera, and nothing else: scripts/build makes the whole command.",
      "Examples:\n  tessera puzzle list\n  tessera puzzle start p01\n",
      "; this build has the course alone: scripts/build makes the other commands"};
  return texts;
}

void add_commands(CLI::App& root, shell::Context& context) { add_puzzle(root, context, nullptr); }

std::string known_names() { return {}; }

}  // namespace tessera::cli
