// Options that check their values: see options.hpp.
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <new>

#include "layout/parse.hpp"
#include "suggest.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/text.hpp"

namespace tessera::shell {

namespace {

/// The longest of an option's names, which errors quote.
std::string shown_name(const std::string& flags) {
  const std::string last = flags.substr(flags.rfind(',') + 1);
  return last.substr(last.find_first_not_of(' '));
}

template <class Number>
Number whole_number(const std::string& text, Number least, const char* expected) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range)
    throw Error(Category::argument, "the number is too large", expected, "'" + text + "'");
  if (error != std::errc{} || stop != end)
    throw Error(Category::argument, "not a number", expected, "'" + text + "'");
  if (value < least) throw Error(Category::argument, "the number is too small", expected, text);
  return value;
}

/// The index of `text` in `names`. Throws Error(argument) with the nearest name.
std::size_t choice(const std::string& text, const std::vector<std::string>& names) {
  const auto at = std::find(names.begin(), names.end(), text);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  const std::string near = nearest(text, names);
  throw Error(Category::argument, cat("unknown choice '", text, "'"), "one of " + join(names), {},
              near.empty() ? "" : "did you mean '" + near + "'?");
}

double number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const char* const begin = text.starts_with('+') ? text.data() + 1 : text.data();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range)
    throw Error(Category::argument, "the number does not fit into f64", {}, "'" + text + "'");
  if (error != std::errc{} || stop != end)
    throw Error(Category::argument, "not a number", "a number such as 1, -0.5 or 1e-3",
                "'" + text + "'");
  return value;
}

}  // namespace

