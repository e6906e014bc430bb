// Values of options from configuration files. The command line wins, then the environment, then the
// files in their order, then the defaults. A file is TOML as CLI11 reads it: `option = value` for
// every command that has the option; below `[multiply]` or `[layout.eval]`, for that command alone.
#pragma once

#include <string>
#include <vector>

#include "context.hpp"

namespace tessera::shell {

struct ConfigFile {
  std::string path;
  bool found = false;
};

/// One value of a file.
struct Setting {
  std::string command;  ///< "multiply", "layout eval"; empty: every command that has the option
  std::string option;   ///< without its dashes
  std::vector<std::string> values;
  std::string file;

  std::string name() const;  ///< "multiply.dtype", as in a file
};

/// The files: that of --config alone, else ./tessera.toml and then tessera/config.toml in
/// $XDG_CONFIG_HOME or ~/.config.
std::vector<ConfigFile> config_files(const Context& context);

/// The values of all files, those that win first. Throws Error(file) for a file that cannot be read
/// and Error(argument) for a name that no command knows.
std::vector<Setting> read_settings(const CLI::App& root, const std::vector<ConfigFile>& files);

/// The environment variable, as "NAME=value", that sets an option which the command line omits;
/// empty if none is set.
std::string environment_of(const std::string& option);

/// Sets the values of `app` that neither the command line nor the environment has set.
void apply_settings(const Context& context, CLI::App& app, const std::vector<Setting>& settings);

}  // namespace tessera::shell
