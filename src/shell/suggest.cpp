// Nearest names by edit distance: see suggest.hpp.
#include "suggest.hpp"

#include <algorithm>

#include "base/edit_distance.hpp"

namespace tessera::shell {

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > 64) return {};  // no name is longer; this bounds the table
  std::string best;
  int least = static_cast<int>(std::max<std::size_t>(1, word.size() / 3)) + 1;
  for (const auto& name : known) {
    const int distance = edit_distance(word, name);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  if (!best.empty() || word.size() < 3) return best;
  for (const auto& name : known) {  // "mult" for "multiply"
    if (name.starts_with(word)) return name;
  }
  return {};
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string name = nearest(word, known);
  return name.empty() ? "" : "; did you mean '" + name + "'?";
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  std::string out;
  for (const auto& word : words) {
    if (!out.empty()) out += separator;
    out += word;
  }
  return out;
}

}  // namespace tessera::shell
