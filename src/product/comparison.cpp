// One product by many algorithms: see comparison.hpp.
#include "comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "executor.hpp"
#include "operand.hpp"
#include "process/clock.hpp"
#include "rehearsal.hpp"
#include "shell/progress.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/random.hpp"
#include "tessera/core/text.hpp"

namespace tessera::product {

namespace {

/// Element number `at`: a function of seed and position alone, so that the number of threads does
/// not matter.
double value_at(const std::string& data, DType type, std::uint64_t stream, index_t at) {
  const std::uint64_t bits = random_bits(stream + static_cast<std::uint64_t>(at), 0);
  if (type == DType::u8) return static_cast<double>(bits % 256);
  if (type == DType::i8) return static_cast<double>(bits % 256) - 128;
  if (data == "integers") return static_cast<double>(bits % 17) - 8;
  const double unit = static_cast<double>(bits >> 11) * 0x1p-52 - 1;  // [-1, 1)
  if (data == "uniform") return unit;
  const int widest = type == DType::f16 ? 8 : 24;  // graded: magnitudes over many powers of two
  return std::ldexp(unit,
                    -static_cast<int>(random_bits(bits, 0) % static_cast<std::uint64_t>(widest)));
}

/// C before the product: C0, or NaN, which no product may leave unchanged.
void reset(const Array& C, const Array& C0, double beta) {
  if (C.count() == 0) return;
  if (beta != 0) std::memcpy(C.writable(), C0.data(), static_cast<std::size_t>(C.bytes()));
  else
    std::memset(C.writable(), C.dtype() == DType::i32 ? 0x5a : 0xff,
                static_cast<std::size_t>(C.bytes()));  // NaN
}

/// A longer product runs once: the extra cost of a first call is then small.
constexpr double kLongSeconds = 0.05;
/// A shorter one is repeated for this time.
constexpr double kTimedSeconds = 0.002;

/// Multiplies into C. A short product is repeated, each time from the original C, and the fastest
/// time counts. The first of several runs does not count: it wakes the threads, touches memory for
/// the first time and fills the caches.
void time_runs(Compared& out, Executor& executor, const Plan& plan, const ConstMatrix& A,
               const ConstMatrix& B, const Array& C, const Array& C0) {
  const auto one_run = [&] {
    reset(C, C0, plan.problem.beta);
    return executor.run(plan, A, B, matrix_of(C));
  };
  out.seconds = one_run();
  out.runs = 1;
  if (out.seconds > kLongSeconds) return;
  const auto start = process::Clock::now();
  out.seconds = one_run();
  for (; process::seconds_since(start) < kTimedSeconds; ++out.runs)
    out.seconds = std::min(out.seconds, one_run());
}

Compared compare_one(const Algorithm& algorithm, Executor& executor, const Plan& plan,
                     const ConstMatrix& A, const ConstMatrix& B, const Array& C, const Array& C0,
                     const Verifier& verifier) {
  Compared out{
      .algorithm = &algorithm, .status = Status::ok, .tile = plan.tile, .device = plan.device};
  try {
    time_runs(out, executor, plan, A, B, C, C0);
    out.gflops = out.seconds > 0 ? plan.problem.flops() / out.seconds * 1e-9 : 0;
    out.found = verifier.check(const_matrix_of(C), algorithm.arithmetic(plan.problem.in));
  } catch (const std::bad_alloc&) {
    out.status = Status::failed;
    out.reason = "not enough memory";
    return out;
  } catch (const std::exception& error) {
    out.status = Status::failed;
    out.reason = error.what();
    return out;
  }
  constexpr std::string_view requested = "requested; ";  // a plan's reason, and what it adds
  if (plan.reason.starts_with(requested)) out.reason = plan.reason.substr(requested.size());
  out.is_replaced = out.reason.find(" takes its place.") != std::string::npos;
  if (out.is_replaced) out.tile = {};
  const bool promised = algorithm.promises_bits(plan.problem.in);
  if (!out.found.within_bound) {
    out.status = Status::out_of_bound;
    out.reason =
        fmt::format("{} of {} elements beyond the error bound, first C({},{}): expected {}, got {}",
                    out.found.outside, C.count(), out.found.row, out.found.col, out.found.expected,
                    out.found.got);
  } else if (promised && !out.found.same_bits) {
    out.status = Status::different_bits;
    out.reason =
        "within the error bound, but the bits differ from those that this algorithm promises";
  }
  return out;
}

}  // namespace

void fill(const Array& out, const std::string& data, std::uint64_t stream, int threads) {
  const index_t count = out.count(), piece = 1 << 16;
  visit_dtype(out.dtype(), [&]<class T>(TypeTag<T>) {
    T* const to = static_cast<T*>(out.writable());
    parallel_for((count + piece - 1) / piece, threads, [&](index_t p) {
      for (index_t i = p * piece; i < std::min(count, (p + 1) * piece); ++i)
        to[i] = convert<T>(value_at(data, out.dtype(), stream, i));
    });
  });
}

void compare_all(const shell::Context& context, Candidates& candidates, const Array& A,
                 const Array& B, const Array& C, const Array& C0, const Problem& problem,
                 int threads) {
  Executor executor;
  const ConstMatrix a = const_matrix_of(A), b = const_matrix_of(B);
  const Rehearsal expected =
      rehearse(context, executor, candidates.plans, problem, a, b, C, threads);
  shell::Progress progress(context, "exact product", expected.total(), shell::Pace::Unit::seconds);
  progress.update(0, expected.exact);
  const Verifier verifier(
      problem, a, b, const_matrix_of(C0), nullptr, threads, [&](index_t done, index_t total) {
        const double share =
            static_cast<double>(done) / static_cast<double>(std::max<index_t>(1, total));
        progress.update(expected.exact * share);
      });
  double done = expected.exact;
  for (std::size_t i = 0; i < candidates.plans.size(); ++i) {
    if (!candidates.plans[i]) continue;
    Compared& result = candidates.results[i];
    progress.label(std::string(result.algorithm->name));
    progress.update(done, expected.steps[i]);
    result = compare_one(*result.algorithm, executor, *candidates.plans[i], a, b, C, C0, verifier);
    done += expected.steps[i];
  }
}

}  // namespace tessera::product
