// Breaks lines: see wrap.hpp.
#include "wrap.hpp"

#include <algorithm>
#include <cctype>

namespace tessera::shell {

namespace {

/// "    21 | s.a(y, x) = ...", "  12:  ..." of a listing; a row of a picture: single signs.
bool is_kept(std::string_view line) {
  const auto begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos) return true;
  std::size_t at = begin;
  while (at < line.size() && std::isdigit(static_cast<unsigned char>(line[at])) != 0) ++at;
  const auto next = line.find_first_not_of(' ', at);
  const bool is_listed = at > begin && next != std::string_view::npos && line[next] == '|';
  const auto words = std::count(line.begin() + static_cast<std::ptrdiff_t>(begin), line.end(), ' ');
  const bool is_picture = 5 * words > 2 * static_cast<std::ptrdiff_t>(shown_width(line) - begin);
  return is_listed || is_picture || line[begin] == '|';
}

/// Where the text of a line begins, behind blanks and "- " or "try: ": there later lines begin.
std::size_t indent_of(std::string_view line) {
  std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  for (const std::string_view mark : {"- ", "try: ", "at "})
    if (line.substr(begin).starts_with(mark)) begin += mark.size();
  return begin;
}

std::string wrapped_line(std::string_view line, std::size_t columns) {
  const std::size_t indent = indent_of(line);
  if (shown_width(line) <= columns || indent + 16 > columns || is_kept(line))
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
  bool is_open = false;  // may the next line go on with this one?
  while (!page.empty()) {
    const std::size_t end = page.find('\n');
    const std::string_view line = page.substr(0, end);
    const bool is_indented = line.starts_with("    ");
    const bool begins = line.empty() || is_indented || line.starts_with("- ");
    if (!joined.empty()) joined += is_open && !begins ? ' ' : '\n';
    const std::size_t blanks = is_open && !begins ? line.find_first_not_of(' ') : 0;
    joined += line.substr(std::min(blanks, line.size()));
    is_open = !line.empty() && !is_indented;
    if (end == std::string_view::npos) break;
    page.remove_prefix(end + 1);
    if (page.empty()) joined += '\n';
  }
  return wrapped(joined, columns);
}

}  // namespace tessera::shell
