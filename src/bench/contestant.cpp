// What runs inside a contestant's process, and its questions: see contestant.hpp. Questions are
// lines of text: "case TYPES SHAPE", "sample SECONDS", "idle SECONDS", "release"; "first" is a case
// whose first call is the answer.
#include "contestant.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <sstream>
#include <thread>
#include <vector>

#include "matmul/packed.hpp"
#include "peak.hpp"
#include "peer_library.hpp"
#include "process/child.hpp"
#include "process/clock.hpp"
#include "sizes.hpp"
#include "tessera/core/error.hpp"
#include "tessera/cpu/gemm_plan.hpp"
#include "tessera/matmul/batch.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera::bench {

namespace {

/// If one product takes a smaller share of a sample than this, the sample begins with an untimed
/// product that wakes threads and fills caches.
constexpr double kWarmShare = 0.2;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// What a process does in one case: call after call, through all sets of operands in turn.
class Work {
 public:
  Work(const BenchCase& now, const SharedOperands& shared, Call call)
      : operands_(now, shared), call_(std::move(call)) {
    for (index_t set = 0; set < now.sets(); ++set) places_.push_back(operands_.place(set));
  }
  std::size_t sets() const { return places_.size(); }
  void once() {
    const OwnOperands::Place& place = places_[next_];
    next_ = next_ + 1 == places_.size() ? 0 : next_ + 1;
    call_(place.A, place.B, place.C);
  }
  void copy_results_to(const SharedOperands& shared) const { operands_.copy_results_to(shared); }

