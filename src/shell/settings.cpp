// Reads and applies configuration files: see settings.hpp.
#include "settings.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "options.hpp"
#include "suggest.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::shell {

namespace {

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// Options for a single call, which files may not set.
bool belongs_in_a_file(const CLI::Option& option) {
  for (const auto& name : option.get_lnames()) {
    if (name == "help" || name == "config" || name == "version" || name == "list") return false;
  }
  return option.nonpositional();
}

const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  const CLI::Option* option = app.get_option_no_throw("--" + name);
  if (option == nullptr && name.size() == 1) option = app.get_option_no_throw("-" + name);
  return option != nullptr && belongs_in_a_file(*option) ? option : nullptr;
}

/// `app` and everything below it.
void for_each_app(const CLI::App& app, const std::function<void(const CLI::App&)>& body) {
  body(app);
  for (const auto* sub : visible_commands(app)) for_each_app(*sub, body);
}

std::vector<std::string> setting_names(const CLI::App& app) {
  std::vector<std::string> out;
  for_each_app(app, [&](const CLI::App& each) {
    for (const auto* option : each.get_options()) {
      if (!belongs_in_a_file(*option)) continue;
      for (const auto& name : option->get_lnames()) out.push_back(name);
    }
  });
  return out;
}

const CLI::App* find_command(const CLI::App& root, const std::vector<std::string>& path) {
  const CLI::App* app = &root;
  for (const auto& word : path) {
    const auto subs = visible_commands(*app);
    const auto at = std::find_if(subs.begin(), subs.end(),
                                 [&](const CLI::App* sub) { return sub->get_name() == word; });
    if (at == subs.end()) return nullptr;
    app = *at;
  }
  return app;
}

void check_names(const CLI::App& root, const CLI::ConfigItem& item, const std::string& file) {
  const std::string where = item.parents.empty() ? "" : cat("[", join(item.parents, "."), "] ");
  const CLI::App* app = find_command(root, item.parents);
  if (app == nullptr)
    throw Error(Category::argument, cat(file, ": ", where, "names no command"), {}, {},
                "'tessera --list' shows them");
  bool known = false;
  for_each_app(*app, [&](const CLI::App& each) {
    known = known || ((&each == app || item.parents.empty()) && find_option(each, item.name));
  });
  if (!known)
    throw Error(Category::argument,
                cat(file, ": ", where, "'", item.name, "' is not an option that a file can set",
                    did_you_mean(item.name, setting_names(*app))));
}

std::vector<Setting> read_file(const CLI::App& root, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error(Category::file, cat(path, ": is a folder"), "a file of option values");
  errno = 0;
  if (!std::ifstream(path))
    throw Error(Category::file,
                cat("cannot read the configuration file '", path, "': ", std::strerror(errno)));
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigBase().from_file(path);
  } catch (const CLI::Error& error) {
    throw Error(Category::file, cat(path, ": ", error.what()));
  }
  std::vector<Setting> out;
  for (const auto& item : items) {
    if (item.name == "++" || item.name == "--") continue;  // marks the begin or end of a section
    check_names(root, item, path);
    out.push_back({join(item.parents, " "), item.name, item.inputs, path});
  }
  // Within one file, a value for one command overrides a value for all commands.
  std::stable_partition(out.begin(), out.end(),
                        [](const Setting& setting) { return !setting.command.empty(); });
  return out;
}

/// "multiply" for `tessera multiply`.
std::string path_of(const CLI::App& app) {
  if (app.get_parent() == nullptr) return "";
  const std::string before = path_of(*app.get_parent());
  return before.empty() ? app.get_name() : before + " " + app.get_name();
}

/// `tessera -q multiply` and `tessera multiply -q` are the same.
bool given(const CLI::App& app, const std::string& option) {
  for (const CLI::App* each = &app; each != nullptr; each = each->get_parent()) {
    const CLI::Option* found = find_option(*each, option);
    if (found != nullptr && found->count() > 0) return true;
  }
  return !environment_of(option).empty();
}

void set(CLI::Option& option, const Setting& setting) {
  try {
    if (option.get_expected_max() == 0) {
      option.add_result(option.get_flag_value(setting.option, join(setting.values, ",")));
    } else if (option.get_items_expected_max() == 1 &&
               option.get_multi_option_policy() != CLI::MultiOptionPolicy::TakeAll) {
      option.add_result(join(setting.values, ","));
    } else {
      option.add_result(setting.values);
    }
    option.run_callback();
  } catch (const CLI::Error& error) {
    throw Error(Category::argument, cat(setting.file, ": ", setting.name(), ": ", error.what()));
  }
}

}  // namespace

std::string Setting::name() const {
  if (command.empty()) return option;
  std::string out = command + "." + option;
  std::replace(out.begin(), out.end(), ' ', '.');
  return out;
}

std::vector<ConfigFile> config_files(const Context& context) {
  if (!context.config_file.empty()) return {{context.config_file, true}};
  std::string folder = environment("XDG_CONFIG_HOME");
  if (const std::string home = environment("HOME"); folder.empty() && !home.empty())
    folder = home + "/.config";
  std::vector<ConfigFile> out = {{"./tessera.toml"}};
  if (!folder.empty()) out.push_back({folder + "/tessera/config.toml"});
  for (auto& file : out) {
    std::error_code ignored;
    file.found = std::filesystem::is_regular_file(file.path, ignored);
  }
  return out;
}

std::vector<Setting> read_settings(const CLI::App& root, const std::vector<ConfigFile>& files) {
  std::vector<Setting> out;
  for (const auto& file : files) {
    if (!file.found) continue;
    const auto more = read_file(root, file.path);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::string environment_of(const std::string& option) {
  std::vector<const char*> variables;
  if (option == "threads") variables = {"TESSERA_NUM_THREADS", "OMP_NUM_THREADS"};
  if (option == "device") variables = {"TESSERA_DEVICE"};
  if (option == "color") variables = {"NO_COLOR", "CLICOLOR_FORCE"};
  for (const char* variable : variables) {
    if (const auto value = environment(variable); !value.empty()) return cat(variable, "=", value);
  }
  return {};
}

void apply_settings(const Context& context, CLI::App& app, const std::vector<Setting>& settings) {
  const std::string path = path_of(app);
  for (const auto& setting : settings) {
    if (!setting.command.empty() && setting.command != path) continue;
    auto* option = const_cast<CLI::Option*>(find_option(app, setting.option));
    if (option == nullptr || given(app, setting.option)) continue;
    set(*option, setting);
    context.detail(cat(setting.name(), " = ", join(setting.values, ","), " (", setting.file, ")"));
  }
}

}  // namespace tessera::shell
