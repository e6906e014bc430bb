// What runs inside a contestant's process, and how it is asked: see contestant.hpp.
// Questions are lines of text: "case TYPE M N K", "turn SECONDS", "release".
#include "contestant.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <sstream>

#include "clock.hpp"
#include "peak.hpp"
#include "tessera/core/error.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera::cli {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// Below this a turn's share of a product's time is small enough to spend one product on waking up
/// threads and filling caches.
constexpr double kWarmShare = 0.2;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::size_t matrix_bytes(index_t rows, index_t cols, DType type) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) *
         static_cast<std::size_t>(size_of(type));
}

/// Where A, B and C begin in one piece of memory.
struct Places {
  std::size_t a, b, c, end;
  explicit Places(const BenchCase& now) {
    const auto& [M, N, K] = now.extents;
    const std::size_t page = 4096;
    a = 0;
    b = a + rounded_up(matrix_bytes(M, K, now.type), page);
    c = b + rounded_up(matrix_bytes(K, N, now.type), page);
    end = c + rounded_up(matrix_bytes(M, N, now.type), page);
  }
};

ConstMatrix view(const void* data, DType type, index_t rows, index_t cols) {
  return {data, type, rows, cols, cols, 1};
}

/// A contestant's own operands, on huge pages where the system has some.
class OwnOperands {
 public:
  OwnOperands(const BenchCase& now, const SharedOperands& shared) : case_(now), places_(now) {
    const std::size_t bytes = rounded_up(std::max<std::size_t>(places_.end, 1), kHugePage);
    memory_.reset(static_cast<char*>(std::aligned_alloc(kHugePage, bytes)));
    if (!memory_) throw Error(Category::resource, "not enough memory for the operands");
    madvise(memory_.get(), bytes, MADV_HUGEPAGE);
    const auto& [M, N, K] = now.extents;
    std::memcpy(memory_.get() + places_.a, shared.A().data, matrix_bytes(M, K, now.type));
    std::memcpy(memory_.get() + places_.b, shared.B().data, matrix_bytes(K, N, now.type));
    std::memset(memory_.get() + places_.c, 0xff, result_bytes());
  }
  ConstMatrix A() const {
    return view(memory_.get() + places_.a, case_.type, case_.extents.M, case_.extents.K);
  }
  ConstMatrix B() const {
    return view(memory_.get() + places_.b, case_.type, case_.extents.K, case_.extents.N);
  }
  Matrix C() const {
    return {memory_.get() + places_.c, case_.type,      case_.extents.M,
            case_.extents.N,           case_.extents.N, 1};
  }
  std::size_t result_bytes() const {
    return matrix_bytes(case_.extents.M, case_.extents.N, case_.type);
  }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  BenchCase case_;
  Places places_;
  std::unique_ptr<char, Free> memory_;
};

using Job = std::function<void()>;

/// Times `iterations` calls of the job.
Sample timed(const Job& job, index_t iterations) {
  const double cpu = cpu_seconds();
  const auto start = Clock::now();
  for (index_t i = 0; i < iterations; ++i) job();
  const double seconds = seconds_since(start);
  const auto count = static_cast<double>(iterations);
  return {0, iterations, seconds / count, (cpu_seconds() - cpu) / count};
}

/// As many calls as fill `seconds`, found by trying; only the last try counts.
Sample turn_of(const Job& job, double call_seconds, double seconds) {
  if (call_seconds < kWarmShare * seconds) job();
  index_t iterations = 1;
  for (;;) {
    const double guess = std::ceil(seconds / std::max(call_seconds, 1e-9));
    iterations = std::max(iterations, static_cast<index_t>(std::clamp(guess, 1.0, 1e9)));
    const Sample sample = timed(job, iterations);
    if (sample.seconds * static_cast<double>(iterations) >= 0.9 * seconds) return sample;
    call_seconds = sample.seconds;
    iterations += 1 + iterations / 2;  // grows even where the clock stands still
  }
}

std::string text_of_sample(const Sample& sample) {
  char text[96];
  std::snprintf(text, sizeof text, "%lld %.17g %.17g", static_cast<long long>(sample.iterations),
                sample.seconds, sample.cpu_seconds);
  return text;
}

BenchCase read_case(std::istringstream& words, int threads) {
  BenchCase now;
  std::string type;
  words >> type >> now.extents.M >> now.extents.N >> now.extents.K;
  now.type = parse_dtype(type);
  now.threads = threads;
  return now;
}

/// Makes the job of one case; throws where the contestant does not offer it.
using MakeJob = std::function<Job(const BenchCase&, const OwnOperands&)>;

/// Answers of everything that multiplies.
Child::Answer multiplier(MakeJob make_job, int threads, SharedOperands& shared) {
  struct State {
    std::unique_ptr<OwnOperands> operands;
    Job job;
    double call_seconds = 0;
  };
  return [state = std::make_shared<State>(), make_job = std::move(make_job), threads,
          &shared](const std::string& question) -> std::string {
    std::istringstream words(question);
    std::string verb;
    words >> verb;
    if (verb == "case") {
      const BenchCase now = read_case(words, threads);
      state->job = nullptr;
      state->operands.reset();
      shared.attach(now);
      state->operands = std::make_unique<OwnOperands>(now, shared);
      state->job = make_job(now, *state->operands);
      state->call_seconds = timed(state->job, 1).seconds;
      std::memcpy(shared.C().data, state->operands->C().data, state->operands->result_bytes());
      // The first call also pays for starting threads and touching memory.
      if (state->call_seconds < 0.5) state->call_seconds = timed(state->job, 1).seconds;
      return text_of_sample({0, 1, state->call_seconds, 0});
    }
    if (verb == "turn") {
      double seconds = 0;
      words >> seconds;
      const Sample sample = turn_of(state->job, state->call_seconds, seconds);
      state->call_seconds = sample.seconds;
      return text_of_sample(sample);
    }
    state->job = nullptr;
    state->operands.reset();
    return {};
  };
}

