// `tessera completion bash|zsh|fish`: prints a completion script. It is generated from the option
// tree, so that it contains every option; the type name of an option says which values to offer.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

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

/// What may follow an option or be an argument.
struct Values {
  bool files = false;
  bool comma_list = false;  ///< several of `words` joined by commas
  std::vector<std::string> words;
};

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

/// A flag that is not in the option tree: "--tiled" of `puzzle run`, a kernel of one puzzle.
struct OtherFlag {
  std::string name, description;
};
std::vector<OtherFlag> other_flags(const std::string& path) {
  std::vector<OtherFlag> out;
  if (path != "tessera puzzle run") return out;
  for (const auto& each : known_course())
    for (const auto& variant : each.variants)
      out.push_back({"--" + variant, cat("Run this kernel of ", each.id, " alone")});
  return out;
}

Values values_of(const CLI::Option& option, const CLI::App& root) {
  const std::string type = option.get_type_name();
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
    Values out;
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

bool takes_value(const CLI::Option& option) { return option.get_expected_max() > 0; }

bool may_repeat(const CLI::Option& option) {
  return option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll ||
         option.get_items_expected_max() > 1;
}

std::vector<std::string> flags_of(const CLI::Option& option) {
  std::vector<std::string> out;
  for (const auto& name : option.get_lnames()) out.push_back("--" + name);
  for (const auto& name : option.get_snames()) out.push_back("-" + name);
  return out;
}

std::vector<const CLI::Option*> named_options(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->nonpositional(); });
}

std::vector<const CLI::Option*> positionals(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

/// Each command of the tree with its full name, the root first.
void for_each_command(const CLI::App& app, const std::string& path,
                      const std::function<void(const CLI::App&, const std::string&)>& body) {
  body(app, path);
  for (const auto* sub : shell::visible_commands(app))
    for_each_command(*sub, path + " " + sub->get_name(), body);
}

/// What all positional arguments of a command offer.
Values argument_values(const CLI::App& app, const CLI::App& root) {
  Values out;
  for (const auto* option : positionals(app)) {
    const Values each = values_of(*option, root);
    out.files = out.files || each.files;
    out.words.insert(out.words.end(), each.words.begin(), each.words.end());
  }
  for (const auto* sub : shell::visible_commands(app)) out.words.push_back(sub->get_name());
  return out;
}

// Over 60 lines: most of it is the text of the script.
std::string bash_script(const CLI::App& root) {
  std::string paths, values, words;
  for_each_command(root, "tessera", [&](const CLI::App& app, const std::string& path) {
    if (&app != &root) paths += fmt::format("      '{}') path='{}' ;;\n", path, path);
    std::vector<std::string> flags;
    for (const auto* option : named_options(app)) {
      const auto names = flags_of(*option);
      flags.insert(flags.end(), names.begin(), names.end());
      if (!takes_value(*option)) continue;
      std::string pattern;
      for (const auto& flag : names)
        pattern += fmt::format("{}'{} {}'", pattern.empty() ? "" : "|", path, flag);
      const Values offered = values_of(*option, root);
      const char* action = offered.files        ? "_tessera_files"
                           : offered.comma_list ? "_tessera_list"
                                                : "_tessera_words";
      values += fmt::format("    {}) {} '{}'; return ;;\n", pattern, action,
                            shell::join(offered.words, " "));
    }
    for (const auto& each : other_flags(path)) flags.push_back(each.name);
    const Values arguments = argument_values(app, root);
    words += fmt::format("    '{}') flags='{}' arguments='{}' files={} ;;\n", path,
                         shell::join(flags, " "), shell::join(arguments.words, " "),
                         arguments.files ? 1 : 0);
  });
  return fmt::format(R"(# Completion of tessera for bash; generated by 'tessera completion bash'.
# Try it: source <(tessera completion bash)
_tessera_words() {{
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}}
_tessera_files() {{
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  compopt -o filenames
}}
_tessera_list() {{
  local before=
  case "$cur" in *,*) before="${{cur%,*}}," ;; esac
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${{cur##*,}}")
  compopt -o nospace
}}
_tessera() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD - 1]}}"
  local path=tessera flags='' arguments='' files=0 i
  COMPREPLY=()
  if [ "$cur" = '=' ]; then
    cur=''
  elif [ "$prev" = '=' ]; then
    prev="${{COMP_WORDS[COMP_CWORD - 2]}}"
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${{COMP_WORDS[i]}}" in
{}    esac
  done
  case "$path $prev" in
{}  esac
  case "$path" in
{}  esac
  case "$cur" in
    -*) _tessera_words "$flags"; return ;;
  esac
  _tessera_words "$arguments"
  if [ "$files" = 1 ]; then
    local found
    mapfile -t found < <(compgen -f -- "$cur")
    COMPREPLY+=("${{found[@]}}")
    compopt -o filenames
  fi
}}
complete -F _tessera tessera
)",
                     paths, values, words);
}

