// What a learner's text says at a line, as far as an explanation needs it. No parser: texts that
// are written in an unusual way get the more general explanation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::cli {

/// Without its comment; "" where there is no such line.
std::string line_of(const std::string& source, int line);
/// The first line from `first` to `last` that holds `text`; 0: none does.
int line_with(const std::string& source, std::string_view text, int first, int last);
/// First and last line of the innermost loop around a line; zeros where there is none.
struct Loop {
  int first = 0, last = 0;
};
Loop loop_around(const std::string& source, int line);
/// The first barrier of the block behind line `first` and before `last` (both not counted); 0:
/// none.
int barrier_between(const std::string& source, int first, int last);
/// "row", "k + x" of "A(row, k + x)"; empty where the line has no such access, or another one too.
std::vector<std::string> indices_of(const std::string& line, const std::string& tensor);

}  // namespace tessera::cli
