// Which of many generated cases a test runs: all of them, or a part of them where the environment
// has TESSERA_THINNED (add_thinned_test() in tests/CMakeLists.txt). The part is the same in each
// run: each step-th case, and the first case of each kind.
#pragma once

#include <cstdlib>
#include <set>
#include <utility>

namespace tessera::testing {

inline bool thinned() { return std::getenv("TESSERA_THINNED") != nullptr; }

class Thinned {
 public:
  /// `step` has no common divisor with the lengths of the inner loops, so that their values occur
  /// in each combination.
  explicit Thinned(int step) : step_(thinned() ? step : 1) {}

  /// Is the next case run? `kinds`: its number in each dimension of which no value may be left out.
  template <class... Kinds>
  bool takes(const Kinds&... kinds) {
    bool is_new = false;
    int dimension = 0;
    (..., (is_new |= seen_.emplace(dimension++, static_cast<long>(kinds)).second));
    return count_++ % step_ == 0 || is_new;
  }

 private:
  int step_, count_ = 0;
  std::set<std::pair<int, long>> seen_;
};

}  // namespace tessera::testing