/// Text inside single quotes of zsh's _arguments: brackets, colons and quotes must not end it.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\'') out += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\') out += cat("\\", c);
    else out += c;
  }
  return out;
}

std::string zsh_action(const Values& values) {
  if (values.files && values.words.empty()) return "_files";
  if (values.comma_list) return fmt::format("_values -s , name {}", shell::join(values.words, " "));
  return values.words.empty() ? " " : "(" + shell::join(values.words, " ") + ")";
}

std::string zsh_function(const std::string& path) {
  std::string out = "_" + path;
  for (char& c : out) {
    if (c == ' ' || c == '-') c = '_';
  }
  return out;
}

/// The _arguments specifications of an option, one for each of its names, which exclude each other.
std::string zsh_specs(const CLI::Option& option, const CLI::App& root) {
  const auto flags = flags_of(option);
  const std::string before = may_repeat(option) ? "*" : cat("(", shell::join(flags, " "), ")");
  std::string value;
  if (takes_value(option)) {
    value = fmt::format("{}{}:{}", option.get_expected_min() == 0 ? "::" : ":",
                        zsh_text(option.get_type_name()), zsh_action(values_of(option, root)));
  }
  std::string out;
  for (const auto& flag : flags) {
    const char* joint = !takes_value(option) ? "" : flag.starts_with("--") ? "=" : "+";
    out += fmt::format("    '{}{}{}[{}]{}' \\\n", before, flag, joint,
                       zsh_text(option.get_description()), value);
  }
  return out;
}

/// A command with sub-commands: a word that names one passes control to its function.
std::string zsh_dispatch(const CLI::App& app, const std::string& path) {
  const std::string name = zsh_function(path);
  std::string cases, listed;
  for (const auto* sub : shell::visible_commands(app)) {
    cases +=
        fmt::format("      {}) shift $((i - 1)) words; (( CURRENT -= i - 1 )); {}; return ;;\n",
                    sub->get_name(), zsh_function(path + " " + sub->get_name()));
    listed += fmt::format("    '{}:{}'\n", sub->get_name(), zsh_text(sub->get_description()));
  }
  return fmt::format(R"({0}_commands() {{
  local -a commands=(
{1}  )
  _describe command commands
}}
{0}() {{
  local i
  for (( i = 2; i < CURRENT; i++ )); do
    case "$words[i]" in
{2}    esac
  done
)",
                     name, listed, cases);
}

