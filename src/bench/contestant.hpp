// One party of a benchmark: an algorithm, a peer library or the chain of multiply-adds that gives
// the peak. Contestants take turns; a turn gives one sample. Nothing is judged here. Those of this
// machine's processor run in a process of their own each, on their own copy of the operands, and
// are stopped while others are measured; those of a GPU are in device.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "case.hpp"
#include "operands.hpp"
#include "peers.hpp"

namespace tessera::bench {

inline constexpr const char* kPlanOnce = "plan";

/// What a device did while it multiplied; 0 where it does not tell.
struct DeviceState {
  double clock_hz = 0, watts = 0;      ///< means
  std::uint64_t throttle_reasons = 0;  ///< all that held the clock back: nvmlClocksEventReasons
  bool operator==(const DeviceState&) const = default;
};

struct Sample {
  int turn = 0;
  index_t iterations = 0;
  double seconds = 0, cpu_seconds = 0;  ///< for each call; CPU time of all threads together
  DeviceState device = {};
};

/// Under what conditions a contestant multiplies, whatever the product.
struct Conditions {
  int threads = 1;
  Readiness readiness = {};
  std::string device = {};  ///< "cuda:0"; empty: this machine's processor
};

class Contestant {
 public:
  enum class Kind { algorithm, peer, peak };

  /// One of the ladder, or kPlanOnce: a cpu::GemmPlan, made once for each case.
  static std::unique_ptr<Contestant> algorithm(const std::string& name, const Conditions& on,
                                               SharedOperands& shared);
  /// A library through its own calls: a peer, or this project's BLAS as one of its algorithms.
  static std::unique_ptr<Contestant> library(Kind kind, const Peer& peer, const Conditions& on,
                                             SharedOperands& shared);
  static std::unique_ptr<Contestant> peak(int threads);

  virtual ~Contestant() = default;
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  const std::string& name() const { return name_; }
  Kind kind() const { return kind_; }
  /// Which of a device's units it multiplies with, that is to say, whose peak bounds it; empty
  /// where there is one peak.
  const std::string& units() const { return units_; }

  /// Makes ready for the case and computes every product once into the shared results. Gives the
  /// seconds that one call takes now. Throws Error, also for a case that this contestant does not
  /// offer.
  virtual double prepare(const BenchCase& now) = 0;
  /// One sample: call after call for at least `seconds`, first once untimed where that is cheap; or
  /// one call after idleness; or the first call of a new process.
  virtual Sample turn(double seconds) = 0;
  /// Gives the operands' memory back.
  virtual void release() = 0;

 protected:
  Contestant(std::string name, Kind kind, std::string units = {})
      : name_(std::move(name)), kind_(kind), units_(std::move(units)) {}

 private:
  std::string name_;
  Kind kind_;
  std::string units_;
};

/// As many calls as fill `seconds`, found by trying: timed(n) makes n calls and says what each
/// took. Only the last try counts.
template <class Timed>
Sample turn_of(Timed&& timed, double call_seconds, double seconds) {
  index_t iterations = 1;
  for (;;) {
    const double guess = std::ceil(seconds / std::max(call_seconds, 1e-9));
    iterations = std::max(iterations, static_cast<index_t>(std::clamp(guess, 1.0, 1e9)));
    const Sample sample = timed(iterations);
    if (sample.seconds * static_cast<double>(iterations) >= 0.9 * seconds) return sample;
    call_seconds = sample.seconds;
    iterations += 1 + iterations / 2;  // grows even where the clock does not advance
  }
}

}  // namespace tessera::bench
