// The format of --help: two columns, wrapped. A separate file, so that no other file compiles
// CLI11's formatter.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "options.hpp"
#include "wrap.hpp"

namespace tessera::shell {

namespace {

std::size_t text_width() {
  constexpr std::size_t most = 100;
  const std::size_t columns = terminal_columns(Stream::out);
  return columns == 0 ? most : std::min(columns, most);
}

/// The column of the descriptions. On a narrow terminal each name has its own line.
std::size_t text_column() { return text_width() < 70 ? 8 : 32; }

/// Breaks `text` into lines of at most `width` and indents all but the first.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  for (const auto& word : split(text, ' ')) {
    if (column > indent && column + 1 + word.size() > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string two_columns(const std::string& left, const std::string& right) {
  const std::size_t column = text_column();
  std::string out = "  " + left;
  if (right.empty()) return out + '\n';
  if (out.size() + 2 > column) out += '\n' + std::string(column, ' ');
  else out.resize(column, ' ');
  return out + wrapped(right, column, text_width()) + '\n';
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string left =
        is_positional ? option->get_name(true, false) : option->get_name(false, true);
    if (!is_positional) {
      std::string spaced;
      for (const auto& each : split(left, ',')) spaced += (spaced.empty() ? "" : ", ") + each;
      left = spaced;
      if (option->get_type_size() != 0 && !option->get_type_name().empty())
        left += " " + option->get_type_name();
    }
    std::string right = option->get_description();
    if (option->get_required() && !is_positional) right += " (required)";
    return two_columns(left, right);
  }

  std::string make_subcommand(const CLI::App* sub) const override {
    return two_columns(sub->get_name(), sub->get_description());
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string out = "Usage: " + name;
    for (const auto* option : app->get_options()) {
      if (option->get_required() && !option->get_positional())
        out += fmt::format(" {} {}", split(option->get_name(false, true), ',').front(),
                           option->get_type_name());
    }
    for (const auto* option :
         app->get_options([](const CLI::Option* each) { return each->get_positional(); })) {
      const std::string shown = option->get_name(true, false);
      out += option->get_required() ? " " + shown : " [" + shown + "]";
    }
    out += " [options]";
    if (!visible_commands(*app).empty())
      out += app->get_parent() == nullptr ? " COMMAND ..." : " | COMMAND ...";
    return wrapped(out, 4, text_width()) + "\n";
  }

  std::string make_footer(const CLI::App* app) const override {
    return reflowed(CLI::Formatter::make_footer(app), terminal_columns(Stream::out));
  }

  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), 0, text_width()) + "\n";
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace tessera::shell
