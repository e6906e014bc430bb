// `tessera completion bash|zsh|fish`: prints a completion script. This file knows what each type
// name of an option offers; shell/completion.cpp writes the script.
#include "shell/completion.hpp"

#include <CLI/CLI.hpp>
#include <cctype>

#include "bench/sizes.hpp"
#include "commands.hpp"
#include "course/course.hpp"
#include "shell/algorithm_options.hpp"
#include "shell/suggest.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/matmul/check.hpp"

namespace tessera::cli {

namespace {

/// The installed course; none without one.
const std::vector<course::Puzzle>& known_course() {
  static const std::vector<course::Puzzle> course = [] {
    try {
      return course::read_course(course::course_folder(""));
    } catch (const Error&) {
      return std::vector<course::Puzzle>{};
    }
  }();
  return course;
}

/// "--tiled" of `puzzle run`: a kernel of one puzzle.
std::vector<shell::OtherFlag> other_flags(const std::string& command) {
  std::vector<shell::OtherFlag> out;
  if (command != "tessera puzzle run") return out;
  for (const auto& each : known_course())
    for (const auto& variant : each.variants)
      out.push_back({"--" + variant, cat("Run this kernel of ", each.id, " alone")});
  return out;
}

shell::Values values_of(const std::string& type, const CLI::App& root) {
  if (type == "FILE" || type == "OLD NEW") return {true, false, {}};
  if (type == "TYPE") return {false, false, shell::product_dtype_names()};
  const auto kinds = shell::split(type, '|');
  const bool algorithms = !kinds.empty() && kinds[0] == "ALGORITHMS";
  if (algorithms || type == "ALGORITHM") {
    auto words = shell::algorithm_names();
    words.insert(words.begin(), algorithms ? "all" : "auto");
    words.insert(words.end(), kinds.begin() + 1, kinds.end());
    return {false, algorithms, words};
  }
  if (type == "KERNEL") return {false, false, checked_algorithms()};
  if (type == "KERNEL|FILE") return {true, false, checked_algorithms()};
  if (type == "PUZZLE") {
    shell::Values out;
    for (const auto& each : known_course()) out.words.push_back(each.id);
    return out;
  }
  if (type == "SUITES") return {false, true, bench::suite_names()};
  if (type == "TOPIC") {
    std::vector<std::string> words;
    for (const auto* sub : shell::visible_commands(root)) words.push_back(sub->get_name());
    for (const auto& topic : help_topics()) words.emplace_back(topic.name);
    return {false, false, words};
  }
  if (kinds.size() > 1) {
    auto words = kinds;
    // A word in capitals is a placeholder: auto|none|LIST.
    std::erase_if(words, [](const std::string& word) {
      return std::isupper(static_cast<unsigned char>(word[0])) != 0;
    });
    return {false, false, words};
  }
  return {};
}

}  // namespace

void add_completion(CLI::App& root, shell::Context& context) {
  auto language = std::make_shared<std::string>();
  CLI::App* app =
      shell::add_command(root, context, "completion", "Print a completion script for a shell",
                         "  source <(tessera completion bash)\n"
                         "  tessera completion fish > ~/.config/fish/completions/tessera.fish\n"
                         "  tessera completion zsh > ~/.zsh/completions/_tessera");
  app->configurable(false);  // it works independently of configuration files
  shell::add_choice(*app, "SHELL", *language, {"bash", "zsh", "fish"}, "bash, zsh or fish")
      ->required();
  app->callback([&context, language] {
    context.action = [&context, language] {
      const CLI::App& tree = *context.root;
      context.print(shell::completion_script(
          {tree, [&tree](const std::string& type) { return values_of(type, tree); }, other_flags},
          *language));
      return 0;
    };
  });
}

}  // namespace tessera::cli
