// `tessera config show`: which values do not come from the command line, and the source of each.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "shell/json_text.hpp"
#include "shell/options.hpp"
#include "shell/settings.hpp"
#include "shell/suggest.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

using nlohmann::ordered_json;

/// Prints a path or a value, which may be a list of paths.
constexpr std::size_t kShown = 4000;

struct Value {
  std::string name, value, source;
};

/// Values of the environment, then of the files; earlier ones override later ones.
std::vector<Value> values_of(const shell::Context& context,
                             const std::vector<shell::ConfigFile>& files) {
  std::vector<Value> out;
  for (const char* variable :
       {"TESSERA_NUM_THREADS", "OMP_NUM_THREADS", "TESSERA_CPU", "TESSERA_CPU_TUNING",
        "TESSERA_ARITHMETIC", "TESSERA_DEVICE", "TESSERA_DRIVER_TIMEOUT", "TESSERA_KERNEL_TIMEOUT",
        "TESSERA_OPENCL_LIBRARY", "TESSERA_PEERS", "TESSERA_CUBLAS", "TESSERA_TUNING",
        "TESSERA_BLAS_FALLBACK", "TESSERA_PYTHON", "TESSERA_COURSE", "TESSERA_VERBOSE", "NO_COLOR",
        "CLICOLOR_FORCE"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') out.push_back({variable, value, "environment"});
  }
  for (const auto& setting : shell::read_settings(*context.root, files)) {
    if (!shell::environment_of(setting.option).empty()) continue;
    const std::string name = setting.name();
    const bool hidden =
        std::any_of(out.begin(), out.end(), [&](const Value& value) { return value.name == name; });
    if (!hidden) out.push_back({name, shell::join(setting.values, ","), setting.file});
  }
  return out;
}

int show(const shell::Context& context) {
  const auto files = shell::config_files(context);
  const auto values = values_of(context, files);
  if (context.json) {
    ordered_json out = {{"files", ordered_json::array()}, {"values", ordered_json::array()}};
    for (const auto& file : files)
      out["files"].push_back({{"path", file.path}, {"found", file.found}});
    for (const auto& each : values)
      out["values"].push_back(
          {{"name", each.name}, {"value", each.value}, {"source", each.source}});
    context.print(shell::json_text(out));
    return 0;
  }
  std::string out = "Files, the first that names a value wins:\n";
  for (const auto& file : files)
    out += fmt::format("  {}{}\n", printable(file.path, kShown), file.found ? "" : " (missing)");
  out += "Values:\n";
  for (const auto& each : values)
    out += fmt::format("  {} = {}  ({})\n", printable(each.name), printable(each.value, kShown),
                       printable(each.source, kShown));
  context.print_wrapped(out + "  all other options have their defaults\n");
  return 0;
}

}  // namespace

void add_config(CLI::App& root, shell::Context& context) {
  CLI::App* app = shell::add_command(
      root, context, "config", "Show which values come from the environment and from files",
      "  tessera config show\n"
      "  tessera config show --config project.toml --json\n"
      "\n"
      "A file holds lines such as\n"
      "  threads = 4\n"
      "  quiet = true\n"
      "  [bench]\n"
      "  peers = \"openblas,blis\"\n"
      "for every command that has the option, and below [COMMAND] for that one. The command line "
      "wins,\n"
      "then the environment, then --config FILE, or without it ./tessera.toml and then\n"
      "tessera/config.toml in $XDG_CONFIG_HOME or ~/.config.");
  app->require_subcommand(1);
  CLI::App* show_app = shell::add_command(*app, context, "show", "Show the files and the values",
                                          "  tessera config show --json");
  show_app->configurable(false);  // it shows what the configuration files say
  shell::add_json_option(*show_app, context, "One JSON document on stdout");
  show_app->callback([&context] { context.action = [&context] { return show(context); }; });
}

}  // namespace tessera::cli
