// See tuner.hpp.
#include "tuner.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "process/signals.hpp"
#include "shell/suggest.hpp"
#include "statistics.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {

namespace {

/// The least time of one sample.
constexpr double kSampleSeconds = 2e-3;
/// After this many rounds, candidates stay that are at most this much slower than the best, and at
/// most this many of them.
struct Stage {
  int rounds;
  double slower;
  std::size_t most;
};
constexpr std::array kStages = {Stage{3, 1.08, 1000}, Stage{10, 1.08, 3}, Stage{30, 1.08, 1}};

struct TimeIsOver {};

double median(const std::vector<double>& values) { return summarize(values).median; }

}  // namespace

double Tuner::Runner::score() const { return scores.empty() ? HUGE_VAL : median(scores); }

void Tuner::check_time() const {
  process::throw_if_interrupted();
  if (seconds_left_() <= 0) throw TimeIsOver{};
}

std::optional<TunedCase> Tuner::tune(const BenchCase& now,
                                     const std::vector<Candidate>& candidates) {
  TunedCase out{{problem_of(now), {}, 0, "", 0}, static_cast<int>(candidates.size()), {}};
  bool all_measured = false;
  try {
    verify(now, candidates, out);
    open_peer();
    for (const Stage& stage : kStages) {
      for (int i = 0; i < stage.rounds; ++i) round();
      all_measured = true;
      std::stable_sort(runners_.begin(), runners_.end(),
                       [](const Runner& a, const Runner& b) { return a.score() < b.score(); });
      const double limit = runners_.front().score() * stage.slower;
      std::erase_if(runners_, [&](const Runner& each) { return each.score() > limit; });
      runners_.resize(std::min(runners_.size(), stage.most));
      if (runners_.size() == 1) break;
    }
  } catch (const TimeIsOver&) {
  }
  device_.unload();
  if (!all_measured) return std::nullopt;
  const Runner& best =
      *std::min_element(runners_.begin(), runners_.end(),
                        [](const Runner& a, const Runner& b) { return a.score() < b.score(); });
  out.product.best = best.who;
  out.product.seconds = median(best.seconds);
  if (rival_) out.product.peer = peer_, out.product.peer_seconds = median(rival_->seconds);
  return out;
}

void Tuner::verify(const BenchCase& now, const std::vector<Candidate>& candidates, TunedCase& out) {
  runners_.clear();
  rival_.reset();
  check_time();
  shared_.prepare(now, seed_);
  const Judge judge(shared_, now.products(), [this](double) { check_time(); });
  device_.load(now, shared_);
  for (const Candidate& who : candidates) {
    check_time();
    try {
      Runner runner{who, device_.kernel(who.algorithm, who.tile), 0, {}, {}};
      device_.spoil_results();
      device_.run(runner.call, device_.sets());
      shared_.spoil_results();
      device_.copy_results_to(shared_);
      if (const auto found = judge.check(shared_, Arithmetic::chain); !found.good())
        throw Error(Category::failed, found.fault);
      runner.call_seconds = device_.run(runner.call, 1);
      runners_.push_back(std::move(runner));
    } catch (const Error& error) {
      out.refused.push_back(cat(who.algorithm, " ", to_string(who.tile), ": ", error.what()));
    }
  }
  if (runners_.empty())
    throw Error(Category::failed, cat("no kernel multiplies ", to_string(now.shape), " rightly"),
                {}, shell::join(out.refused, "; "));
}

void Tuner::open_peer() {
  if (peer_.empty()) return;
  check_time();
  try {
    Runner peer{{peer_}, device_.peer(peer_), 0, {}, {}};
    (void)device_.run(peer.call, 1);  // also loads code
    peer.call_seconds = device_.run(peer.call, 1);
    rival_ = std::move(peer);
  } catch (const Error&) {  // it does not offer this product: there is no peer
  }
}

double Tuner::sample(Runner& runner) {
  check_time();
  const double calls = std::ceil(kSampleSeconds / std::max(runner.call_seconds, 1e-7));
  const auto count = static_cast<index_t>(std::max(1.0, calls));
  runner.call_seconds = device_.run(runner.call, count) / static_cast<double>(count);
  return runner.call_seconds;
}

/// One sample of each. Clocks change from round to round, so a score is a ratio within one round.
void Tuner::round() {
  double unit = 1;
  if (rival_) {
    unit = sample(*rival_);
    rival_->seconds.push_back(unit);
  }
  for (Runner& runner : runners_) {
    const double seconds = sample(runner);
    runner.seconds.push_back(seconds);
    runner.scores.push_back(seconds / unit);
  }
}

}  // namespace tessera::bench