std::string zsh_script(const CLI::App& root) {
  std::string out =
      "#compdef tessera\n# Completion of tessera for zsh; generated by 'tessera completion zsh'.\n"
      "# Save it as _tessera in a folder of $fpath, or try it: source <(tessera completion zsh)\n";
  for_each_command(root, "tessera", [&](const CLI::App& app, const std::string& path) {
    const bool has_commands = !shell::visible_commands(app).empty();
    out += has_commands ? zsh_dispatch(app, path) : zsh_function(path) + "() {\n";
    out += "  _arguments -s \\\n";
    for (const auto* option : named_options(app)) out += zsh_specs(*option, root);
    for (const auto& each : other_flags(path))
      out += fmt::format("    '{}[{}]' \\\n", each.name, zsh_text(each.description));
    if (has_commands) {
      out += fmt::format("    ':command:{}_commands'\n}}\n", zsh_function(path));
      return;
    }
    for (const auto* option : positionals(app)) {
      const Values values = values_of(*option, root);
      // it would prevent the completion of options
      if (!values.files && values.words.empty()) continue;
      out += fmt::format("    '{}:{}:{}' \\\n", may_repeat(*option) ? "*" : "",
                         zsh_text(option->get_name(true, false)), zsh_action(values));
    }
    out += "    && return 0\n}\n";
  });
  // As a file of $fpath the whole text is the body of _tessera, run at the first TAB.
  return out +
         "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
         "  _tessera \"$@\"\n"
         "else\n"
         "  compdef _tessera tessera\n"
         "fi\n";
}

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_script(const CLI::App& root) {
  std::string out =
      "# Completion of tessera for fish; generated by 'tessera completion fish'.\n"
      "# Save it as ~/.config/fish/completions/tessera.fish\n"
      "complete -c tessera -f\n";
  for_each_command(root, "tessera", [&](const CLI::App& app, const std::string& path) {
    std::string condition = "__fish_use_subcommand";
    if (&app != &root) {
      condition.clear();
      for (const auto& word : shell::split(path.substr(path.find(' ') + 1), ' '))
        condition += (condition.empty() ? "" : "; and ") +
                     std::string("__fish_seen_subcommand_from ") + word;
    }
    const std::string start = fmt::format("complete -c tessera -n {}", fish_quoted(condition));
    for (const auto* sub : shell::visible_commands(app))
      out += fmt::format("{} -a {} -d {}\n", start, sub->get_name(),
                         fish_quoted(sub->get_description()));
    for (const auto* option : named_options(app)) {
      out += start;
      for (const auto& name : option->get_lnames()) out += " -l " + name;
      for (const auto& name : option->get_snames()) out += " -s " + name;
      if (takes_value(*option)) {
        const Values values = values_of(*option, root);
        out += values.files ? " -r -F" : " -x";
        if (!values.words.empty()) out += " -a " + fish_quoted(shell::join(values.words, " "));
      }
      out += fmt::format(" -d {}\n", fish_quoted(option->get_description()));
    }
    for (const auto& each : other_flags(path))
      out += fmt::format("{} -l {} -d {}\n", start, each.name.substr(2),
                         fish_quoted(each.description));
    for (const auto* option : positionals(app)) {
      const Values values = values_of(*option, root);
      if (values.files) out += start + " -F\n";
      if (!values.words.empty())
        out += fmt::format("{} -a {}\n", start, fish_quoted(shell::join(values.words, " ")));
    }
  });
  return out;
}

}  // namespace

void add_completion(CLI::App& root, shell::Context& context) {
  auto shell = std::make_shared<std::string>();
  CLI::App* app =
      shell::add_command(root, context, "completion", "Print a completion script for a shell",
                         "  source <(tessera completion bash)\n"
                         "  tessera completion fish > ~/.config/fish/completions/tessera.fish\n"
                         "  tessera completion zsh > ~/.zsh/completions/_tessera");
  app->configurable(false);  // it works independently of configuration files
  shell::add_choice(*app, "SHELL", *shell, {"bash", "zsh", "fish"}, "bash, zsh or fish")
      ->required();
  app->callback([&context, shell] {
    context.action = [&context, shell] {
      const CLI::App& tree = *context.root;
      context.print(*shell == "bash"  ? bash_script(tree)
                    : *shell == "zsh" ? zsh_script(tree)
                                      : fish_script(tree));
      return 0;
    };
  });
}

}  // namespace tessera::cli
