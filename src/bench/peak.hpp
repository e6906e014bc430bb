// The multiply-add peak of this machine: independent chains of the widest multiply-add of its
// cores, on as many threads as the products use. It is an upper bound for every product of that
// element type at the current clock, so it takes part in each round of a benchmark. Not a
// bandwidth: small and skinny products have a lower limit.
#pragma once

#include <memory>
#include <string>

#include "tessera/core/dtype.hpp"

namespace tessera::bench {

/// The chain for one element type on this CPU.
struct PeakChain {
  std::string instructions;  ///< "AVX-512 vfmadd231ps": the measured instruction
  int operations = 0;        ///< per round: multiplications and additions
  void (*run)(long rounds, const void* operands) = nullptr;
  /// Two vectors of ordinary numbers: zeros would draw less power and clock higher.
  const void* operands = nullptr;
};

/// The fastest chain of this CPU for products of `type`: its own multiply-add or, without one
/// (f16), that of the type it accumulates in.
PeakChain peak_chain(DType type);

/// Keeps its threads between bursts.
class PeakMeter {
 public:
  PeakMeter(const PeakChain& chain, int threads);
  ~PeakMeter();
  PeakMeter(const PeakMeter&) = delete;
  PeakMeter& operator=(const PeakMeter&) = delete;

  struct Burst {
    double operations = 0;  ///< of all threads together
    double seconds = 0;     ///< from the first start to the last end
  };
  /// All threads run their chains for about `seconds`.
  Burst burst(double seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::bench
