// Aligned columns: see table.hpp.
#include "table.hpp"

#include <algorithm>

namespace tessera::cli {

namespace {

/// Characters that show: without colour codes, UTF-8 continuation bytes not counted.
std::size_t shown_width(const std::string& text) {
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

}  // namespace

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::size_t most) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = shown_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, shown_width(row[c]));
    widths.push_back(width);
  }
  // The last column gives way, down to a few characters, where the line is too narrow.
  std::size_t before = 2 * (widths.size() - 1);
  for (std::size_t c = 0; c + 1 < widths.size(); ++c) before += widths[c];
  if (most > before + 8 && widths.back() > most - before) widths.back() = most - before;
  std::string out;
  const auto line = [&](auto&& cell) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      std::string content = cell(c);
      if (shown_width(content) > widths[c]) content = content.substr(0, widths[c] - 3) + "...";
      const std::string blanks(widths[c] - shown_width(content), ' ');
      text += c == 0 ? "" : "  ";
      text += columns_[c].align == Align::right ? blanks + content : content + blanks;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  };
  line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  std::vector<std::string> rules;
  for (auto width : widths) rules.emplace_back(width, '-');
  line([&](std::size_t c) -> const std::string& { return rules[c]; });
  for (const auto& row : rows_) line([&](std::size_t c) -> const std::string& { return row[c]; });
  return out;
}

}  // namespace tessera::cli
