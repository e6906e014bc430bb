// "Did you mean ...?" for misspelt commands, options, algorithms, types and topics.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::shell {

/// The known name nearest to `word`, or "" if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// "; did you mean 'x'?" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

/// "a, b, c"
std::string join(const std::vector<std::string>& words, std::string_view separator = ", ");

}  // namespace tessera::shell
