// Wraps text to the width of a terminal: it breaks lines at blanks and indents continuation lines
// as the first line, or below its second column. Source lines, pictures and example commands are
// never broken.
#pragma once

#include <string>
#include <string_view>

namespace tessera::shell {

/// Visible characters: without colour codes and UTF-8 continuation bytes.
std::size_t shown_width(std::string_view text);

/// Wraps each line of the text to at most `columns` characters; 0: unchanged.
std::string wrapped(std::string_view text, std::size_t columns);
/// Wraps a page of Markdown or of help: joins the lines of one paragraph, list item or entry first.
/// 0: unchanged.
std::string reflowed(std::string_view page, std::size_t columns);

}  // namespace tessera::shell
