// Rounds and turns: see bench_run.hpp.
#include "bench_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "clock.hpp"
#include "signals.hpp"
#include "suggest.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::cli {

namespace {

using Kind = Contestant::Kind;

/// A product that would take longer than this many times --max-time is not even tried.
constexpr double kTriesOverBudget = 12;
/// A side of the small product that tells how fast each contestant is about.
constexpr index_t kProbeSide = 96;
/// A verification takes about as long as this many plain products (see Verifier).
constexpr double kVerifierProducts = 3;
/// Of a turn, with what it spends on waking up.
constexpr double kTurnOverhead = 1.3;

Arithmetic arithmetic_of(const BenchRow& row) {
  return row.kind == Kind::algorithm ? find_algorithm(row.name).arithmetic(row.on.type)
                                     : Arithmetic::native;
}

RowStatus status_of(const Error& error) {
  const bool not_offered =
      exit_code(error.category()) == 2 || error.category() == Category::unavailable;
  return not_offered ? RowStatus::unsupported : RowStatus::failed;
}

Problem problem_of(const SharedOperands& shared) {
  return make_problem(shared.A(), shared.B(), shared.C());
}

double volume(const Extents& e) { return double(e.M) * double(e.N) * double(e.K); }

std::string thread_text(const std::vector<int>& threads) {
  std::vector<std::string> counts;
  for (int count : threads) counts.push_back(std::to_string(count));
  return join(counts, " and ") + (threads == std::vector<int>{1} ? " thread" : " threads");
}

}  // namespace

Bench::Bench(const Context& context, const BenchSettings& settings, nlohmann::ordered_json about)
    : context_(context), settings_(settings) {
  results_.context = std::move(about);
  // Contestants come first: a process may only be forked while this one has no threads.
  for (int count : settings_.threads) {
    auto& field = fields_.emplace_back();
    for (const auto& name : settings_.algorithms)
      field.push_back({Contestant::algorithm(name, count, shared_)});
    for (const auto& peer : settings_.peers)
      field.push_back({Contestant::peer(peer, count, shared_)});
    field.push_back({Contestant::peak(count)});
  }
}

void Bench::run(const std::function<void(const BenchResults&)>& finished) {
  try {
    for (auto& field : fields_) probe(field);
    announce();
    for (auto& field : fields_) {
      for (const auto& extents : settings_.sizes) {
        measure(field, {settings_.type, extents, field.front().contestant->threads()});
        finished(results_);
      }
      field.clear();  // ends the processes
    }
  } catch (const Interrupted&) {
    results_.context["interrupted"] = true;
    throw;
  }
}

// ---- how long it will take ----------------------------------------------------------------------

/// One small product of everyone: how fast is it about?
void Bench::probe(Field& field) {
  const auto& sizes = settings_.sizes;
  const Extents least =
      *std::min_element(sizes.begin(), sizes.end(),
                        [](const Extents& a, const Extents& b) { return volume(a) < volume(b); });
  const BenchCase now{
      settings_.type,
      {std::min(least.M, kProbeSide), std::min(least.N, kProbeSide), std::min(least.K, kProbeSide)},
      field.front().contestant->threads()};
  shared_.prepare(now, settings_.seed);
  for (auto& entrant : field) {
    try {
      entrant.rate = now.flops() / std::max(1e-9, entrant.contestant->prepare(now));
    } catch (const Error&) {
      entrant.rate = 0;  // it says why when its first case comes
    }
  }
  const auto start = Clock::now();
  const Verifier verifier(problem_of(shared_), shared_.A(), shared_.B(), shared_.C());
  verifier_rate_ = kVerifierProducts * now.flops() / std::max(1e-6, seconds_since(start));
}

/// Of one product, from the speed last seen; 0 where nothing is known.
double Bench::expected_product(const Entrant& entrant, const BenchCase& now) const {
  return entrant.rate > 0 ? now.flops() / entrant.rate : 0;
}

bool Bench::too_slow(const Entrant& entrant, const BenchCase& now) const {
  return expected_product(entrant, now) > kTriesOverBudget * settings_.max_time;
}

int Bench::repetitions_for(double product_seconds) const {
  const double fit = settings_.max_time / std::max(product_seconds, settings_.min_time);
  return static_cast<int>(std::clamp(fit, 1.0, static_cast<double>(settings_.repetitions)));
}

double Bench::verifier_seconds(const BenchCase& now) const {
  return kVerifierProducts * now.flops() / verifier_rate_;
}

/// What a contestant's part of a case takes: one product to verify, a second one, the turns.
double Bench::entrant_seconds(const Entrant& entrant, const BenchCase& now) const {
  if (too_slow(entrant, now)) return 0;
  const double product = expected_product(entrant, now);
  return 2 * product +
         repetitions_for(product) * kTurnOverhead * std::max(product, settings_.min_time);
}

double Bench::case_seconds(const Field& field, const BenchCase& now) const {
  double out = verifier_seconds(now);
  for (const auto& entrant : field) out += entrant_seconds(entrant, now);
  return out;
}

double Bench::expected_seconds() const {
  double out = 0;
  for (const auto& field : fields_) {
    for (const auto& extents : settings_.sizes)
      out += case_seconds(field, {settings_.type, extents, field.front().contestant->threads()});
  }
  return out;
}

