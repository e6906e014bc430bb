// Finds the fastest kernel and tile of one product on a device: verifies every candidate's result,
// then measures the right ones in turns with a peer and drops slow ones.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device.hpp"
#include "judge.hpp"
#include "tessera/matmul/tuning.hpp"

namespace tessera::bench {

struct TunedCase {
  TunedProduct product;  ///< the fastest
  int candidates = 0;
  std::vector<std::string> refused;  ///< "NAME TILE: why", of those that failed or are wrong
};

class Tuner {
 public:
  /// `seconds_left` is called before each step that takes time.
  Tuner(BenchDevice& device, std::string peer, std::uint64_t seed,
        std::function<double()> seconds_left)
      : device_(device),
        peer_(std::move(peer)),
        seed_(seed),
        seconds_left_(std::move(seconds_left)) {}

  /// Nothing if time ran out before each candidate was measured at least once. Throws Error, also
  /// if no candidate is right, and Interrupted.
  std::optional<TunedCase> tune(const BenchCase& now, const std::vector<Candidate>& candidates);

 private:
  struct Runner {
    Candidate who;
    BenchDevice::Call call;
    double call_seconds = 0;
    /// its seconds / the peer's seconds in the same round, or its seconds
    std::vector<double> scores;
    std::vector<double> seconds;

    double score() const;
  };

  void check_time() const;
  void verify(const BenchCase& now, const std::vector<Candidate>& candidates, TunedCase& out);
  void open_peer();
  double sample(Runner& runner);
  void round();

  BenchDevice& device_;
  std::string peer_;
  std::uint64_t seed_;
  std::function<double()> seconds_left_;
  SharedOperands shared_;
  std::vector<Runner> runners_;
  std::optional<Runner> rival_;  ///< the peer
};

}  // namespace tessera::bench
