// One party of a benchmark: an algorithm, a peer library or the chain of multiply-adds that gives
// the peak. In each round every contestant gives one sample. Nothing is verified here. On the CPU
// each runs in its own process, on its own copy of the operands, and is stopped while others
// are measured; those of a GPU are in device.hpp.
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

/// The state of a device while it multiplied; 0 if it does not report it.
struct DeviceState {
  double clock_hz = 0, watts = 0;      ///< means
  std::uint64_t throttle_reasons = 0;  ///< all that limited the clock: nvmlClocksEventReasons
  bool operator==(const DeviceState&) const = default;
};

struct Sample {
  int round = 0;
  index_t iterations = 0;
  double seconds = 0, cpu_seconds = 0;  ///< for each call; CPU time of all threads together
  DeviceState device = {};
};

/// The conditions of a contestant's products, independent of the shape.
struct Conditions {
  int threads = 1;
  Readiness readiness = {};
  std::string device = {};  ///< "cuda:0"; empty: this machine's CPU
};

class Contestant {
 public:
  enum class Kind { algorithm, peer, peak };

  /// An algorithm of the ladder, or kPlanOnce: a cpu::GemmPlan, made once for each case.
  static std::unique_ptr<Contestant> algorithm(const std::string& name, const Conditions& on,
                                               SharedOperands& shared);
  /// A library through its own interface: a peer, or this project's BLAS as an algorithm.
  static std::unique_ptr<Contestant> library(Kind kind, const Peer& peer, const Conditions& on,
                                             SharedOperands& shared);
  static std::unique_ptr<Contestant> peak(int threads);

  virtual ~Contestant() = default;
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  const std::string& name() const { return name_; }
  Kind kind() const { return kind_; }
  /// Which of a device's units it uses, and so which peak bounds it; empty if there is one peak.
  const std::string& units() const { return units_; }

  /// Prepares the case and computes every product once into the shared results. Returns the seconds
  /// of one call. Throws Error, also for a case that this contestant does not offer.
  virtual double prepare(const BenchCase& now) = 0;
  /// One sample: calls for at least `seconds`, after one untimed call if that is cheap; or one call
  /// after idleness; or the first call of a new process.
  virtual Sample sample(double seconds) = 0;
  /// Frees the operands.
  virtual void release() = 0;

 protected:
  Contestant(std::string name, Kind kind, std::string units = {})
      : name_(std::move(name)), kind_(kind), units_(std::move(units)) {}

 private:
  std::string name_;
  Kind kind_;
  std::string units_;
};

/// Finds by trial how many calls fill `seconds`: timed(n) makes n calls and returns the time of
/// each. Only the last trial counts.
template <class Timed>
Sample sample_of(Timed&& timed, double call_seconds, double seconds) {
  index_t iterations = 1;
  for (;;) {
    const double guess = std::ceil(seconds / std::max(call_seconds, 1e-9));
    iterations = std::max(iterations, static_cast<index_t>(std::clamp(guess, 1.0, 1e9)));
    const Sample sample = timed(iterations);
    if (sample.seconds * static_cast<double>(iterations) >= 0.9 * seconds) return sample;
    call_seconds = sample.seconds;
    iterations += 1 + iterations / 2;  // grows even if the clock does not advance
  }
}

}  // namespace tessera::bench