 private:
  OwnOperands operands_;
  Call call_;
  std::vector<OwnOperands::Place> places_;
  std::size_t next_ = 0;
};

/// Times `iterations` calls.
Sample timed(Work& work, index_t iterations) {
  const double cpu = cpu_seconds();
  const auto start = process::Clock::now();
  for (index_t i = 0; i < iterations; ++i) work.once();
  const double seconds = process::seconds_since(start);
  const auto count = static_cast<double>(iterations);
  return {0, iterations, seconds / count, (cpu_seconds() - cpu) / count};
}

/// A sample, after an untimed call that wakes threads and fills caches.
Sample warm_sample(Work& work, double call_seconds, double seconds) {
  if (call_seconds < kWarmShare * seconds) work.once();
  return sample_of([&work](index_t calls) { return timed(work, calls); }, call_seconds, seconds);
}

/// One call after this much idleness, and one call before the idleness.
Sample after_idleness(Work& work, double seconds) {
  work.once();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return timed(work, 1);
}

std::string text_of_sample(const Sample& sample) {
  char text[96];
  std::snprintf(text, sizeof text, "%lld %.17g %.17g", static_cast<long long>(sample.iterations),
                sample.seconds, sample.cpu_seconds);
  return text;
}

std::string question_of(const BenchCase& now) {
  return cat("case ", to_string(now.types), " ", to_string(now.shape));
}

BenchCase read_case(std::istringstream& words, int threads) {
  BenchCase now;
  std::string types, shape;
  words >> types >> shape;
  now.types = shell::parse_types(types);
  now.shape = parse_sizes(shape).front();
  now.threads = threads;
  return now;
}

/// Makes the calls of one case; throws if the contestant does not offer it.
using MakeCall = std::function<Call(const BenchCase&)>;

/// Answers of every contestant that multiplies.
process::Child::Answer multiplier(MakeCall make_call, int threads, SharedOperands& shared) {
  struct State {
    std::unique_ptr<Work> work;
    double call_seconds = 0;
  };
  return [state = std::make_shared<State>(), make_call = std::move(make_call), threads,
          &shared](const std::string& question) -> std::string {
    std::istringstream words(question);
    std::string verb;
    words >> verb;
    if (verb == "case" || verb == "first") {
      const BenchCase now = read_case(words, threads);
      state->work.reset();
      shared.attach(now);
      state->work = std::make_unique<Work>(now, shared, make_call(now));
      Work& work = *state->work;
      Sample sample = timed(work, 1);
      for (std::size_t set = 1; set < work.sets(); ++set) work.once();
      work.copy_results_to(shared);
      // The first call also starts threads and touches memory.
      if (verb == "case" && sample.seconds < 0.5) sample = timed(work, 1);
      state->call_seconds = sample.seconds;
      return text_of_sample(sample);
    }
    if (verb == "sample" || verb == "idle") {
      double seconds = 0;
      words >> seconds;
      const Sample sample = verb == "sample"
                                ? warm_sample(*state->work, state->call_seconds, seconds)
                                : after_idleness(*state->work, seconds);
      if (verb == "sample") state->call_seconds = sample.seconds;
      return text_of_sample(sample);
    }
    state->work.reset();
    return {};
  };
}

/// Answers of a contestant whose every sample is the first call of a process: this one only starts
/// those processes, and has neither threads nor a library.
process::Child::Answer beginner(std::function<process::Child::Answer()> start) {
  return [start = std::move(start), first = std::string()](const std::string& question) mutable {
    if (question == "release") return std::string();
    if (question.starts_with("case")) first = "first" + question.substr(4);
    return process::Child(start).ask(first);
  };
}

/// How a process begins: `load` returns the object that makes calls.
std::function<process::Child::Answer()> starting(std::function<MakeCall()> load,
                                                 const Conditions& on, SharedOperands& shared) {
  std::function<process::Child::Answer()> start = [load = std::move(load), threads = on.threads,
                                                   &shared] {
    return multiplier(load(), threads, shared);
  };
  if (!on.readiness.first_call) return start;
  return [start = std::move(start)] { return beginner(start); };
}

/// One product after the other, each a run of the plan.
Call planned_call(const Plan& plan, index_t batch) {
  const Problem& p = plan.problem;
  const index_t a_step = p.M * p.K * size_of(p.in), b_step = p.K * p.N * size_of(p.type_of_b()),
                c_step = p.M * p.N * size_of(p.out);
  return [plan, batch, a_step, b_step, c_step](const void* A, const void* B, void* C) {
    const Problem& q = plan.problem;
    for (index_t i = 0; i < batch; ++i) {
      run(plan, {static_cast<const char*>(A) + i * a_step, q.in, q.M, q.K, q.a.row, q.a.col},
          {static_cast<const char*>(B) + i * b_step, q.type_of_b(), q.K, q.N, q.b.row, q.b.col},
          {static_cast<char*>(C) + i * c_step, q.out, q.M, q.N, q.c.row, q.c.col});
    }
  };
}

/// All products in one call, as the library offers it.
Call batch_call(const Problem& p, index_t batch, const Options& options) {
  return [p, batch, options](const void* A, const void* B, void* C) {
    matmul_strided({A, p.in, p.M, p.K, p.a.row, p.a.col},
                   {B, p.type_of_b(), p.K, p.N, p.b.row, p.b.col},
                   {C, p.out, p.M, p.N, p.c.row, p.c.col}, batch, {p.M * p.K, p.K * p.N, p.M * p.N},
                   p.alpha, p.beta, options);
  };
}

/// One product after the other, each a call of a prepared plan.
template <class In, class Out = In>
Call plan_once(const Problem& p, index_t batch, int threads) {
  using Scalar = typename cpu::Gemm<In, Out>::Scalar;
  const cpu::GemmPlan<In, Out> plan({.M = p.M,
                                     .N = p.N,
                                     .K = p.K,
                                     .a_row = p.a.row,
                                     .a_col = p.a.col,
                                     .b_row = p.b.row,
                                     .b_col = p.b.col,
                                     .c_row = p.c.row,
                                     .alpha = static_cast<Scalar>(p.alpha),
                                     .beta = static_cast<Scalar>(p.beta),
                                     .threads = threads});
  return [plan, batch, a = p.M * p.K, b = p.K * p.N, c = p.M * p.N](const void* A, const void* B,
                                                                    void* C) {
    for (index_t i = 0; i < batch; ++i)
      plan(static_cast<const cpu::ElementA<In>*>(A) + i * a,
           static_cast<const cpu::ElementB<In>*>(B) + i * b, static_cast<Out*>(C) + i * c);
  };
}

Call plan_once(const BenchCase& now) {
  const Problem p = problem_of(now);
  const index_t batch = now.shape.batch;
  Call out;
  if (!detail::has_cpu_product(p.in, p.out))
    throw Error(Category::argument, cat(kPlanOnce, " cannot run this product: it has no ",
                                        to_string(now.types), " product"));
  detail::visit_packed(p, [&]<class In, class Out>(TypeTag<In>, TypeTag<Out>) {
    out = plan_once<In, Out>(p, batch, now.threads);
  });
  return out;
}

Call algorithm_call(const std::string& name, const BenchCase& now) {
  if (name == kPlanOnce) return plan_once(now);
  Options options;
  options.algorithm = name;
  options.threads = now.threads;
  const Problem problem = problem_of(now);
  if (name == "packed" && now.shape.batch > 1) return batch_call(problem, now.shape.batch, options);
  return planned_call(make_plan(problem, options), now.shape.batch);
}

/// Answers of the peak: the seconds that the case's product would take at the peak.
process::Child::Answer peak_meter(int threads) {
  struct State {
    BenchCase now;
    std::unique_ptr<PeakMeter> meter;
  };
  return [state = std::make_shared<State>(), threads](const std::string& question) -> std::string {
    std::istringstream words(question);
    std::string verb;
    words >> verb;
    double seconds = 1e-3;
    if (verb == "case") {
      state->now = read_case(words, threads);
      state->meter = std::make_unique<PeakMeter>(peak_chain(state->now.types.in), threads);
    } else if (verb == "sample") {
      words >> seconds;
    } else {
      return {};
    }
    const double cpu = cpu_seconds();
    const auto burst = state->meter->burst(seconds);
    const double products = std::max(1e-9, burst.operations / state->now.flops());
    return text_of_sample({0, std::max<index_t>(1, std::llround(products)),
                           burst.seconds / products, (cpu_seconds() - cpu) / products});
  };
}

Sample read_sample(const std::string& text) {
  std::istringstream words(text);
  long long iterations = 0;
  Sample out;
  words >> iterations >> out.seconds >> out.cpu_seconds;
  out.iterations = iterations;
  return out;
}

/// A contestant in its own process.
class ProcessContestant : public Contestant {
 public:
  ProcessContestant(const std::string& name, Kind kind, const Conditions& on,
                    std::function<process::Child::Answer()> start)
      : Contestant(name, kind),
        on_(on),
        // Foreign libraries print noise; messages of this project's own code are kept.
        child_(std::move(start), kind == Kind::peer ? process::Child::Talk::silent
                                                    : process::Child::Talk::to_stderr) {}

