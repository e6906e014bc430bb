// Breaks lines: see wrap.hpp.
#include "wrap.hpp"

#include <algorithm>
#include <cctype>

namespace tessera::shell {

namespace {

/// The column where the text of a line begins, after blanks and "- " or "try: ": continuation lines
/// begin there.
std::size_t indent_of(std::string_view line) {
  std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  for (const std::string_view mark : {"- ", "try: ", "at "})
    if (line.substr(begin).starts_with(mark)) begin += mark.size();
  return begin;
}

/// As above for a line of two columns, "name   what it means": continuation lines begin below the
/// second column.
std::size_t hanging_indent_of(std::string_view line) {
  const std::size_t begin = indent_of(line), gap = line.find("  ", begin);
  if (gap == std::string_view::npos) return begin;
  const std::size_t second = line.find_first_not_of(' ', gap);
  const bool is_table = second != std::string_view::npos && line.find("  ", second) != line.npos;
  return second == std::string_view::npos || is_table ? begin : second;
}

/// True for lines that must not be broken: source listings ("    21 | s.a(y, x) = ...", "  12:
/// ..."), rows of a picture (single characters) and example commands, which people copy.
bool is_kept(std::string_view line) {
  const auto begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos) return true;
  if (begin > 0 && line.substr(begin).starts_with("tessera ")) return true;
  std::size_t at = begin;
  while (at < line.size() && std::isdigit(static_cast<unsigned char>(line[at])) != 0) ++at;
  const auto next = line.find_first_not_of(' ', at);
  const bool is_listed = at > begin && next != std::string_view::npos && line[next] == '|';
  const std::string_view text = line.substr(hanging_indent_of(line));
  const auto words = std::count(text.begin(), text.end(), ' ');
  const bool is_picture = 5 * words > 2 * static_cast<std::ptrdiff_t>(shown_width(text));
  return is_listed || is_picture || line[begin] == '|';
}

std::string wrapped_line(std::string_view line, std::size_t columns) {
  constexpr std::size_t least = 16;  // least width of the text besides the indentation
  std::size_t indent = hanging_indent_of(line);
  if (indent + least > columns) indent = indent_of(line);
  if (shown_width(line) <= columns || indent + least > columns || is_kept(line))
    return std::string(line);
  std::string out(line.substr(0, indent));
  std::size_t width = indent;
  bool is_first = true;
  for (std::size_t at = indent; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = line.substr(at, end - at);
    const std::size_t wide = shown_width(word);
    if (!is_first && width + 1 + wide > columns) {
      out += '\n' + std::string(indent, ' ');
      width = indent;
      is_first = true;
    }
    if (!is_first) out += ' ', ++width;
    out += word;
    width += wide;
    is_first = false;
    at = end + 1;
  }
  return out;
}

}  // namespace

std::size_t shown_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else if ((static_cast<unsigned char>(text[i]) & 0xc0u) != 0x80u) {
      ++width;
    }
  }
  return width;
}

std::string wrapped(std::string_view text, std::size_t columns) {
  if (columns == 0) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out += wrapped_line(text.substr(0, end), columns);
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string reflowed(std::string_view page, std::size_t columns) {
  if (columns == 0) return std::string(page);
  std::string joined;
  bool is_open = false;    // may the next line be joined to this one?
  std::size_t indent = 0;  // yes, if it begins at this column
  while (!page.empty()) {
    const std::size_t end = page.find('\n');
    const std::string_view line = page.substr(0, end);
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    const bool goes_on =
        is_open && !line.empty() && blanks == indent && !line.substr(blanks).starts_with("- ");
    if (!joined.empty()) joined += goes_on ? ' ' : '\n';
    joined += line.substr(goes_on ? blanks : 0);
    if (!goes_on) {
      indent = hanging_indent_of(line);
      is_open = !line.empty() && blanks < 4 && !is_kept(line);
    }
    if (end == std::string_view::npos) break;
    page.remove_prefix(end + 1);
    if (page.empty()) joined += '\n';
  }
  return wrapped(joined, columns);
}

}  // namespace tessera::shell
