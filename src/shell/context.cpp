// Output streams of the command: see context.hpp.
#include "context.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "wrap.hpp"

namespace tessera::shell {

namespace {

[[noreturn]] void cannot_write() {
  if (errno == EPIPE) throw ClosedPipe();
  throw Error(Category::resource,
              cat("cannot write the result to standard output: ", std::strerror(errno)));
}

/// `kind`: the prefix of the text, possibly coloured.
void write_line(const std::string& command, std::string_view text, const std::string& kind = {}) {
  std::string line;
  for (char c : text) line += c == '\n' || c == '\r' ? ' ' : c;
  line =
      wrapped(command + ": " + kind + printable(line, line.size()), terminal_columns(Stream::err)) +
      '\n';
  // if stderr itself fails, nothing can be reported
  std::fwrite(line.data(), 1, line.size(), stderr);
}

bool set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool is_terminal(Stream stream) {
  const char* term = std::getenv("TERM");
  return isatty(stream == Stream::out ? 1 : 2) == 1 &&
         (term == nullptr || std::strcmp(term, "dumb") != 0);
}

std::size_t terminal_columns(Stream stream) {
  winsize size{};
  const bool shows = is_terminal(stream);
  if (shows && ioctl(stream == Stream::out ? 1 : 2, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  if (!shows && stream == Stream::err) return 0;
  const char* columns = std::getenv("COLUMNS");
  return columns == nullptr ? 0 : std::strtoul(columns, nullptr, 10);
}

void Context::print(std::string_view text) const {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) cannot_write();
}

void Context::print_wrapped(std::string_view text) const {
  print(wrapped(text, terminal_columns(Stream::out)));
}

void Context::flush() const {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) cannot_write();
}

void Context::note(std::string_view text) const {
  if (!quiet) write_line(command, text);
}

void Context::detail(std::string_view text) const {
  if (verbosity > 0) note(text);
}

void Context::warn(std::string_view text) const {
  if (!quiet) write_line(command, text, paint("warning", Ink::yellow, Stream::err) + ": ");
}

void Context::error(std::string_view text) const {
  // The library names the operation ("multiply: A has ..."), which the name of the command already
  // says.
  const std::string operation = command.substr(command.rfind(' ') + 1) + ": ";
  if (text.starts_with(operation)) text.remove_prefix(operation.size());
  write_line(command, text);
}

bool Context::colored(Stream stream) const {
  if (color != ColorMode::automatic) return color == ColorMode::always;
  if (set("NO_COLOR")) return false;
  const char* force = std::getenv("CLICOLOR_FORCE");
  if (force != nullptr && *force != '\0' && std::strcmp(force, "0") != 0) return true;
  return is_terminal(stream);
}

std::string Context::paint(std::string_view text, Ink ink, Stream stream) const {
  if (!colored(stream)) return std::string(text);
  constexpr const char* codes[] = {"1", "2", "31", "32", "33"};
  return cat("\033[", codes[static_cast<int>(ink)], "m", text, "\033[0m");
}

}  // namespace tessera::shell
