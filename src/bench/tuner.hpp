// Finds the fastest kernel and tile of one product on a device: verifies every candidate's result,
// then measures the right ones in rounds with its peers and drops slow ones.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device.hpp"
#include "judge.hpp"
#include "matmul/tuning.hpp"

namespace tessera::bench {

struct TunedCase {
  TunedProduct product;  ///< the fastest
  int candidates = 0;
  std::vector<std::string> refused;  ///< "NAME TILE: why", of those that failed or are wrong
  std::optional<Candidate> hanging;  ///< did not end; the device does not answer any more
};

class Tuner {
 public:
  /// `seconds_left` is called before each step that takes time.
  Tuner(BenchDevice& device, std::vector<std::string> peers, std::uint64_t seed,
        std::function<double()> seconds_left)
      : device_(device),
        peers_(std::move(peers)),
        seed_(seed),
        seconds_left_(std::move(seconds_left)) {}

  /// Nothing if time ran out before each candidate was measured at least once. Throws Error, also
  /// if no candidate is right, and Interrupted. A kernel that does not end is `hanging`, and all
  /// else is without meaning.
  std::optional<TunedCase> tune(const BenchCase& now, const std::vector<Candidate>& candidates);

 private:
  struct Runner {
    Candidate who;
    Arithmetic arithmetic = Arithmetic::chain;
    BenchDevice::Call call = {};
    double call_seconds = 0;
    /// its seconds / those of the fastest peer in the same round, or its seconds
    std::vector<double> scores = {};
    std::vector<double> seconds = {};
    DeviceState state = {};  ///< of the device during its latest sample

    double score() const;
  };

  void check_time() const;
  void verify(const BenchCase& now, const std::vector<Candidate>& candidates, TunedCase& out);
  bool is_right(const Judge& judge, Runner& runner, const std::function<BenchDevice::Call()>& make,
                TunedCase& out);
  void sample(Runner& runner);
  void round();

  BenchDevice& device_;
  std::vector<std::string> peers_;
  std::uint64_t seed_;
  std::function<double()> seconds_left_;
  SharedOperands shared_;
  std::vector<Runner> runners_, rivals_;  ///< candidates, peers
  int rounds_ = 0;
};

}  // namespace tessera::bench
