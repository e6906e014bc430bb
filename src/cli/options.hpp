// Building blocks for the option tree: options that check their value when it is read and answer in
// one sentence, with the nearest known name where a name is misspelt. The type name of an option
// says what completion offers for it: FILE, ALGORITHM, ALGORITHMS, KERNEL, KERNEL|FILE, SUITES,
// TYPE, TOPIC, or the choices themselves joined by '|'.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "context.hpp"
#include "tessera/core/dtype.hpp"

namespace CLI {  // its headers take seconds to compile: only who uses its members includes them
class App;
class Option;
class FormatterBase;
}  // namespace CLI

namespace tessera::cli {

/// A sub-command with the common options and its examples below the help; configuration files may
/// set its options.
CLI::App* add_command(CLI::App& parent, Context& context, std::string name, std::string description,
                      std::string examples);
/// -q, -v, --color, --config.
void add_common_options(CLI::App& app, Context& context);
/// --json.
void add_json_option(CLI::App& app, Context& context, std::string description);

/// What the command does when its options are read; the result is the exit status.
void on_run(CLI::App& app, Context& context, std::function<int()> action);
/// A switch.
CLI::Option* add_flag(CLI::App& app, std::string flags, bool& target, std::string description);
/// Any text; `type_name` is what the help calls it.
CLI::Option* add_text(CLI::App& app, std::string flags, std::string type_name, std::string& target,
                      std::string description);
/// A text without a flag, which must be given.
CLI::Option* add_argument(CLI::App& app, std::string name, std::string type_name,
                          std::string& target, std::string description);
/// One of `names`.
CLI::Option* add_choice(CLI::App& app, std::string flags, std::string& target,
                        std::vector<std::string> names, std::string description);
/// An extent: a whole number >= 0.
CLI::Option* add_extent(CLI::App& app, std::string flags, index_t& target, std::string description);
/// A count: a whole number >= 1.
CLI::Option* add_count(CLI::App& app, std::string flags, int& target, std::string description);
/// A whole number from 0 to 2^64-1.
CLI::Option* add_seed(CLI::App& app, std::string flags, std::uint64_t& target,
                      std::string description);
/// Any number, "nan" and "inf" included.
CLI::Option* add_number(CLI::App& app, std::string flags, double& target, std::string description);
/// The same, for an option whose absence is not the same as its default.
CLI::Option* add_number(CLI::App& app, std::string flags, std::optional<double>& target,
                        std::string description);
/// An element type by name.
CLI::Option* add_dtype(CLI::App& app, std::string flags, std::string& target,
                       std::string description);
/// One algorithm, or "auto".
CLI::Option* add_algorithm(CLI::App& app, std::string flags, std::string& target,
                           std::string description);
/// Algorithms joined by commas, or "all"; `also`: more names, joined by |.
CLI::Option* add_algorithms(CLI::App& app, std::string flags, std::vector<std::string>& target,
                            std::string description, const std::string& also = {});
/// --threads
CLI::Option* add_threads(CLI::App& app, int& target);

/// "a,b,,c" as {"a","b","","c"}; nothing for an empty text.
std::vector<std::string> split(std::string_view text, char separator);
/// The names of all element types.
std::vector<std::string> dtype_names();
/// Of those with a product whose A, B and C have that type; `operands` adds the types of A and B of
/// products into another type.
enum class Products { of_one_type, operands };
std::vector<std::string> product_dtype_names(Products products = Products::of_one_type);
/// The names of all algorithms in the order of the ladder.
std::vector<std::string> algorithm_names();
/// As parse_dtype, where `taken` are the names to expect. Throws Error(type) with those and the
/// nearest of them.
DType named_dtype(const std::string& text,
                  const std::vector<std::string>& taken = product_dtype_names());
/// The algorithm's own name, or one of `also`. Throws Error(argument) with the nearest name.
std::string named_algorithm(const std::string& text, const std::string& also = {});

/// Help text: two columns, wrapped, at most 100 characters wide.
std::shared_ptr<CLI::FormatterBase> help_formatter();

/// Every sub-command below `app`, `app` itself excluded, that the user can see.
std::vector<const CLI::App*> visible_commands(const CLI::App& app);

}  // namespace tessera::cli
