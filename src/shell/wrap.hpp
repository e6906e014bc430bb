// Text for people in lines that fit their terminal: broken at blanks, later lines indented as the
// first, or under its second column. Lines of source, pictures and examples of commands, which must
// stay as they are, are not broken.
#pragma once

#include <string>
#include <string_view>

namespace tessera::shell {

/// Visible characters: without colour codes and UTF-8 continuation bytes.
std::size_t shown_width(std::string_view text);

/// Each line of the text in lines of at most `columns` characters; 0: unchanged.
std::string wrapped(std::string_view text, std::size_t columns);
/// A page of Markdown or of help: lines of one paragraph, list item or entry are joined first.
/// 0: as it is.
std::string reflowed(std::string_view page, std::size_t columns);

}  // namespace tessera::shell
