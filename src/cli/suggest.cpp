// Nearest names by edit distance: see suggest.hpp.
#include "suggest.hpp"

#include <algorithm>
#include <cctype>

namespace tessera::cli {

int edit_distance(std::string_view a, std::string_view b) {
  const auto low = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  const std::size_t width = b.size() + 1;
  // distance[i * width + j]: edits that turn the first i characters of a into the first j of b
  std::vector<int> distance((a.size() + 1) * width);
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      int& best = distance[i * width + j];
      if (i == 0 || j == 0) {
        best = static_cast<int>(i + j);
        continue;
      }
      const bool same = low(a[i - 1]) == low(b[j - 1]);
      best = std::min({distance[(i - 1) * width + j] + 1, distance[i * width + j - 1] + 1,
                       distance[(i - 1) * width + j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && low(a[i - 1]) == low(b[j - 2]) && low(a[i - 2]) == low(b[j - 1]))
        best = std::min(best, distance[(i - 2) * width + j - 2] + 1);
    }
  }
  return distance.back();
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > 64) return {};  // no name is that long; keeps the table small
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

}  // namespace tessera::cli
