// Lanes to sectors and lanes to banks: the cells of layout/cells.hpp, one for each 4-byte word.
#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "base/markup.hpp"
#include "layout/cells.hpp"
#include "pictures.hpp"
#include "tessera/check/memory_rules.hpp"
#include "tessera/check/warp_pattern.hpp"
#include "tessera/core/text.hpp"

namespace tessera::check {

namespace {

constexpr int kLineBytes = 128, kCellWidth = 31, kMargin = 4;

/// "3", "0-31", "0,2,9", "12x", shortened to the width of a cell.
std::string lanes_text(const std::vector<int>& lanes) {
  if (lanes.size() == 1) return cat(lanes[0]);
  if (lanes.back() - lanes.front() + 1 == static_cast<int>(lanes.size()))
    return cat(lanes.front(), "-", lanes.back());
  if (lanes.size() == 2) return cat(lanes[0], ",", lanes[1]);
  return cat(lanes.size(), "x");
}

std::string lanes_tip(const std::vector<int>& lanes) {
  std::string out = lanes.size() == 1 ? "lane " : "lanes ";
  for (std::size_t i = 0; i < lanes.size(); ++i) out += cat(i == 0 ? "" : ",", lanes[i]);
  return out;
}

/// Darker for later lanes: a warp in order is a gradient.
std::string lane_colour(const std::vector<int>& lanes) {
  return picture::shade(lanes.front(), kWarpLanes);
}

/// What both kinds of picture show.
struct Cells {
  std::vector<std::string> row_names, column_names;
  std::function<picture::Cell(index_t row, index_t column)> at;
};

constexpr std::string_view kWasted = "var(--wasted)";  // loaded and not used

std::string framed(const picture::Panel& panel, const std::string& label, const std::string& body) {
  const auto w = panel.width() + 2 * kMargin, h = panel.height() + 2 * kMargin;
  return cat("<svg class=\"cells\" width=\"", w, "\" height=\"", h, "\" viewBox=\"0 0 ", w, " ", h,
             "\" role=\"img\" aria-label=\"", escaped(label), "\">\n", body, "</svg>\n");
}

picture::Panel panel_of(std::vector<std::string> row_names, std::vector<std::string> column_names) {
  const auto rows = static_cast<index_t>(row_names.size());
  return {.rows = rows,
          .columns = 32,
          .cell_width = kCellWidth,
          .cell_height = rows > 12 ? 17 : 22,
          .row_names = std::move(row_names),
          .column_names = std::move(column_names)};
}

using LanesOfWord = std::map<std::int64_t, std::vector<int>>;

Cells sectors_of(const AccessSample& s) {
  LanesOfWord touched;
  for (int lane = 0; lane < static_cast<int>(s.lanes.size()); ++lane) {
    if (s.lanes[lane] < 0) continue;
    const std::int64_t first = s.base + s.lanes[lane];
    for (std::int64_t word = first / 4; word <= (first + s.bytes - 1) / 4; ++word)
      touched[word].push_back(lane);
  }
  std::vector<std::int64_t> lines;
  for (const auto& [word, lanes] : touched)
    if (lines.empty() || lines.back() != word / 32) lines.push_back(word / 32);
  std::vector<std::string> rows, columns(32);
  for (const std::int64_t line : lines) {
    const std::int64_t offset = line * kLineBytes - s.base;
    rows.push_back(cat(offset < 0 ? "" : "+", offset));
  }
  for (std::size_t word = 0; word < 32; word += 8) columns[word] = cat(4 * word);
  return {std::move(rows), std::move(columns),
          [s, touched, lines](index_t row, index_t column) -> picture::Cell {
            const std::int64_t word = lines[row] * 32 + column, offset = 4 * word - s.base;
            if (const auto found = touched.find(word); found != touched.end())
              return {lanes_text(found->second), "", lane_colour(found->second), false,
                      cat(lanes_tip(found->second), ", byte ", offset)};
            const auto first = touched.lower_bound(word / 8 * 8);
            if (first != touched.end() && first->first < word / 8 * 8 + 8)
              return {"", "", std::string(kWasted), false, cat("byte ", offset, ": not used")};
            return {"", "", "var(--idle)"};
          }};
}

std::string sectors_picture(const AccessSample& s) {
  Cells cells = sectors_of(s);
  const picture::Panel panel = panel_of(cells.row_names, cells.column_names);
  std::string body;
  panel.draw(body, kMargin, kMargin, cells.at);
  for (int sector = 0; sector <= 4; ++sector) {
    const int x = kMargin + panel.left() + sector * 8 * kCellWidth;
    body += cat("<path class=\"sector\" d=\"M", x, " ", kMargin + panel.top(), "V",
                kMargin + panel.height(), "\"/>\n");
  }
  return framed(panel, cat("lanes of a warp to ", s.transfers, " sectors"), body);
}

/// The lanes of one bank, one entry for each wavefront.
struct Phase {
  std::vector<LanesOfWord> banks = std::vector<LanesOfWord>(kBanks);
  std::size_t passes = 0;
};

/// Served by the rule of check/memory_rules.hpp.
std::vector<Phase> phases_of(const AccessSample& s) {
  const int count = std::min<int>(kWarpLanes, static_cast<int>(s.lanes.size()));
  const int lanes = (s.bytes <= 4 ? 32 : s.bytes == 8 ? 16 : 8) * (is_merged(s) ? 2 : 1);
  std::vector<Phase> out(static_cast<std::size_t>(kWarpLanes / lanes));
  for (int lane = 0; lane < count; ++lane) {
    if (s.lanes[lane] < 0) continue;
    Phase& phase = out[static_cast<std::size_t>(lane / lanes)];
    for (std::int64_t word = s.lanes[lane] / 4; word <= (s.lanes[lane] + s.bytes - 1) / 4; ++word)
      phase.banks[static_cast<std::size_t>(word % kBanks)][word].push_back(lane);
  }
  for (Phase& phase : out)
    for (const LanesOfWord& bank : phase.banks) phase.passes = std::max(phase.passes, bank.size());
  return out;
}

Cells banks_of(const AccessSample& s) {
  struct Row {
    std::size_t phase, pass;
  };
  const std::vector<Phase> phases = phases_of(s);
  std::vector<Row> rows;
  std::vector<std::string> names, columns(32);
  for (std::size_t phase = 0; phase < phases.size(); ++phase)
    for (std::size_t pass = 0; pass < phases[phase].passes; ++pass) {
      rows.push_back({phase, pass});
      names.push_back(cat("pass ", rows.size()));
    }
  for (std::size_t bank = 0; bank < 32; bank += bank == 28 ? 3 : 4) columns[bank] = cat(bank);
  return {std::move(names), std::move(columns),
          [phases, rows](index_t row, index_t column) -> picture::Cell {
            const auto [phase, pass] = rows[row];
            const LanesOfWord& words = phases[phase].banks[column];
            if (pass >= words.size()) return {"", "", "var(--idle)"};
            const auto& [word, lanes] =
                *std::next(words.begin(), static_cast<std::ptrdiff_t>(pass));
            return {lanes_text(lanes), "", pass == 0 ? lane_colour(lanes) : "var(--conflict)",
                    false, cat(lanes_tip(lanes), ", bank ", column, ", byte ", 4 * word)};
          }};
}

std::string banks_picture(const AccessSample& s) {
  const Cells cells = banks_of(s);
  const picture::Panel panel = panel_of(cells.row_names, cells.column_names);
  std::string body;
  panel.draw(body, kMargin, kMargin, cells.at);
  const std::size_t rows = cells.row_names.size();
  return framed(panel, cat("lanes of a warp to banks in ", rows, " wavefronts"), body);
}

/// One line of a table of text: a name and the cells from `first` on.
std::string text_line(const std::string& name, std::size_t name_width, std::size_t cell_width,
                      index_t first, index_t count,
                      const std::function<std::string(index_t column)>& text) {
  std::string out = name + std::string(name_width - name.size(), ' ');
  for (index_t column = first; column < first + count; ++column) {
    const std::string cell = text(column);
    out += std::string(cell_width - cell.size(), ' ') + cell;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

bool touches_memory(const AccessSample& sample) {
  return std::any_of(sample.lanes.begin(), sample.lanes.end(), [](auto at) { return at >= 0; });
}

}  // namespace

bool is_merged(const AccessSample& s) {
  if (s.memory != Memory::shared || s.is_store || s.is_atomic || s.is_async) return false;
  std::uint64_t address[kWarpLanes] = {};
  std::uint32_t active = 0;
  for (std::size_t lane = 0; lane < std::min<std::size_t>(kWarpLanes, s.lanes.size()); ++lane) {
    if (s.lanes[lane] < 0) continue;
    address[lane] = static_cast<std::uint64_t>(s.lanes[lane]);
    active |= 1u << lane;
  }
  return shared_load({address, s.bytes, active}).basis == Basis::merging;
}

std::string access_picture(const AccessSample& sample) {
  if (!touches_memory(sample)) return {};
  return sample.memory == Memory::shared ? banks_picture(sample) : sectors_picture(sample);
}

std::string access_text(const AccessSample& sample, std::size_t columns) {
  if (!touches_memory(sample)) return {};
  const bool is_shared = sample.memory == Memory::shared;
  const Cells cells = is_shared ? banks_of(sample) : sectors_of(sample);
  const auto rows = static_cast<index_t>(cells.row_names.size());
  const auto text = [&](index_t row, index_t column) {
    const picture::Cell cell = cells.at(row, column);
    return cell.text.empty() && cell.fill == kWasted ? std::string(".") : cell.text;
  };
  const std::string corner = is_shared ? "bank" : "byte";
  std::size_t name_width = corner.size(), cell_width = 3;
  for (index_t row = 0; row < rows; ++row) {
    name_width = std::max(name_width, cells.row_names[row].size());
    for (index_t column = 0; column < 32; ++column)
      cell_width = std::max(cell_width, text(row, column).size() + 1);
  }
  index_t count = 32;  // cells of a line
  while (count > 8 && columns > 0 && name_width + count * cell_width > columns) count /= 2;
  std::string out;
  for (index_t first = 0; first < 32; first += count) {
    out += text_line(corner, name_width, cell_width, first, count, [&](index_t column) {
      return is_shared ? cat(column) : column % 8 == 0 ? cat(4 * column) : std::string();
    });
    for (index_t row = 0; row < rows; ++row)
      out += text_line(cells.row_names[row], name_width, cell_width, first, count,
                       [&](index_t column) { return text(row, column); });
  }
  return out;
}

}  // namespace tessera::check
