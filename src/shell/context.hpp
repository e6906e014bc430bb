// What every sub-command shares: output streams, colours, exit codes. Results go to stdout through
// print(), everything else to stderr through note() and warn(). A result that cannot be written is
// always an error. Exit codes: 0 success, 1 failure, 2 wrong usage, 3 invalid input file, 4
// not available, 130 Ctrl-C, 141 the reader of stdout has closed it.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace tessera::shell {

enum class ColorMode { automatic, always, never };
enum class Stream { out, err };
enum class Ink { bold, dim, red, green, yellow };

/// The reader of standard output has closed it: the command ends silently, as other programs do.
struct ClosedPipe : std::exception {
  const char* what() const noexcept override { return "the reader has closed standard output"; }
};

struct Context {
  bool json = false;   ///< one JSON document on stdout and nothing else
  bool quiet = false;  ///< on stderr only errors
  int verbosity = 0;   ///< how many -v
  ColorMode color = ColorMode::automatic;
  std::string config_file;          ///< --config; empty: the default files
  std::string command = "tessera";  ///< "tessera multiply": begins each message
  const CLI::App* root = nullptr;
  /// Runs after the whole command line is parsed; returns the exit code. Each sub-command's
  /// callback sets it.
  std::function<int()> action;

  /// Writes to the result on stdout. Throws Error(resource) if it cannot be written, ClosedPipe if
  /// the reader has closed it.
  void print(std::string_view text) const;
  /// The same for sentences: wrapped on a terminal.
  void print_wrapped(std::string_view text) const;
  /// Flushes the output of print(). main calls it once; call it earlier to show results at once.
  void flush() const;
  /// One line on stderr, "tessera multiply: text", broken to a terminal's width; not with --quiet.
  void note(std::string_view text) const;
  /// As note(), only with -v.
  void detail(std::string_view text) const;
  /// As note(), marked as a warning.
  void warn(std::string_view text) const;
  /// One line on stderr, always. Line breaks inside `text` become blanks.
  void error(std::string_view text) const;

  /// The option wins, then NO_COLOR, then CLICOLOR_FORCE, then whether `stream` is a terminal.
  bool colored(Stream stream) const;
  std::string paint(std::string_view text, Ink ink, Stream stream = Stream::out) const;
};

/// True if `stream` is a terminal that can move its cursor.
bool is_terminal(Stream stream);
/// The width of a line in characters: as the terminal reports it; else, for stdout also in a pipe,
/// as COLUMNS gives it; 0 if unknown. In a log each message stays one line.
std::size_t terminal_columns(Stream stream);

}  // namespace tessera::shell