Job algorithm_job(const std::string& name, const BenchCase& now, const OwnOperands& operands) {
  Options options;
  options.algorithm = name;
  options.threads = now.threads;
  const ConstMatrix A = operands.A(), B = operands.B();
  const Matrix C = operands.C();
  const Plan plan = make_plan(make_problem(A, B, C), options);
  return [plan, A, B, C] { run(plan, A, B, C); };
}

/// Answers of the peak: its seconds are those that the case's product would take at the peak.
Child::Answer peak_meter(int threads) {
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
      state->meter = std::make_unique<PeakMeter>(peak_chain(state->now.type), threads);
    } else if (verb == "turn") {
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

}  // namespace

double BenchCase::flops() const {
  return 2.0 * static_cast<double>(extents.M) * static_cast<double>(extents.N) *
         static_cast<double>(extents.K);
}

double BenchCase::bytes() const {
  const auto M = static_cast<double>(extents.M), N = static_cast<double>(extents.N),
             K = static_cast<double>(extents.K);
  return (M * K + K * N + M * N) * size_of(type);
}

SharedOperands::SharedOperands() : file_(memfd_create("tessera-bench", MFD_CLOEXEC)) {
  if (file_ < 0)
    throw Error(Category::resource, cat("cannot create shared memory: ", std::strerror(errno)));
}

SharedOperands::~SharedOperands() {
  unmap();
  close(file_);
}

void SharedOperands::unmap() {
  if (base_ != nullptr) munmap(base_, bytes_);
  base_ = nullptr;
}

void SharedOperands::map(const BenchCase& now, bool reserve) {
  unmap();
  case_ = now;
  bytes_ = std::max<std::size_t>(4096, Places(now).end);
  int failed = 0;
  if (reserve) {
    // Reserved now: a page that cannot be had later would be a signal instead of an error.
    do {
      failed =
          ftruncate(file_, 0) != 0 ? errno : posix_fallocate(file_, 0, static_cast<off_t>(bytes_));
    } while (failed == EINTR);
  }
  void* base = failed != 0 ? MAP_FAILED
                           : mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (base == MAP_FAILED)
    throw Error(Category::resource, cat("cannot get ", bytes_ >> 20, " MiB of shared memory: ",
                                        std::strerror(failed != 0 ? failed : errno)));
  base_ = static_cast<char*>(base);
}

void SharedOperands::prepare(const BenchCase& now, std::uint64_t seed) {
  map(now, true);
  std::mt19937_64 random(seed);
  const auto fill = [&random](char* at, DType type, index_t count) {
    visit_dtype(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      auto* values = reinterpret_cast<T*>(at);
      for (index_t i = 0; i < count; ++i) {
        const std::uint64_t bits = random();
        if constexpr (std::is_integral_v<T>) values[i] = static_cast<T>(bits % 17);
        else values[i] = T(static_cast<double>(bits >> 11) * 0x1p-52 - 1);
      }
    });
  };
  const Places places(now);
  fill(base_ + places.a, now.type, now.extents.M * now.extents.K);
  fill(base_ + places.b, now.type, now.extents.K * now.extents.N);
}

void SharedOperands::attach(const BenchCase& now) { map(now, false); }

void SharedOperands::spoil_result() {
  std::memset(C().data, 0xff, matrix_bytes(case_.extents.M, case_.extents.N, case_.type));
}

ConstMatrix SharedOperands::A() const {
  return view(base_ + Places(case_).a, case_.type, case_.extents.M, case_.extents.K);
}
ConstMatrix SharedOperands::B() const {
  return view(base_ + Places(case_).b, case_.type, case_.extents.K, case_.extents.N);
}
Matrix SharedOperands::C() const {
  return {base_ + Places(case_).c, case_.type,      case_.extents.M,
          case_.extents.N,         case_.extents.N, 1};
}

std::unique_ptr<Contestant> Contestant::algorithm(const std::string& name, int threads,
                                                  SharedOperands& shared) {
  const auto start = [name, threads, &shared] {
    return multiplier(
        [name](const BenchCase& now, const OwnOperands& x) { return algorithm_job(name, now, x); },
        threads, shared);
  };
  return std::unique_ptr<Contestant>(new Contestant(name, Kind::algorithm, threads, start));
}

std::unique_ptr<Contestant> Contestant::peer(const Peer& peer, int threads,
                                             SharedOperands& shared) {
  const auto start = [peer, threads, &shared] {
    const auto library = std::make_shared<PeerLibrary>(peer, threads);
    return multiplier(
        [library](const BenchCase& now, const OwnOperands& x) -> Job {
          return [library, now, A = x.A().data, B = x.B().data, C = x.C().data] {
            library->multiply(now.type, now.extents.M, now.extents.N, now.extents.K, A, B, C);
          };
        },
        threads, shared);
  };
  return std::unique_ptr<Contestant>(new Contestant(peer.name, Kind::peer, threads, start));
}

std::unique_ptr<Contestant> Contestant::peak(int threads) {
  return std::unique_ptr<Contestant>(
      new Contestant("peak", Kind::peak, threads, [threads] { return peak_meter(threads); }));
}

double Contestant::prepare(const BenchCase& now) {
  const auto& [M, N, K] = now.extents;
  return read_sample(child_.ask(cat("case ", now.type, " ", M, " ", N, " ", K))).seconds;
}

Sample Contestant::turn(double seconds) { return read_sample(child_.ask(cat("turn ", seconds))); }

void Contestant::release() { child_.ask("release"); }

}  // namespace tessera::cli
