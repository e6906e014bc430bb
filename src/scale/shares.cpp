// Cells of elements with the same users, and their division: see shares.hpp.
#include "shares.hpp"

#include <map>

namespace tessera::scale {

namespace {

std::vector<index_t> sorted_unique(std::vector<index_t> places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

std::size_t index_of(const std::vector<index_t>& places, index_t place) {
  return static_cast<std::size_t>(std::lower_bound(places.begin(), places.end(), place) -
                                  places.begin());
}

/// A rectangle whose elements are in the same distinct parts.
struct Cell {
  Part part;
  std::vector<int> parts;
};

/// The grid of all borders, with neighbours of the same users joined: first along rows, then
/// downwards.
std::vector<Cell> cells_of(const std::vector<Part>& distinct) {
  std::vector<index_t> rows, cols;
  for (const Part& part : distinct) {
    rows.insert(rows.end(), {part.i0, part.i1});
    cols.insert(cols.end(), {part.j0, part.j1});
  }
  rows = sorted_unique(std::move(rows)), cols = sorted_unique(std::move(cols));
  if (distinct.empty()) return {};
  const std::size_t across = cols.size() - 1;
  std::vector<std::vector<int>> in((rows.size() - 1) * across);
  for (std::size_t n = 0; n < distinct.size(); ++n) {
    const Part& part = distinct[n];
    for (std::size_t i = index_of(rows, part.i0); rows[i] < part.i1; ++i)
      for (std::size_t j = index_of(cols, part.j0); cols[j] < part.j1; ++j)
        in[i * across + j].push_back(static_cast<int>(n));
  }
  std::vector<Cell> out;
  std::map<index_t, std::size_t> above;  // by its first column, the cell that ends at this row
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    std::map<index_t, std::size_t> now;
    for (std::size_t j = 0, end = 0; j < across; j = end) {
      std::vector<int>& parts = in[i * across + j];
      for (end = j + 1; end < across && in[i * across + end] == parts;) ++end;
      if (parts.empty()) continue;
      const auto at = above.find(cols[j]);
      const bool joined = at != above.end() && out[at->second].part.j1 == cols[end] &&
                          out[at->second].parts == parts;
      if (joined) out[at->second].part.i1 = rows[i + 1];
      now[cols[j]] = joined ? at->second : out.size();
      if (!joined) out.push_back({{rows[i], rows[i + 1], cols[j], cols[end]}, std::move(parts)});
    }
    above = std::move(now);
  }
  return out;
}

void divide(const Cell& cell, const std::vector<int>& users, Divided divided, Shares& out) {
  const auto count = static_cast<index_t>(users.size());
  const Part& p = cell.part;
  const index_t wanted = divided == Divided::by_rows ? p.rows() : p.cols();
  const index_t other = divided == Divided::by_rows ? p.cols() : p.rows();
  const bool by_rows = (divided == Divided::by_rows) == (wanted >= count || wanted >= other);
  const index_t extent = by_rows ? p.rows() : p.cols();
  for (index_t n = 0; n < count; ++n) {
    const index_t from = extent * n / count, to = extent * (n + 1) / count;
    if (from == to) continue;
    Share share{p, users[static_cast<std::size_t>(n)], static_cast<index_t>(out.users.size())};
    if (by_rows) share.part.i0 = p.i0 + from, share.part.i1 = p.i0 + to;
    else share.part.j0 = p.j0 + from, share.part.j1 = p.j0 + to;
    out.all.push_back(share);
  }
  out.users.push_back(users);
}

}  // namespace

Shares equal_shares(const std::vector<Part>& parts, Divided divided) {
  std::map<Part, std::vector<int>> ranks_of;  // many ranks may use the same part
  for (std::size_t rank = 0; rank < parts.size(); ++rank)
    if (!parts[rank].is_empty()) ranks_of[parts[rank]].push_back(static_cast<int>(rank));
  std::vector<Part> distinct;
  std::vector<const std::vector<int>*> ranks;
  for (const auto& [part, users] : ranks_of) distinct.push_back(part), ranks.push_back(&users);
  Shares out;
  for (const Cell& cell : cells_of(distinct)) {
    std::vector<int> users;
    for (const int n : cell.parts) {
      const auto& more = *ranks[static_cast<std::size_t>(n)];
      users.insert(users.end(), more.begin(), more.end());
    }
    std::sort(users.begin(), users.end());
    divide(cell, users, divided, out);
  }
  return out;
}

}  // namespace tessera::scale
