// Rounds and samples: see run.hpp.
#include "run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "process/clock.hpp"
#include "process/signals.hpp"
#include "shell/suggest.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::bench {

namespace {

using Kind = Contestant::Kind;

/// A product that would take longer than this multiple of --max-time is not tried.
constexpr double kTriesOverBudget = 12;
/// Extent of the small product that estimates each contestant's speed.
constexpr index_t kProbeSide = 96;
/// A verification takes about as long as this many plain products (see Verifier).
constexpr double kVerifierProducts = 3;
/// Time of a sample with its untimed calls, relative to that of the sample alone.
constexpr double kSampleOverhead = 1.3;
/// The least number of samples after idleness and of first calls.
constexpr int kSingleCalls = 21;
/// Approximate time to start a process and load a library in it.
constexpr double kProcessSeconds = 0.03;

Arithmetic arithmetic_of(const BenchRow& row) {
  if (row.kind == Kind::peer && rounds_to_tf32(row.name)) return Arithmetic::tf32;
  // The automatic choice uses the native arithmetic of its type.
  return row.kind == Kind::algorithm && row.name != kOwnBlas && row.name != kPlanOnce &&
                 row.name != kAutomatic
             ? find_algorithm(row.name).arithmetic(row.on.types.in)
             : Arithmetic::chain;
}

RowStatus status_of(const Error& error) {
  const bool not_offered =
      exit_code(error.category()) == 2 || error.category() == Category::unavailable;
  return not_offered ? RowStatus::unsupported : RowStatus::failed;
}

double volume(const Shape& e) { return double(e.M) * double(e.N) * double(e.K) * double(e.batch); }

std::string thread_text(const std::vector<int>& threads) {
  std::vector<std::string> counts;
  for (int count : threads) counts.push_back(std::to_string(count));
  return shell::join(counts, " and ") + (threads == std::vector<int>{1} ? " thread" : " threads");
}

}  // namespace

Bench::Bench(const shell::Context& context, const BenchSettings& settings,
             nlohmann::ordered_json about)
    : context_(context), settings_(settings) {
  results_.context = std::move(about);
  if (settings_.device) enter_device();
  else enter_processor();
}

/// Contestants come first: a process may be forked only while this one has no threads.
void Bench::enter_processor() {
  for (int count : settings_.threads) {
    for (const Readiness& readiness : settings_.readiness) {
      Field& field = fields_.emplace_back(Field{{count, readiness}, {}});
      auto& entrants = field.entrants;
      for (const auto& name : settings_.algorithms)
        entrants.push_back({Contestant::algorithm(name, field.on, shared_)});
      if (settings_.blas)
        entrants.push_back(
            {Contestant::library(Kind::algorithm, *settings_.blas, field.on, shared_)});
      for (const auto& peer : settings_.peers)
        entrants.push_back({Contestant::library(Kind::peer, peer, field.on, shared_)});
      // A single call has no throughput.
      if (readiness.steady()) entrants.push_back({Contestant::peak(count)});
    }
  }
}

/// With the peaks of those units that a contestant uses.
void Bench::enter_device() {
  BenchDevice& device = *settings_.device;
  Field& field = fields_.emplace_back(Field{{1, {}, device.name()}, {}});
  auto& entrants = field.entrants;
  for (const auto& name : settings_.algorithms)
    entrants.push_back({device_algorithm(name, settings_.types, device, shared_)});
  for (const auto& peer : settings_.peers)
    entrants.push_back({device_peer(peer.name, settings_.types, device, shared_)});
  for (const auto units : {kCores, kMatrixUnits}) {
    const bool used = std::any_of(entrants.begin(), entrants.end(), [&](const Entrant& each) {
      return each.contestant->units() == units;
    });
    if (used) entrants.push_back({device_peak(units, device)});
  }
}

void Bench::run(const std::function<void(const BenchResults&)>& finished) {
  try {
    for (auto& field : fields_) probe(field);
    announce();
    for (const auto& shape : settings_.shapes) {
      const BenchCase any = case_of(shape, {1, {}, fields_.front().on.device});
      shared_.prepare(any, settings_.seed);
      const Judge judge = judge_for(any);
      for (auto& field : fields_) {
        measure(field, case_of(shape, field.on), judge);
        finished(results_);
      }
    }
  } catch (const process::Interrupted&) {
    results_.context["interrupted"] = true;
    throw;
  }
}

BenchCase Bench::case_of(const Shape& shape, const Conditions& on) const {
  return {settings_.types, shape, on.threads, on.readiness, on.device};
}

