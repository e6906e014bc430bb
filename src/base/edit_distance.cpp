// The table of partial distances between two short words; no word is long enough to need less.
#include "edit_distance.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace tessera {

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

}  // namespace tessera
