// Progress of long work on stderr: a bar with the remaining time on a terminal, a plain line every
// few seconds elsewhere, nothing with --quiet or --json, and nothing for short work.
#pragma once

#include <memory>
#include <string>

namespace tessera::shell {

struct Context;

/// Estimates the completed share and the remaining time from the times of its updates. Between two
/// updates it advances at the speed so far, but not to the end of the running step.
class Pace {
 public:
  enum class Unit {
    any,     ///< the speed is unknown before the first update
    seconds  ///< the amounts are expected times
  };
  explicit Pace(double total, Unit unit = Unit::any) : total_(total), unit_(unit) {}

  /// At the time `now`, in seconds since the start, `done` is complete and `next` is running.
  void update(double done, double next, double now);

  struct Estimate {
    double share = 0;  ///< completed share of the work, 0 to 1
    double left = -1;  ///< seconds; below 0: unknown
  };
  Estimate at(double now) const;

 private:
  double speed() const;

  double total_, done_ = 0, next_ = 0, updated_ = 0;
  Unit unit_;
};

class Progress {
 public:
  /// `label` names the work; `total` is its amount.
  Progress(const Context& context, std::string label, double total,
           Pace::Unit unit = Pace::Unit::any);
  ~Progress();  ///< clears the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The completed amount, and the part of the rest that the next update will report. Any thread
  /// may call it, at any rate.
  void update(double done, double next = 0);
  void label(std::string text);
  /// Clears the bar now, before other text is written.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;  // empty if nothing is shown
};

/// "850 ms", "12 s", "3 min 05 s", "2 h 10 min".
std::string duration_text(double seconds);

}  // namespace tessera::shell