// ---- how long it will take ----------------------------------------------------------------------

/// One small product of each contestant, to estimate its speed.
void Bench::probe(Field& field) {
  const auto& shapes = settings_.shapes;
  const Shape least =
      *std::min_element(shapes.begin(), shapes.end(),
                        [](const Shape& a, const Shape& b) { return volume(a) < volume(b); });
  const BenchCase now = case_of(
      {std::min(least.M, kProbeSide), std::min(least.N, kProbeSide), std::min(least.K, kProbeSide)},
      field.on);
  shared_.prepare(now, settings_.seed);
  for (auto& entrant : field.entrants) {
    try {
      entrant.rate = now.flops() / std::max(1e-9, entrant.contestant->prepare(now));
    } catch (const Error&) {
      entrant.rate = 0;  // its first case reports the reason
    }
  }
  const auto start = process::Clock::now();
  const Judge judge(shared_, now.products(), {});
  verifier_rate_ = kVerifierProducts * now.flops() * static_cast<double>(now.products()) /
                   std::max(1e-6, process::seconds_since(start));
}

/// Time of one call, from the speed last seen; 0 if unknown.
double Bench::expected_call(const Entrant& entrant, const BenchCase& now) const {
  return entrant.rate > 0 ? now.flops() / entrant.rate : 0;
}

bool Bench::too_slow(const Entrant& entrant, const BenchCase& now) const {
  return expected_call(entrant, now) > kTriesOverBudget * settings_.max_time;
}

/// A sample of one call is less precise than a mean of many calls, so there are more of them.
int Bench::repetitions(const BenchCase& now) const {
  return now.readiness.steady() ? settings_.repetitions
                                : std::max(settings_.repetitions, kSingleCalls);
}

double Bench::sample_seconds(const BenchCase& now, double call_seconds) const {
  if (now.readiness.first_call) return kProcessSeconds + call_seconds;
  if (!now.readiness.steady()) return now.readiness.idle_seconds + 2 * call_seconds;
  return kSampleOverhead * std::max(call_seconds, settings_.min_time);
}

int Bench::repetitions_for(const BenchCase& now, double call_seconds) const {
  const double fit = kSampleOverhead * settings_.max_time / sample_seconds(now, call_seconds);
  return static_cast<int>(std::clamp(fit, 1.0, static_cast<double>(repetitions(now))));
}

double Bench::verifier_seconds(const Shape& shape) const {
  const BenchCase now = case_of(shape, {});
  return kVerifierProducts * now.flops() * static_cast<double>(now.sets()) / verifier_rate_;
}

/// Time of a contestant's part of a case: one call to verify, a second one, the samples.
double Bench::entrant_seconds(const Entrant& entrant, const BenchCase& now) const {
  if (too_slow(entrant, now)) return 0;
  const double call = expected_call(entrant, now);
  return 2 * call + repetitions_for(now, call) * sample_seconds(now, call);
}

double Bench::case_seconds(const Field& field, const BenchCase& now) const {
  double out = 0;
  for (const auto& entrant : field.entrants) out += entrant_seconds(entrant, now);
  return out;
}

double Bench::expected_seconds() const {
  double out = 0;
  for (const auto& shape : settings_.shapes) {
    out += verifier_seconds(shape);
    for (const auto& field : fields_) out += case_seconds(field, case_of(shape, field.on));
  }
  return out;
}

void Bench::announce() const {
  const std::size_t count = settings_.shapes.size();
  context_.note(fmt::format(
      "{} on {}, {} contestants, about {}", count == 1 ? "1 size" : cat(count, " sizes"),
      settings_.device ? settings_.device->name() : thread_text(settings_.threads),
      fields_.front().entrants.size(), shell::duration_text(expected_seconds())));
}

// ---- one case -----------------------------------------------------------------------------------

/// The reference products. They take long if sizes are large.
Judge Bench::judge_for(const BenchCase& now) const {
  const double expected = verifier_seconds(now.shape);
  shell::Progress progress(context_,
                           cat(to_string(now.types), " ", to_string(now.shape), ", verifier"),
                           expected, shell::Pace::Unit::seconds);
  return {shared_, now.products(), [&](double share) {
            process::throw_if_interrupted();
            progress.update(expected * share);
          }};
}

void Bench::measure(Field& field, const BenchCase& on, const Judge& judge) {
  shell::Progress progress(context_, cat(group_text(on), ", ", to_string(on.shape)),
                           case_seconds(field, on), shell::Pace::Unit::seconds);
  Case now{on, {}, {}, 0};
  try {
    verify_all(field, now, judge, progress);
    take_samples(field, now, progress);
  } catch (const process::Interrupted&) {
    keep_interrupted(now);
    throw;
  }
  finish_rows(field, now);
}

