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

/// Candidates that lost and are kept with their times.
constexpr std::size_t kSlowerKept = 4;

double median(const std::vector<double>& values) { return summarize(values).median; }

}  // namespace

double Tuner::Runner::score() const { return scores.empty() ? HUGE_VAL : median(scores); }

void Tuner::check_time() const {
  process::throw_if_interrupted();
  if (seconds_left_() <= 0) throw TimeIsOver{};
}

std::optional<TunedCase> Tuner::tune(const BenchCase& now,
                                     const std::vector<Candidate>& candidates) {
  TunedCase out{{problem_of(now)}, static_cast<int>(candidates.size()), {}, {}};
  bool all_measured = false;
  std::vector<SlowerCandidate> slower;  // with their scores
  const auto lose = [&](std::size_t staying) {
    std::vector<SlowerCandidate> now_lost;
    for (; runners_.size() > staying; runners_.pop_back())
      now_lost.push_back({runners_.back().who, runners_.back().score()});
    slower.insert(slower.begin(), now_lost.rbegin(), now_lost.rend());
  };
  const auto faster = [](const Runner& a, const Runner& b) { return a.score() < b.score(); };
  try {
    verify(now, candidates, out);
    for (const Stage& stage : kStages) {
      if (out.hanging) return out;
      for (int i = 0; i < stage.rounds; ++i) round();
      std::stable_sort(runners_.begin(), runners_.end(), faster);
      const double best = runners_.front().score();
      all_measured = true;
      std::size_t staying = 0;
      while (staying < std::min(runners_.size(), stage.most) &&
             runners_[staying].score() <= best * stage.slower)
        ++staying;
      lose(staying);
      if (runners_.size() == 1) break;
    }
  } catch (const TimeIsOver&) {
  }
  device_.unload();
  if (!all_measured) return std::nullopt;
  const Runner best = *std::min_element(runners_.begin(), runners_.end(), faster);
  TunedProduct& product = out.product;
  product.best = best.who;
  product.seconds = median(best.seconds);
  product.clock_hz = best.state.clock_hz, product.watts = best.state.watts;
  product.limits = best.state.throttle_reasons;
  for (const Runner& peer : rivals_) {
    const double seconds = median(peer.seconds);
    if (product.peer.empty() || seconds < product.peer_seconds)
      product.peer = peer.who.algorithm, product.peer_seconds = seconds;
  }
  lose(0);
  std::erase_if(slower, [&](const SlowerCandidate& each) { return each.who == best.who; });
  for (SlowerCandidate& each : slower) each.times = std::max(1.0, each.times / best.score());
  std::stable_sort(slower.begin(), slower.end(),
                   [](const auto& a, const auto& b) { return a.times < b.times; });
  slower.resize(std::min(slower.size(), kSlowerKept));
  product.slower = std::move(slower);
  return out;
}

/// Makes the runner's call, multiplies once and compares the result; a refusal goes to `out`.
bool Tuner::is_right(const Judge& judge, Runner& runner,
                     const std::function<BenchDevice::Call()>& make, TunedCase& out) {
  check_time();
  try {
    runner.call = make();
    device_.spoil_results();
    device_.run(runner.call, device_.sets());
    shared_.spoil_results();
    device_.copy_results_to(shared_);
    if (const auto found = judge.check(shared_, runner.arithmetic); !found.good())
      throw Error(Category::failed, found.fault);
    runner.call_seconds = device_.run(runner.call, 1);
    return true;
  } catch (const Error& error) {
    if (device_.hangs()) out.hanging = runner.who;
    const bool offered = error.category() != Category::unavailable || device_.hangs();
    if (offered || runner.who.tile != TileShape{})
      out.refused.push_back(cat(to_string(runner.who), ": ", error.what()));
    return false;
  }
}

void Tuner::verify(const BenchCase& now, const std::vector<Candidate>& candidates, TunedCase& out) {
  runners_.clear(), rivals_.clear();
  check_time();
  shared_.prepare(now, seed_);
  const Judge judge(shared_, now.products(), [this](double) { check_time(); });
  device_.load(now, shared_);
  for (const Candidate& who : candidates) {
    Runner runner{who};
    if (is_right(
            judge, runner, [&] { return device_.kernel(who); }, out))
      runners_.push_back(std::move(runner));
    if (out.hanging) return;
  }
  if (runners_.empty())
    throw Error(Category::failed, cat("no kernel multiplies ", to_string(now.shape), " rightly"),
                {}, shell::join(out.refused, "; "));
  for (const std::string& peer : peers_) {
    Runner runner{{peer}, rounds_to_tf32(peer) ? Arithmetic::tf32 : Arithmetic::chain};
    if (is_right(
            judge, runner, [&] { return device_.peer(peer); }, out))
      rivals_.push_back(std::move(runner));
    if (out.hanging) return;
  }
}

void Tuner::sample(Runner& runner) {
  check_time();
  const double calls = std::ceil(kSampleSeconds / std::max(runner.call_seconds, 1e-7));
  const auto count = static_cast<index_t>(std::max(1.0, calls));
  runner.call_seconds = device_.run(runner.call, count) / static_cast<double>(count);
  runner.seconds.push_back(runner.call_seconds);
  runner.state = device_.state();
}

/// One sample of each, in every other round backward. Clocks change from round to round, so a score
/// is a ratio within one round, to the fastest peer in it.
void Tuner::round() {
  std::vector<Runner*> order;
  for (Runner& each : rivals_) order.push_back(&each);
  for (Runner& each : runners_) order.push_back(&each);
  if (++rounds_ % 2 == 0) std::reverse(order.begin(), order.end());
  for (Runner* each : order) sample(*each);
  double unit = rivals_.empty() ? 1 : HUGE_VAL;
  for (const Runner& each : rivals_) unit = std::min(unit, each.call_seconds);
  for (Runner& each : runners_) each.scores.push_back(each.call_seconds / unit);
}

}  // namespace tessera::bench
