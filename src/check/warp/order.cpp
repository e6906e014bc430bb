// Finds where diverged lanes join: see order.hpp. The joins are immediate post-dominators,
// computed as by Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm" (2001).
#include "order.hpp"

#include <algorithm>
#include <bit>

namespace tessera::check {

namespace {

bool has(std::uint64_t lanes, int lane) { return (lanes >> lane & 1) != 0; }

template <class Body>
void for_each_lane(std::uint64_t lanes, Body&& body) {
  for (; lanes != 0; lanes &= lanes - 1) body(std::countr_zero(lanes));
}

}  // namespace

int WarpOrder::node_of(AccessPoint& point) {
  if (point.order_time == time_) return point.order_node;
  point.order_time = time_;
  point.order_node = static_cast<int>(used_);
  if (used_ == nodes_.size()) nodes_.emplace_back();
  Node& node = nodes_[used_++];
  node.before.clear(), node.after.clear();
  node.events = 0, node.rank = node.join = -1;
  return point.order_node;
}

void WarpOrder::add_edge(int from, int to) {
  auto& after = nodes_[static_cast<std::size_t>(from)].after;
  if (std::find(after.begin(), after.end(), to) != after.end()) return;
  after.push_back(to);
  nodes_[static_cast<std::size_t>(to)].before.push_back(from);
}

void WarpOrder::follow(const Heads& heads, int lane) {
  std::uint64_t* rest = &rests_[static_cast<std::size_t>(lane) * (EventLog::kRoom + 1)];
  *rest = 0;
  int after = -1;
  for (const Event* event = heads.end[lane]; event-- != heads.next[lane];) {
    const int here = node_of(*event->point);
    if (after >= 0) add_edge(here, after);
    after = here;
    ++nodes_[static_cast<std::size_t>(here)].events;
    rest[1] = rest[0] * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(here);
    ++rest;
  }
}

void WarpOrder::close(const Heads& heads) {
  for_each_lane(heads.left & ~open_,
                [&](int lane) { add_edge(node_of(*heads.end[lane][-1].point), kEnd); });
  if ((heads.left & ~open_) != 0 || used_ == 1) return;
  // All lanes are in the middle of something, most likely a loop. They leave it at a point that
  // each iteration reaches.
  const auto first = nodes_.begin() + 1;
  const auto most =
      std::max_element(first, nodes_.begin() + static_cast<std::ptrdiff_t>(used_),
                       [](const Node& x, const Node& y) { return x.events < y.events; });
  add_edge(static_cast<int>(most - nodes_.begin()), kEnd);
}

void WarpOrder::find_parties(const Heads& heads) {
  parties_.clear();
  for_each_lane(heads.left, [&](int lane) {
    const auto count = heads.end[lane] - heads.next[lane];
    for (Party& party : parties_) {
      if (heads.end[party.first] - heads.next[party.first] != count ||
          rest_of(party.first, count) != rest_of(lane, count) ||
          has(open_, party.first) != has(open_, lane))
        continue;
      party.lanes |= std::uint64_t{1} << lane;
      return;
    }
    parties_.push_back({std::uint64_t{1} << lane, lane});
  });
}

int WarpOrder::meeting(int a, int b) const {
  const auto join_of = [&](int rank) {
    return nodes_[static_cast<std::size_t>(ranked_[static_cast<std::size_t>(rank)])].join;
  };
  while (a != b) {
    if (a > b) a = join_of(a);
    else b = join_of(b);
  }
  return a;
}

void WarpOrder::find_joins() {
  ranked_.assign(1, kEnd);
  nodes_[kEnd].rank = nodes_[kEnd].join = 0;
  for (std::size_t i = 0; i < ranked_.size(); ++i) {  // breadth first: a join has a smaller rank
    for (const int from : nodes_[static_cast<std::size_t>(ranked_[i])].before) {
      Node& node = nodes_[static_cast<std::size_t>(from)];
      if (node.rank >= 0) continue;
      node.rank = static_cast<int>(ranked_.size());
      ranked_.push_back(from);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 1; i < ranked_.size(); ++i) {
      Node& node = nodes_[static_cast<std::size_t>(ranked_[i])];
      int join = -1;
      for (const int to : node.after) {
        const Node& next = nodes_[static_cast<std::size_t>(to)];
        if (next.join >= 0) join = join < 0 ? next.rank : meeting(join, next.rank);
      }
      changed = changed || join != node.join;
      node.join = join;
    }
  }
}

void WarpOrder::look_ahead(const Heads& heads, std::uint64_t open) {
  ++time_;
  open_ = open;
  if (nodes_.empty()) {
    nodes_.emplace_back();
    rests_.resize(64 * (EventLog::kRoom + 1));
  }
  nodes_[kEnd].before.clear();
  used_ = 1;
  for_each_lane(heads.left, [&](int lane) { follow(heads, lane); });
  close(heads);
  find_joins();
  find_parties(heads);
}

bool WarpOrder::leads_to(const AccessPoint& from, const AccessPoint& to) const {
  const auto rank_of = [&](const AccessPoint& point) {
    return nodes_[static_cast<std::size_t>(point.order_node)].rank;
  };
  const int goal = rank_of(to);
  int rank = rank_of(from);
  if (rank < 0) return true;  // it is inside a loop: the others wait for its end
  if (goal < 0) return false;
  while (rank > goal)
    rank = nodes_[static_cast<std::size_t>(ranked_[static_cast<std::size_t>(rank)])].join;
  return rank == goal;
}

bool WarpOrder::ends_like(const Heads& heads, int a, int b) const {
  const auto more = heads.end[a] - heads.next[a], count = heads.end[b] - heads.next[b];
  return more > count && !has(open_, a) && !has(open_, b) && rest_of(a, count) == rest_of(b, count);
}

bool WarpOrder::is_before(const Heads& heads, int a, int b) const {
  const AccessPoint &mine = *heads.next[a]->point, &theirs = *heads.next[b]->point;
  // A function that is called twice is one node with two successors: the whole rest of a lane is
  // more precise than the graph.
  bool goes = false, waits = false;
  for (const Party& party : parties_) {
    if (!has(heads.left, party.first)) continue;
    const AccessPoint* const place = heads.next[party.first]->point;
    if (place == &theirs) {
      goes = goes || ends_like(heads, a, party.first);
      waits = waits || ends_like(heads, party.first, a);
    } else if (place == &mine) {
      goes = goes || ends_like(heads, party.first, b);
      waits = waits || ends_like(heads, b, party.first);
    }
  }
  if (goes != waits) return goes;
  goes = leads_to(mine, theirs), waits = leads_to(theirs, mine);
  if (goes != waits) return goes;
  return mine.key < theirs.key || (mine.key == theirs.key && mine.file < theirs.file);
}

std::uint64_t WarpOrder::next_of(const Heads& heads) const {
  int best = -1;
  for (const Party& party : parties_) {
    const int lane = party.first;
    if (!has(heads.left, lane)) continue;
    if (best < 0 ||
        (heads.next[lane]->point != heads.next[best]->point && is_before(heads, lane, best)))
      best = lane;
  }
  const AccessPoint* const point = heads.next[best]->point;
  std::uint64_t active = 0;
  for (const Party& party : parties_)
    if (has(heads.left, party.first) && heads.next[party.first]->point == point)
      active |= party.lanes;
  return active;
}

}  // namespace tessera::check
