// Queries about a line of a learner's text, as far as an explanation needs them. Not a parser:
// texts of unusual form get a more general explanation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::course {

/// Cut if it is longer than any real line, since expressions are searched in it.
std::string without_comment(const std::string& line);
/// Without its comment; "" if there is no such line.
std::string line_of(const std::string& source, int line);
/// The first line from `first` to `last` that contains `text`; 0: none does.
int line_with(const std::string& source, std::string_view text, int first, int last);
/// First and last line of a statement with its body; zeros: there is none.
struct Loop {
  int first = 0, last = 0;
};
/// The innermost loop around a line, or around all lines from `first` to `last`.
Loop loop_around(const std::string& source, int first, int last);
inline Loop loop_around(const std::string& source, int line) {
  return loop_around(source, line, line);
}
std::vector<Loop> loops_in(const std::string& source);
/// All of them around a line, the outermost first.
std::vector<Loop> loops_around(const std::string& source, int line);
/// "k" of "for (int k = 0; ..."; "" if the line begins no such loop.
std::string loop_variable(const std::string& line);
/// The innermost loop around a line that has this variable.
Loop loop_over(const std::string& source, int line, const std::string& variable);
/// The kernel of that name, from the line with the name to its last one; the whole text if the name
/// is not in it.
Loop kernel_named(const std::string& source, const std::string& name);
/// The outermost `if` that begins after line `first` and before `last`, and contains `last`.
Loop guard_between(const std::string& source, int first, int last);
/// The first barrier of the block after line `first` and before `last`; 0: none.
int barrier_between(const std::string& source, int first, int last);
/// Does the text hold `part`, or a name whose declaration does, or one of whose names ...?
bool comes_from(const std::string& source, const std::string& text, std::string_view part);
/// Is all of `text` in the source already, comments, blanks and `x = x +` for `x +=` aside?
bool stands_in(const std::string& source, const std::string& text);
/// Is `word` one of the words of the text?
bool has_word(std::string_view text, std::string_view word);
/// "row", "k + x" of "A(row, k + x)"; empty if the line has no such access, or several.
std::vector<std::string> indices_of(const std::string& line, const std::string& tensor);

/// The name by which lines of `source` use a tensor: "part" for "s.parts[0]" after
/// "auto part = s.parts[stage]..."; else its own.
std::string called(const std::string& source, const std::string& tensor);

}  // namespace tessera::course
