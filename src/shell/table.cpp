// Aligned columns: see table.hpp.
#include "table.hpp"

#include <algorithm>

#include "tessera/core/text.hpp"
#include "wrap.hpp"

namespace tessera::shell {

namespace {

/// Indents all lines of the text but the first.
std::string under(const std::string& text, std::size_t indent) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += std::string(indent, ' ');
  }
  return out;
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = shown_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, shown_width(row[c]));
    out.push_back(width);
  }
  return out;
}

Table Table::without(std::size_t column) const {
  Table out = *this;
  const auto at = static_cast<std::ptrdiff_t>(column);
  out.columns_.erase(out.columns_.begin() + at);
  for (auto& row : out.rows_) row.erase(row.begin() + at);
  return out;
}

std::string Table::text(std::size_t most) const {
  constexpr std::size_t least = 16;  // minimum width of the last column
  Table shown = *this;
  std::string left_out;
  while (most > 0 && shown.width_before_last() + std::min(shown.widths().back(), least) > most) {
    const auto yields = std::max_element(
        shown.columns_.begin(), shown.columns_.end(),
        [](const Column& a, const Column& b) { return a.gives_way < b.gives_way; });
    if (yields->gives_way == 0) break;
    left_out = cat(yields->title, left_out.empty() ? "" : ", ", left_out);
    shown = shown.without(static_cast<std::size_t>(yields - shown.columns_.begin()));
  }
  const std::string note = cat("omitted to fit the width: ", left_out, "\n");
  return cat(shown.lines(most), left_out.empty() ? "" : wrapped(note, most));
}

std::size_t Table::width_before_last() const {
  const std::vector<std::size_t> widths = this->widths();
  std::size_t out = 2 * (widths.size() - 1);
  for (std::size_t c = 0; c + 1 < widths.size(); ++c) out += widths[c];
  return out;
}

std::string Table::lines(std::size_t most) const {
  std::vector<std::size_t> widths = this->widths();
  const std::size_t before = width_before_last();
  if (most > before && widths.back() > most - before)
    widths.back() = std::max<std::size_t>(most - before, 4);
  std::string out;
  const auto line = [&](auto&& cell) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      std::string content = cell(c);
      if (shown_width(content) > widths[c]) {
        if (last_ == Narrow::wrapped) content = under(wrapped(content, widths[c]), before);
        else content = content.substr(0, widths[c] - 3) + "...";
      }
      const std::string blanks(widths[c] - std::min(widths[c], shown_width(content)), ' ');
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

}  // namespace tessera::shell
