// Building blocks for the option tree: options that check their value when it is parsed and report
// an error in one sentence, with the nearest known name. The type name of an option says what
// completion offers for it: FILE, ALGORITHM, ALGORITHMS, KERNEL, KERNEL|FILE, SUITES, PUZZLE, TYPE,
// TOPIC, or the choices themselves joined by '|'.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "context.hpp"
#include "tessera/core/config.hpp"

namespace CLI {  // its headers take seconds to compile: include them only where members are used
class App;
class Option;
class FormatterBase;
}  // namespace CLI

namespace tessera::shell {

/// A sub-command with the common options and its examples after the help; configuration files may
/// set its options.
CLI::App* add_command(CLI::App& parent, Context& context, std::string name, std::string description,
                      std::string examples);
/// -q, -v, --color, --config.
void add_common_options(CLI::App& app, Context& context);
/// --json.
void add_json_option(CLI::App& app, Context& context, std::string description);

/// Sets the action of the command, which runs after its options are parsed and returns the exit
/// code.
void on_run(CLI::App& app, Context& context, std::function<int()> action);
/// As above; `rest` receives the arguments that no option accepts.
void on_run(CLI::App& app, Context& context, std::vector<std::string>& rest,
            std::function<int()> action);
/// Requires one of its sub-commands; the help lists them.
void require_command(CLI::App& app);
/// An option whose value is passed to `accept`; an exception becomes one line that begins with the
/// option's name.
CLI::Option* add_checked(CLI::App& app, const std::string& flags,
                         std::function<void(const std::string&)> accept, std::string description,
                         std::string type_name);
/// A switch.
CLI::Option* add_flag(CLI::App& app, std::string flags, bool& target, std::string description);
/// Any text; `type_name` is its placeholder in the help.
CLI::Option* add_text(CLI::App& app, std::string flags, std::string type_name, std::string& target,
                      std::string description);
/// A required text without a flag.
CLI::Option* add_argument(CLI::App& app, std::string name, std::string type_name,
                          std::string& target, std::string description);
/// Any number of texts without a flag.
CLI::Option* add_arguments(CLI::App& app, std::string name, std::string type_name,
                           std::vector<std::string>& target, std::string description);
/// One of `names`.
CLI::Option* add_choice(CLI::App& app, std::string flags, std::string& target,
                        std::vector<std::string> names, std::string description);
/// --cxxflags, -I and -D: options of the compiler, as one text.
void add_compiler_flags(CLI::App& app, std::string& flags);
/// An extent: a whole number >= 0.
CLI::Option* add_extent(CLI::App& app, std::string flags, index_t& target, std::string description);
/// A count: a whole number >= 1.
CLI::Option* add_count(CLI::App& app, std::string flags, int& target, std::string description);
/// A whole number from 0 to 2^64-1.
CLI::Option* add_seed(CLI::App& app, std::string flags, std::uint64_t& target,
                      std::string description);
/// Any number, "nan" and "inf" included.
CLI::Option* add_number(CLI::App& app, std::string flags, double& target, std::string description);
/// As above, for an option whose absence differs from its default.
CLI::Option* add_number(CLI::App& app, std::string flags, std::optional<double>& target,
                        std::string description);
/// A number from `least` to `most`.
CLI::Option* add_number(CLI::App& app, std::string flags, std::string type_name, double least,
                        double most, double& target, std::string description);
/// A count of bytes above 0, such as 16GiB, 500MB or 4096.
CLI::Option* add_bytes(CLI::App& app, std::string flags, index_t& target, std::string description);
/// --swizzle BITS,BASE,SHIFT, as parse_swizzle() reads it.
CLI::Option* add_swizzle(CLI::App& app, std::string& target, std::string description);
/// --threads
CLI::Option* add_threads(CLI::App& app, int& target);

/// "a,b,,c" as {"a","b","","c"}; nothing for an empty text.
std::vector<std::string> split(std::string_view text, char separator);

/// Help text in two columns, wrapped at 100 characters.
std::shared_ptr<CLI::FormatterBase> help_formatter();

/// All visible sub-commands below `app`, without `app` itself.
std::vector<const CLI::App*> visible_commands(const CLI::App& app);

}  // namespace tessera::shell
