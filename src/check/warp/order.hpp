// Decides which diverged lanes of a warp go next, and where they join again. A GPU joins them at
// the first point that every path leads to, which its compiler knows from the control-flow graph.
// Here the graph is built from the lanes' events up to the point where all of them meet: a source
// position is a node, a succession an edge. Private to src/check.
//
// It is rebuilt for each divergent stretch of a warp's accesses, in time linear in their number.
// See instructions.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "check/event_log.hpp"

namespace tessera::check {

/// The oldest events of the lanes of a warp.
struct Heads {
  const Event* next[64];
  const Event* end[64];
  std::uint64_t left = 0;  ///< lanes that have one
};

class WarpOrder {
 public:
  /// Records the lanes' next events. Those in `open` continue in an unknown way after their last
  /// event; the others meet there.
  void look_ahead(const Heads& heads, std::uint64_t open);
  /// The lanes that go next, all from one position.
  std::uint64_t next_of(const Heads& heads) const;

 private:
  static constexpr int kEnd = 0;  ///< the node where all lanes meet
  struct Node {
    std::vector<int> before, after;
    int events = 0;  ///< of all lanes
    int rank = -1;   ///< its index in `ranked_`; -1: no known path leads to the end
    int join = -1;   ///< rank of the first node that all paths from here lead to
  };
  /// Lanes with the same remaining events, which go together.
  struct Party {
    std::uint64_t lanes;
    int first;  ///< the lowest of them
  };

  int node_of(AccessPoint& point);
  void add_edge(int from, int to);
  void follow(const Heads& heads, int lane);
  /// Where the known paths lead to the end.
  void close(const Heads& heads);
  void find_parties(const Heads& heads);
  void find_joins();
  /// The first node that the paths from both of these ranks lead to.
  int meeting(int a, int b) const;
  /// Does every path from `from` lead to `to`?
  bool leads_to(const AccessPoint& from, const AccessPoint& to) const;
  /// Lane `b`'s remaining events are the tail of `a`'s: then `a` will reach the position of `b`.
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
