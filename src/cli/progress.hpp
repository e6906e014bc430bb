// Progress of long work on stderr: a bar with the remaining time on a terminal, a plain line every
// few seconds elsewhere, nothing with --quiet or --json, and nothing at all for work that is done
// at once.
#pragma once

#include <memory>
#include <string>

namespace tessera::cli {

struct Context;

class Progress {
 public:
  /// `label` says what is being done; `total` is the amount of work in any unit.
  Progress(const Context& context, std::string label, double total);
  ~Progress();  ///< clears the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// How much is done so far. Any thread may call it, as often as it likes.
  void update(double done);
  void label(std::string text);
  /// Clears the bar now, before other text is written.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;  // empty where nothing is shown
};

/// "850 ms", "12 s", "3 min 05 s", "2 h 10 min".
std::string duration_text(double seconds);

}  // namespace tessera::cli
