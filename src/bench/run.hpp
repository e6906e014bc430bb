// Measures every contestant on every size. A result is verified before it is timed, then all
// contestants are timed in rounds, so that a disturbance of the machine affects all alike. A
// failure affects only its own row. A signal ends the run between two samples and keeps the rows so
// far.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device.hpp"
#include "judge.hpp"
#include "peers.hpp"
#include "report.hpp"
#include "shell/context.hpp"
#include "shell/progress.hpp"

namespace tessera::bench {

/// Seconds for which a device multiplies before its samples count, so that its clock settles.
inline constexpr double kDeviceWarmUp = 1.5;

struct BenchSettings {
  shell::Types types;
  std::vector<std::string> algorithms;
  std::optional<Peer> blas;  ///< this project's BLAS, measured beside the algorithms
  std::vector<Peer> peers;
  std::vector<Shape> shapes;
  std::vector<int> threads;
  std::vector<Readiness> readiness = {{}};
  int repetitions = kDefaultRepetitions;
  double min_time = 0.05, max_time = 5;  ///< seconds: of a sample; for each contestant and size
  std::uint64_t seed = 1;
  /// The device that runs all of them instead of the CPU; `threads` is {1} then.
  std::shared_ptr<BenchDevice> device = nullptr;
};

class Bench {
 public:
  /// Starts the contestants' processes: this one must not have threads yet. `about` becomes the
  /// results' context. Contestants of a device stay in this process.
  Bench(const shell::Context& context, const BenchSettings& settings, nlohmann::ordered_json about);

  /// `finished` is called after each case with all results so far. Throws Interrupted; then
  /// results() has the results so far, marked as incomplete.
  void run(const std::function<void(const BenchResults&)>& finished);
  const BenchResults& results() const { return results_; }

 private:
  struct Entrant {
    std::unique_ptr<Contestant> contestant;
    double rate = 0;  ///< multiplications and additions a second, as last seen; 0: unknown
  };
  /// All contestants under the same conditions.
  struct Field {
    Conditions on;
    std::vector<Entrant> entrants;
  };
  /// The outcome of one case.
  struct Case {
    BenchCase on;
    std::vector<BenchRow> rows;
    std::vector<double> call_seconds;  // of each row, as last seen
    double done = 0;                   // expected seconds
  };

  void enter_processor();
  void enter_device();
  void probe(Field& field);
  double expected_call(const Entrant& entrant, const BenchCase& now) const;
  bool too_slow(const Entrant& entrant, const BenchCase& now) const;
  int repetitions(const BenchCase& now) const;
  int repetitions_for(const BenchCase& now, double call_seconds) const;
  double sample_seconds(const BenchCase& now, double call_seconds) const;
  double verifier_seconds(const Shape& shape) const;
  double entrant_seconds(const Entrant& entrant, const BenchCase& now) const;
  double case_seconds(const Field& field, const BenchCase& now) const;
  double expected_seconds() const;
  void announce() const;

  BenchCase case_of(const Shape& shape, const Conditions& on) const;
  Judge judge_for(const BenchCase& now) const;
  void measure(Field& field, const BenchCase& now, const Judge& judge);
  void verify_all(Field& field, Case& now, const Judge& judge, shell::Progress& progress);
  double verified_call(Entrant& entrant, BenchRow& row, const Judge& judge);
  void take_samples(Field& field, Case& now, shell::Progress& progress);
  void take_sample(Entrant& entrant, BenchRow& row, int round, double seconds) const;
  double warm_seconds(std::size_t entrants) const;
  void finish_rows(Field& field, Case& now);
  void keep_interrupted(Case& now);

  const shell::Context& context_;
  BenchSettings settings_;
  SharedOperands shared_;
  std::vector<Field> fields_;  // the same contestants under different conditions
  double verifier_rate_ = 1e9;
  BenchResults results_;
};

}  // namespace tessera::bench
