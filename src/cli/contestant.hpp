// One party of a benchmark: an algorithm, a peer library or the chain of multiply-adds that gives
// the peak. Each runs in a process of its own on its own copy of the operands, and is stopped while
// others are measured. Contestants take turns; a turn gives one sample. Nothing is judged here.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench_case.hpp"
#include "bench_operands.hpp"
#include "child.hpp"
#include "peers.hpp"

namespace tessera::cli {

struct Sample {
  int turn = 0;
  index_t iterations = 0;
  double seconds = 0, cpu_seconds = 0;  ///< for each call; CPU time of all threads together
};

/// Under what conditions a contestant multiplies, whatever the product.
struct Conditions {
  int threads = 1;
  Readiness readiness = {};
};

class Contestant {
 public:
  enum class Kind { algorithm, peer, peak };

  static std::unique_ptr<Contestant> algorithm(const std::string& name, const Conditions& on,
                                               SharedOperands& shared);
  /// A library through its own calls: a peer, or this project's BLAS as one of its algorithms.
  static std::unique_ptr<Contestant> library(Kind kind, const Peer& peer, const Conditions& on,
                                             SharedOperands& shared);
  static std::unique_ptr<Contestant> peak(int threads);

  const std::string& name() const { return name_; }
  Kind kind() const { return kind_; }
  const Conditions& on() const { return on_; }

  /// Makes ready for the case and computes every product once into the shared results. Gives the
  /// seconds that one call takes now. Throws Error, also for a case that this contestant does not
  /// offer.
  double prepare(const BenchCase& now);
  /// One sample: call after call for at least `seconds`, first once untimed where that is cheap; or
  /// one call after idleness; or the first call of a new process.
  Sample turn(double seconds);
  /// Gives the operands' memory back.
  void release();

 private:
  static std::unique_ptr<Contestant> make(const std::string& name, Kind kind, const Conditions& on,
                                          std::function<Child::Answer()> start);
  Contestant(std::string name, Kind kind, const Conditions& on,
             std::function<Child::Answer()> start)
      : name_(std::move(name)),
        kind_(kind),
        on_(on),
        // Foreign libraries chatter; what this project's own code says in trouble is wanted.
        child_(std::move(start),
               kind == Kind::peer ? Child::Talk::silent : Child::Talk::to_stderr) {}

  std::string name_;
  Kind kind_;
  Conditions on_;
  Child child_;
};

}  // namespace tessera::cli