void Bench::announce() const {
  const std::size_t count = settings_.sizes.size();
  context_.note(fmt::format(
      "{} on {}, {} contestants, about {}", count == 1 ? "1 size" : cat(count, " sizes"),
      thread_text(settings_.threads), fields_.front().size(), duration_text(expected_seconds())));
}

// ---- one case -----------------------------------------------------------------------------------

void Bench::measure(Field& field, const BenchCase& on) {
  Progress progress(context_,
                    cat(on.type, " ", to_string(on.extents), ", ", on.threads,
                        on.threads == 1 ? " thread" : " threads"),
                    case_seconds(field, on), Pace::Unit::seconds);
  Case now{on, {}, {}, 0};
  try {
    shared_.prepare(on, settings_.seed);
    verify_all(field, now, progress);
    take_turns(field, now, progress);
  } catch (const Interrupted&) {
    keep_interrupted(now);
    throw;
  }
  finish_rows(field, now);
}

/// The product that all are compared with. It takes long where sizes are large.
Verifier Bench::verifier_for(Case& now, Progress& progress) const {
  const double expected = verifier_seconds(now.on);
  progress.update(0, expected);
  Verifier out(problem_of(shared_), shared_.A(), shared_.B(), shared_.C(), nullptr, 0,
               [&](index_t done, index_t total) {
                 throw_if_interrupted();
                 progress.update(expected * static_cast<double>(done) /
                                 static_cast<double>(std::max<index_t>(1, total)));
               });
  now.done = expected;
  return out;
}

void Bench::verify_all(Field& field, Case& now, Progress& progress) {
  const Verifier verifier = verifier_for(now, progress);
  for (auto& entrant : field) {
    throw_if_interrupted();
    BenchRow row{entrant.contestant->name(), entrant.contestant->kind(), now.on, {}, {}, 0, {}};
    double seconds = 0;
    if (const double expected = expected_product(entrant, now.on); too_slow(entrant, now.on)) {
      row.status = RowStatus::skipped;
      row.message =
          cat("one product would take about ", duration_text(expected), "; raise --max-time");
    } else {
      progress.update(now.done, 2 * expected);
      seconds = verified_product(entrant, row, verifier);
      now.done += 2 * expected;
    }
    now.product_seconds.push_back(seconds);
    now.rows.push_back(std::move(row));
  }
}

/// One product into the shared result, and what the verifier says of it.
double Bench::verified_product(Entrant& entrant, BenchRow& row, const Verifier& verifier) {
  try {
    shared_.spoil_result();
    const double seconds = entrant.contestant->prepare(row.on);
    entrant.rate = row.on.flops() / std::max(1e-9, seconds);
    if (row.kind == Kind::peak) return seconds;
    const Verification check = verifier.check(shared_.C(), arithmetic_of(row));
    row.max_error_ratio = check.max_error_ratio;
    if (!check.within_bound) {
      row.status = RowStatus::refused;
      row.message = fmt::format("wrong at ({},{}): expected {:.9g}, got {:.9g}; {} of {} elements",
                                check.row, check.col, check.expected, check.got, check.outside,
                                row.on.extents.M * row.on.extents.N);
    }
    return seconds;
  } catch (const Error& error) {
    row.status = status_of(error);
    row.message = error.what();
    return 0;
  }
}

/// Round by round, each time beginning with the next contestant; a round before the first warms up
/// those to whom it costs little.
void Bench::take_turns(Field& field, Case& now, Progress& progress) {
  const std::size_t count = field.size();
  for (int turn = -1; turn < settings_.repetitions; ++turn) {
    for (std::size_t step = 0; step < count; ++step) {
      const std::size_t i = (step + static_cast<std::size_t>(turn + 1)) % count;
      const double product = now.product_seconds[i];
      if (now.rows[i].status != RowStatus::verified) continue;
      if (turn < 0 && product > settings_.min_time) continue;
      if (turn >= repetitions_for(product)) continue;
      const double expected = kTurnOverhead * std::max(product, settings_.min_time);
      progress.update(now.done, expected);
      take_turn(field[i], now.rows[i], turn);
      if (turn >= 0) now.done += expected;
    }
  }
}

void Bench::take_turn(Entrant& entrant, BenchRow& row, int turn) const {
  throw_if_interrupted();
  try {
    Sample sample = entrant.contestant->turn(settings_.min_time);
    sample.turn = turn;
    if (turn >= 0) row.samples.push_back(sample);
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
    if (row.status == RowStatus::verified && taken < settings_.repetitions)
      row.message = cat(taken, " of ", settings_.repetitions, " repetitions (--max-time)");
    try {
      field[i].contestant->release();
    } catch (const Error&) {
      // It is gone already, and its row says so.
    }
    results_.rows.push_back(std::move(row));
  }
}

/// What a case has until a signal: its samples count, a row without one says why.
void Bench::keep_interrupted(Case& now) {
  for (auto& row : now.rows) {
    const auto taken = static_cast<int>(row.samples.size());
    if (row.status == RowStatus::verified && taken < settings_.repetitions) {
      row.message = cat(taken, " of ", settings_.repetitions, " repetitions (interrupted)");
      if (taken == 0) row.status = RowStatus::interrupted;
    }
    results_.rows.push_back(std::move(row));
  }
}

}  // namespace tessera::cli
