// What a learner has done, kept in one file below XDG_STATE_HOME (~/.local/state): where each
// puzzle's file is, what is solved, how many hints were shown.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "shell/context.hpp"

namespace tessera::course {

struct PuzzleState {
  std::string file;              ///< absolute; empty: not started
  std::set<std::string> solved;  ///< variants, or "" where the puzzle has none
  int hints = 0, runs = 0;
};

class LearnerProgress {
 public:
  /// Reads it; empty if there is no file. Throws Error(file) if it is damaged.
  LearnerProgress();
  PuzzleState& operator[](const std::string& id) { return states_[id]; }
  const std::map<std::string, PuzzleState>& states() const { return states_; }
  void forget(const std::string& id) { states_.erase(id); }
  /// Reads it, calls `change`, writes it completely or not at all; a lock excludes other commands.
  /// If it cannot be written there is only a warning: the answer matters more.
  static void update(const shell::Context& context,
                     const std::function<void(LearnerProgress&)>& change);

 private:
  void save() const;
  std::filesystem::path file_;
  std::map<std::string, PuzzleState> states_;
};

}  // namespace tessera::course
