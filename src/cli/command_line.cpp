// The command line `tessera`: builds the option tree, parses the arguments, runs one sub-command,
// and turns every failure into one line on stderr and an exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "commands.hpp"
#include "process/signals.hpp"
#include "shell/build_info.hpp"
#include "shell/caret_error.hpp"
#include "shell/options.hpp"
#include "shell/settings.hpp"
#include "shell/suggest.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

constexpr int kUsage = 2;

CLI::App& deepest(CLI::App& app) {
  for (auto* sub : app.get_subcommands()) return deepest(*sub);
  return app;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : full_name(*app.get_parent()) + " " + app.get_name();
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const auto* sub : shell::visible_commands(app)) out.push_back(sub->get_name());
  return out;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) out.push_back("--" + name);
    for (const auto& name : option->get_snames()) out.push_back("-" + name);
  }
  return out;
}

/// The first argument that was parsed as a positional; empty without one.
std::string first_positional(const CLI::App& app) {
  for (const auto* option : app.get_options()) {
    if (option->get_positional() && !option->results().empty()) return option->results().front();
  }
  return {};
}

using Words = std::vector<std::string>;

/// The message for an option that no command accepted.
std::string unexpected_option(const Words& arguments, const CLI::App& app,
                              const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  const Words known = option_names(app);
  const bool is_known = std::find(known.begin(), known.end(), option) != known.end();
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  const bool before = std::find(arguments.begin(), mark, word) != mark;
  const bool after = std::find(mark, arguments.end(), word) != arguments.end();
  // After --, even a known option is a name, so no command accepts it.
  if (after && (is_known || !before))
    return cat("unexpected argument '", word, "': after --, every argument is a name");
  // Any letter is as near to -h as any other.
  if (!is_known)
    return cat("unknown option '", option, "'",
               option.size() > 2 ? shell::did_you_mean(option, known) : "");
  return cat("'", option, "' comes before the command; write it after '", full_name(app), "'");
}

/// The message for an argument that no command accepted.
std::string unexpected(const Words& arguments, const CLI::App& root, const CLI::App& app) {
  for (const auto& word : root.remaining(true)) {
    if (word == "--") continue;
    if (word.size() > 1 && word[0] == '-') return unexpected_option(arguments, app, word);
    const auto commands = command_names(app);
    // A positional may have been meant as a command: "layout evl 4:1".
    const std::string taken = first_positional(app);
    if (!shell::nearest(taken, commands).empty())
      return cat("unknown command '", taken, "'", shell::did_you_mean(taken, commands));
    if (!commands.empty() && taken.empty())
      return cat(
          "unknown command '", word, "': expected one of ", shell::join(commands),
          shell::did_you_mean(word == "matmul" || word == "gemm" ? "multiply" : word, commands),
          command_texts().others);
    return cat("unexpected argument '", word, "'; '", full_name(app),
               " --help' lists its arguments");
  }
  return "unexpected arguments";
}

/// The option that an error's text begins with; nullptr if there is none.
const CLI::Option* option_of(const CLI::Error& error, const CLI::App& app) {
  const std::string text = error.what();
  for (const CLI::App* each = &app; each != nullptr; each = each->get_parent()) {
    for (const auto* option : each->get_options()) {
      if (text.starts_with(option->get_name() + ":")) return option;
    }
  }
  return nullptr;
}

/// An option with too many or too few values.
std::string mismatch_of(const CLI::Option& option) {
  const std::string name = option.get_name();
  const auto values = static_cast<std::size_t>(std::max(1, option.get_items_expected_min()));
  if (option.count() > values) {
    const std::size_t times = (option.count() + values - 1) / values;
    return cat(name, " is given ", times == 2 ? "twice" : cat(times, " times"));
  }
  const std::string type = option.get_type_name();
  return values > 1 ? cat(name, " needs ", values, " values: ", type)
                    : cat(name, " needs a value: ", type);
}

/// CLI11's errors in this command's style.
std::string message_of(const CLI::Error& error, const Words& arguments, const CLI::App& root,
                       const CLI::App& app) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return unexpected(arguments, root, app);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const CLI::Option* option = option_of(error, app);
    return option != nullptr ? mismatch_of(*option) : error.what();
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) return error.what();
  const auto commands = command_names(app);
  if (!commands.empty() && !root.remaining(true).empty()) return unexpected(arguments, root, app);
  return cat(
      commands.empty() ? error.what() : "no command given: expected " + shell::join(commands),
      "; '", full_name(app), " --help' shows examples");
}

std::string list_of_names(const CLI::App& root) {
  std::string out = "commands:\n";
  for (const auto* sub : shell::visible_commands(root))
    out += fmt::format("  {:<12} {}\n", sub->get_name(), sub->get_description());
  return out + known_names();
}

int command_line(int argc, char** argv, shell::Context& context) {
  CLI::App root{std::string(command_texts().description), "tessera"};
  context.root = &root;
  root.formatter(shell::help_formatter());
  root.get_formatter()->label("Positionals", "Arguments");
  root.require_subcommand(0, 1);
  shell::add_common_options(root, context);
  bool version = false, list = false;
  root.add_flag("--version", version,
                "Show version, compiler, instruction sets and CUDA, and exit");
  root.add_flag("--list", list,
                "List all commands, algorithms, element types and help topics, and exit");
  add_commands(root, context);
  root.footer(cat(
      command_texts().examples,
      "\nExit codes: 0 success, 1 failure, 2 wrong usage, 3 invalid input file, 4 not available, "
      "130 interrupted."));
  for (auto* sub : root.get_subcommands({})) sub->group("Commands");

  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    context.print(root.help());
    return 0;
  } catch (const CLI::Error& error) {
    const CLI::App& app = deepest(root);
    context.command = full_name(app);
    context.error(message_of(error, Words(argv + 1, argv + argc), root, app));
    return kUsage;
  }
  if (version) {
    context.print_wrapped(shell::version_text());
    return 0;
  }
  if (list) {
    context.print_wrapped(list_of_names(root));
    return 0;
  }
  if (!context.action) {
    context.error(cat("no command given: expected one of ", shell::join(command_names(root)),
                      "; 'tessera --help' shows examples"));
    return kUsage;
  }
  CLI::App& app = deepest(root);
  context.command = full_name(app);
  process::set_signal_name(context.command);
  if (app.get_configurable())
    shell::apply_settings(context, app, shell::read_settings(root, shell::config_files(context)));
  return context.action();
}

}  // namespace

int run_command_line(int argc, char** argv) {
  shell::Context context;
  try {
    const int code = command_line(argc, argv, context);
    context.flush();
    return code;
  } catch (const shell::CaretError& error) {
    context.error(error.what());
    std::fputs((error.picture + "\n").c_str(), stderr);
    return kUsage;
  } catch (const Error& error) {
    context.error(error.what());
    return exit_code(error.category());
  } catch (const process::Interrupted& interrupted) {
    context.error(interrupted.signal == SIGINT ? "interrupted" : "ended by a signal");
    return 128 + interrupted.signal;
  } catch (const shell::ClosedPipe&) {
    return 128 + SIGPIPE;  // the code that a shell reports for a program killed by SIGPIPE
  } catch (const std::bad_alloc&) {
    context.error(
        "not enough memory; use smaller matrices or fewer threads, or raise the limit (ulimit -v)");
    return 1;
  } catch (const std::exception& error) {
    context.error(error.what());
    return 1;
  }
}

}  // namespace tessera::cli
