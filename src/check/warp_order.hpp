// Where the lanes of a warp have parted: which go next, and where they join again. A GPU joins them
// at the first place that every way from there leads to, which its compiler knows from the graph of
// the code. Here the graph is made of what the lanes do up to the point where all of them meet: a
// place is a node, one after the other an edge. Private to src/check.
//
// Made anew for each stretch of a warp's accesses in which lanes part, in time linear in their
// number. See warp_instructions.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "event_log.hpp"

namespace tessera::check {

/// The oldest events of the lanes of a warp.
struct Heads {
  const Event* next[64];
  const Event* end[64];
  std::uint64_t left = 0;  ///< lanes that have one
};

class WarpOrder {
 public:
  /// Learns what the lanes will do. Those in `open` go on after their last event, nobody knows how;
  /// the others meet there.
  void look_ahead(const Heads& heads, std::uint64_t open);
  /// The lanes that go next, all of them from one place.
  std::uint64_t next_of(const Heads& heads) const;

 private:
  static constexpr int kEnd = 0;  ///< the node where all lanes meet
  struct Node {
    std::vector<int> before, behind;
    int events = 0;  ///< of all lanes
    int rank = -1;   ///< its place in `ranked_`; -1: no known way leads to the end
    int join = -1;   ///< rank of the first node that all ways from here lead to
  };
  /// Lanes that do the same from here on, and so go together.
  struct Party {
    std::uint64_t lanes;
    int first;  ///< the lowest of them
  };

  int node_of(AccessPoint& point);
  void add_edge(int from, int to);
  void follow(const Heads& heads, int lane);
  /// Where the known ways lead to the end.
  void close(const Heads& heads);
  void find_parties(const Heads& heads);
  void find_joins();
  /// The first node that the ways from both of these ranks lead to.
  int meeting(int a, int b) const;
  /// Does every way from `from` lead to `to`?
  bool leads_to(const AccessPoint& from, const AccessPoint& to) const;
  /// What lane `b` has left is the end of what `a` has left: then `a` comes to where `b` is.
  bool ends_like(const Heads& heads, int a, int b) const;
  bool is_before(const Heads& heads, int a, int b) const;
  std::uint64_t rest_of(int lane, std::ptrdiff_t count) const {
    return rests_[static_cast<std::size_t>(lane) * (EventLog::kRoom + 1) +
                  static_cast<std::size_t>(count)];
  }

  std::uint32_t time_ = 0;
  std::uint64_t open_ = 0;
  std::vector<Node> nodes_;  ///< those in use come first; the others keep their memory
  std::size_t used_ = 0;
  std::vector<int> ranked_;           ///< nodes from which the end can be reached, the end first
  std::vector<std::uint64_t> rests_;  ///< for each lane and n a hash of its last n events
  std::vector<Party> parties_;
};

}  // namespace tessera::check