void Bench::verify_all(Field& field, Case& now, const Judge& judge, shell::Progress& progress) {
  for (auto& entrant : field.entrants) {
    process::throw_if_interrupted();
    const Contestant& who = *entrant.contestant;
    BenchRow row{who.name(), who.kind(), now.on, {}, {}, 0, {}, who.units()};
    double seconds = 0;
    if (const double expected = expected_call(entrant, now.on); too_slow(entrant, now.on)) {
      row.status = RowStatus::skipped;
      row.message = cat("one product would take about ", shell::duration_text(expected),
                        "; raise --max-time");
    } else {
      progress.update(now.done, 2 * expected);
      seconds = verified_call(entrant, row, judge);
      now.done += 2 * expected;
    }
    now.call_seconds.push_back(seconds);
    now.rows.push_back(std::move(row));
  }
}

/// Computes every product once into the shared results and verifies it.
double Bench::verified_call(Entrant& entrant, BenchRow& row, const Judge& judge) {
  try {
    shared_.spoil_results();
    const double seconds = entrant.contestant->prepare(row.on);
    entrant.rate = row.on.flops() / std::max(1e-9, seconds);
    if (row.kind == Kind::peak) return seconds;
    const Judgement found = judge.check(shared_, arithmetic_of(row));
    row.max_error_ratio = found.max_error_ratio;
    if (!found.good()) {
      row.status = RowStatus::refused;
      row.message = found.fault;
    }
    return seconds;
  } catch (const Error& error) {
    row.status = status_of(error);
    row.message = error.what();
    return 0;
  }
}

/// Round by round, each beginning with the next contestant; a warm-up round comes first, for
/// contestants with short products.
void Bench::take_samples(Field& field, Case& now, shell::Progress& progress) {
  const std::size_t count = field.entrants.size();
  const bool steady = now.on.readiness.steady();
  for (int round = steady ? -1 : 0; round < repetitions(now.on); ++round) {
    for (std::size_t step = 0; step < count; ++step) {
      const std::size_t i = (step + static_cast<std::size_t>(round + 1)) % count;
      const double call = now.call_seconds[i];
      if (now.rows[i].status != RowStatus::verified) continue;
      if (round < 0 && call > settings_.min_time) continue;
      if (round >= repetitions_for(now.on, call)) continue;
      const double expected = sample_seconds(now.on, call);
      progress.update(now.done, expected);
      take_sample(field.entrants[i], now.rows[i], round,
                  round < 0 ? warm_seconds(count) : settings_.min_time);
      if (round >= 0) now.done += expected;
    }
  }
}

/// Progress of each contestant's part of the warm-up round.
double Bench::warm_seconds(std::size_t entrants) const {
  if (!settings_.device) return settings_.min_time;
  return std::max(settings_.min_time, kDeviceWarmUp / static_cast<double>(entrants));
}

void Bench::take_sample(Entrant& entrant, BenchRow& row, int round, double seconds) const {
  process::throw_if_interrupted();
  try {
    Sample sample = entrant.contestant->sample(seconds);
    sample.round = round;
    if (round >= 0) row.samples.push_back(sample);
  } catch (const Error& error) {
    row.status = RowStatus::failed;
    row.message = error.what();
    row.samples.clear();
  }
}

void Bench::finish_rows(Field& field, Case& now) {
  for (std::size_t i = 0; i < now.rows.size(); ++i) {
    BenchRow& row = now.rows[i];
    const auto taken = static_cast<int>(row.samples.size());
    if (row.status == RowStatus::verified && taken < repetitions(now.on))
      row.message = cat(taken, " of ", repetitions(now.on), " repetitions (--max-time)");
    try {
      field.entrants[i].contestant->release();
    } catch (const Error&) {
      // Its process has already ended, and its row says so.
    }
    results_.rows.push_back(std::move(row));
  }
}

/// The state of a case at a signal: its samples count, and a row without one says why.
void Bench::keep_interrupted(Case& now) {
  for (auto& row : now.rows) {
    const auto taken = static_cast<int>(row.samples.size());
    if (row.status == RowStatus::verified && taken < repetitions(now.on)) {
      row.message = cat(taken, " of ", repetitions(now.on), " repetitions (interrupted)");
      if (taken == 0) row.status = RowStatus::interrupted;
    }
    results_.rows.push_back(std::move(row));
  }
}

}  // namespace tessera::bench
