// Measuring: every contestant on every size. A result is verified before it is timed, then all take
// turns, so that what disturbs the machine disturbs all alike; a failure costs its own row, no
// other. A signal ends it between two samples, with the rows found until then.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench_report.hpp"
#include "bench_sizes.hpp"
#include "context.hpp"
#include "peers.hpp"
#include "progress.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::cli {

struct BenchSettings {
  DType type = DType::f32;
  std::vector<std::string> algorithms;
  std::vector<Peer> peers;
  std::vector<Extents> sizes;
  std::vector<int> threads;
  int repetitions = 5;
  double min_time = 0.05, max_time = 5;  ///< seconds: of a sample; for each contestant and size
  std::uint64_t seed = 1;
};

class Bench {
 public:
  /// Starts the contestants' processes: this one must not have threads yet. `about` becomes the
  /// results' context.
  Bench(const Context& context, const BenchSettings& settings, nlohmann::ordered_json about);

  /// `finished` is called after each case with everything found so far. Throws Interrupted; then
  /// results() holds what was found, and says that it is not all.
  void run(const std::function<void(const BenchResults&)>& finished);
  const BenchResults& results() const { return results_; }

 private:
  struct Entrant {
    std::unique_ptr<Contestant> contestant;
    double rate = 0;  ///< multiplications and additions a second, as last seen; 0: unknown
  };
  using Field = std::vector<Entrant>;  // all that run with one number of threads
  /// What becomes of one case.
  struct Case {
    BenchCase on;
    std::vector<BenchRow> rows;
    std::vector<double> product_seconds;  // of each row, as last seen
    double done = 0;                      // expected seconds
  };

  void probe(Field& field);
  double expected_product(const Entrant& entrant, const BenchCase& now) const;
  bool too_slow(const Entrant& entrant, const BenchCase& now) const;
  int repetitions_for(double product_seconds) const;
  double verifier_seconds(const BenchCase& now) const;
  double entrant_seconds(const Entrant& entrant, const BenchCase& now) const;
  double case_seconds(const Field& field, const BenchCase& now) const;
  double expected_seconds() const;
  void announce() const;

  void measure(Field& field, const BenchCase& now);
  Verifier verifier_for(Case& now, Progress& progress) const;
  void verify_all(Field& field, Case& now, Progress& progress);
  double verified_product(Entrant& entrant, BenchRow& row, const Verifier& verifier);
  void take_turns(Field& field, Case& now, Progress& progress);
  void take_turn(Entrant& entrant, BenchRow& row, int turn) const;
  void finish_rows(Field& field, Case& now);
  void keep_interrupted(Case& now);

  const Context& context_;
  BenchSettings settings_;
  SharedOperands shared_;
  std::vector<Field> fields_;  // one for each number of threads
  double verifier_rate_ = 1e9;
  BenchResults results_;
};

}  // namespace tessera::cli