  double prepare(const BenchCase& now) override {
    return read_sample(child_.ask(question_of(now))).seconds;
  }
  Sample sample(double seconds) override {
    const double idle = on_.readiness.idle_seconds;
    return read_sample(child_.ask(idle > 0 ? cat("idle ", idle) : cat("sample ", seconds)));
  }
  void release() override { child_.ask("release"); }

 private:
  Conditions on_;
  process::Child child_;
};

}  // namespace

std::unique_ptr<Contestant> Contestant::algorithm(const std::string& name, const Conditions& on,
                                                  SharedOperands& shared) {
  const auto load = [name]() -> MakeCall {
    return [name](const BenchCase& now) { return algorithm_call(name, now); };
  };
  return std::make_unique<ProcessContestant>(name, Kind::algorithm, on, starting(load, on, shared));
}

std::unique_ptr<Contestant> Contestant::library(Kind kind, const Peer& peer, const Conditions& on,
                                                SharedOperands& shared) {
  const auto load = [peer, threads = on.threads]() -> MakeCall {
    const auto library = std::make_shared<PeerLibrary>(peer, threads);
    return [library](const BenchCase& now) { return library->call_for(now.types, now.shape); };
  };
  return std::make_unique<ProcessContestant>(peer.name, kind, on, starting(load, on, shared));
}

std::unique_ptr<Contestant> Contestant::peak(int threads) {
  return std::make_unique<ProcessContestant>("peak", Kind::peak, Conditions{threads},
                                             [threads] { return peak_meter(threads); });
}

}  // namespace tessera::bench