CLI::Option* add_checked(CLI::App& app, const std::string& flags,
                         std::function<void(const std::string&)> accept, std::string description,
                         std::string type_name) {
  const auto checked = [name = shown_name(flags),
                        accept = std::move(accept)](const std::string& text) {
    try {
      accept(text);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      throw CLI::ValidationError(name, error.what());
    }
  };
  auto* option = app.add_option_function<std::string>(flags, checked, std::move(description));
  option->type_name(std::move(type_name));
  return option;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  for (;;) {
    const auto end = text.find(separator);
    out.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

void add_common_options(CLI::App& app, Context& context) {
  app.set_help_flag("-h,--help", "Show this help and exit");
  app.add_flag("-q,--quiet", context.quiet, "No notes and no progress on stderr, only errors");
  app.add_flag_function(
      "-v,--verbose",
      [&context](std::int64_t count) { context.verbosity += static_cast<int>(count); },
      "Report decisions and their reasons on stderr");
  add_checked(
      app, "--color",
      [&context](const std::string& text) {
        context.color = static_cast<ColorMode>(choice(text, {"auto", "always", "never"}));
      },
      "Colours; default: NO_COLOR, then CLICOLOR_FORCE, then whether the "
      "output is a terminal",
      "auto|always|never");
  app.add_option("--config", context.config_file,
                 "Read option values from this file only; see 'tessera config --help'")
      ->type_name("FILE");
}

CLI::App* add_command(CLI::App& parent, Context& context, std::string name, std::string description,
                      std::string examples) {
  CLI::App* app = parent.add_subcommand(std::move(name), std::move(description));
  app->formatter(parent.get_formatter());
  app->configurable();
  app->footer(examples.empty() ? "" : "Examples:\n" + std::move(examples));
  add_common_options(*app, context);
  return app;
}

void add_json_option(CLI::App& app, Context& context, std::string description) {
  app.add_flag("--json", context.json, std::move(description));
}

void on_run(CLI::App& app, Context& context, std::function<int()> action) {
  app.callback([&context, action = std::move(action)] { context.action = action; });
}

void on_run(CLI::App& app, Context& context, std::vector<std::string>& rest,
            std::function<int()> action) {
  app.allow_extras();
  app.callback([&app, &context, &rest, action = std::move(action)] {
    rest = app.remaining();
    context.action = action;
  });
}

void require_command(CLI::App& app) {
  app.require_subcommand(1);
  for (auto* sub : app.get_subcommands({})) sub->group("Commands");
}

CLI::Option* add_flag(CLI::App& app, std::string flags, bool& target, std::string description) {
  return app.add_flag(std::move(flags), target, std::move(description));
}

CLI::Option* add_text(CLI::App& app, std::string flags, std::string type_name, std::string& target,
                      std::string description) {
  return app.add_option(std::move(flags), target, std::move(description))
      ->type_name(std::move(type_name));
}

void add_compiler_flags(CLI::App& app, std::string& flags) {
  add_text(app, "--cxxflags", "FLAGS", flags,
           "Further options of the compiler, quoted as one argument");
  const auto add = [&](const char* option, const char* type_name, const char* description) {
    const auto append = [&flags, option](const std::vector<std::string>& values) {
      for (const std::string& each : values)
        flags += cat(flags.empty() ? "'" : " '", option, each, "'");
    };
    app.add_option_function<std::vector<std::string>>(option, append, description)
        ->type_name(type_name)
        ->allow_extra_args(false);
  };
  add("-I", "FOLDER", "Where the compiler looks for headers");
  add("-D", "NAME[=VALUE]", "A macro of the compiler");
}

CLI::Option* add_argument(CLI::App& app, std::string name, std::string type_name,
                          std::string& target, std::string description) {
  return add_text(app, std::move(name), std::move(type_name), target, std::move(description))
      ->required();
}

CLI::Option* add_arguments(CLI::App& app, std::string name, std::string type_name,
                           std::vector<std::string>& target, std::string description) {
  return app.add_option(std::move(name), target, std::move(description))
      ->type_name(std::move(type_name));
}

CLI::Option* add_choice(CLI::App& app, std::string flags, std::string& target,
                        std::vector<std::string> names, std::string description) {
  const std::string type_name = join(names, "|");
  return add_checked(
      app, flags,
      [&target, names = std::move(names)](const std::string& text) {
        target = names[choice(text, names)];
      },
      std::move(description), type_name);
}

CLI::Option* add_extent(CLI::App& app, std::string flags, index_t& target,
                        std::string description) {
  return add_checked(
      app, flags,
      [&target](const std::string& text) {
        target = whole_number<index_t>(text, 0, "a whole number from 0 to 9223372036854775807");
      },
      std::move(description), "N");
}

CLI::Option* add_count(CLI::App& app, std::string flags, int& target, std::string description) {
  return add_checked(
      app, flags,
      [&target](const std::string& text) {
        target = whole_number<int>(text, 1, "a whole number from 1 to 2147483647");
      },
      std::move(description), "N");
}

namespace {

/// "16GiB": suffixes with an i are powers of 1024, others of 1000.
index_t byte_count(const std::string& text) {
  const auto refuse = [&] {
    throw Error(Category::argument, "not a size",
                "a number of bytes above 0, such as 16GiB or 500MB", text);
  };
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) refuse();
  std::string unit(end, text.data() + text.size());
  constexpr std::string_view prefixes = "KMGTPE";
  if (!unit.empty() && unit.back() == 'B') unit.pop_back();
  double base = 1000;
  if (unit.size() == 2 && unit[1] == 'i') base = 1024, unit.pop_back();
  const std::size_t power = unit.empty() ? 0 : prefixes.find(unit == "k" ? 'K' : unit[0]) + 1;
  if (unit.size() > 1 || (!unit.empty() && power == 0)) refuse();
  value *= std::pow(base, static_cast<double>(power));
  if (!(value >= 1 && value <= 0x1p62)) refuse();
  return static_cast<index_t>(value);
}

}  // namespace

CLI::Option* add_bytes(CLI::App& app, std::string flags, index_t& target, std::string description) {
  return add_checked(
      app, flags, [&target](const std::string& text) { target = byte_count(text); },
      std::move(description), "SIZE");
}

CLI::Option* add_seed(CLI::App& app, std::string flags, std::uint64_t& target,
                      std::string description) {
  return add_checked(
      app, flags,
      [&target](const std::string& text) {
        target =
            whole_number<std::uint64_t>(text, 0, "a whole number from 0 to 18446744073709551615");
      },
      std::move(description), "N");
}

CLI::Option* add_number(CLI::App& app, std::string flags, double& target, std::string description) {
  return add_checked(
      app, flags, [&target](const std::string& text) { target = number(text); },
      std::move(description), "X");
}

CLI::Option* add_number(CLI::App& app, std::string flags, std::optional<double>& target,
                        std::string description) {
  return add_checked(
      app, flags, [&target](const std::string& text) { target = number(text); },
      std::move(description), "X");
}

CLI::Option* add_number(CLI::App& app, std::string flags, std::string type_name, double least,
                        double most, double& target, std::string description) {
  return add_checked(
      app, flags,
      [&target, least, most](const std::string& text) {
        const double value = number(text);
        if (!(value >= least && value <= most))
          throw Error(Category::argument, "the number is out of range",
                      cat("a number from ", least, " to ", most), text);
        target = value;
      },
      std::move(description), std::move(type_name));
}

CLI::Option* add_swizzle(CLI::App& app, std::string& target, std::string description) {
  return add_checked(
      app, "--swizzle",
      [&target](const std::string& text) {
        parse_swizzle(text);
        target = text;
      },
      std::move(description), "BITS,BASE,SHIFT");
}

CLI::Option* add_threads(CLI::App& app, int& target) {
  return add_checked(
      app, "--threads",
      [&target](const std::string& text) {
        const int count = whole_number<int>(text, 1, "a whole number from 1 to 4096");
        if (count > kMostThreads)
          throw Error(Category::argument, "too many threads", "a whole number from 1 to 4096",
                      text);
        target = count;
      },
      "Threads; default: TESSERA_NUM_THREADS, then OMP_NUM_THREADS, then the cores of this process",
      "N");
}

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
  return app.get_subcommands(
      [](const CLI::App* sub) { return !sub->get_name().empty() && !sub->get_group().empty(); });
}

}  // namespace tessera::shell
