// Timing of small parts of a product: see rehearsal.hpp.
#include "rehearsal.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "operand.hpp"
#include "process/clock.hpp"
#include "shell/progress.hpp"
#include "tessera/matmul/matmul.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::product {

namespace {

/// Shorter products finish at once, even with the slowest kernel.
constexpr double kShortFlops = 2e8;
/// The size of a part relative to the whole product.
constexpr double kShare = 1.0 / 32;
/// At least this many steps of k, so that the K loop dominates.
constexpr index_t kLeastDepth = 64;

/// The first rows of C with sums over the first `depth` steps of k.
struct Part {
  index_t rows, depth;
  double times;  ///< the whole is this many times the work

  /// Whole tiles for every thread, as in the whole product; then as deep as the fraction allows.
  Part(const Problem& p, index_t tile_rows) {
    const double M = static_cast<double>(p.M), K = static_cast<double>(p.K);
    const auto share = static_cast<index_t>(kShare * M);
    rows = std::min(p.M, std::max<index_t>(1, (share + tile_rows - 1) / tile_rows) * tile_rows);
    const double deep = kShare * M * K / static_cast<double>(rows);
    depth = std::min(p.K, std::max(kLeastDepth, static_cast<index_t>(deep)));
    times = M / static_cast<double>(rows) * K / static_cast<double>(depth);
  }
};

struct PartOperands {
  ConstMatrix A, B;
  Matrix C;
  PartOperands(const Part& part, const ConstMatrix& A_, const ConstMatrix& B_, const Array& C_)
      : A(rows_of(A_, 0, part.rows)),
        B(rows_of(B_, 0, part.depth)),
        C(rows_of(matrix_of(C_), 0, part.rows)) {
    A.cols = part.depth;
  }
};

double product_seconds(Executor& executor, const Plan& plan, const ConstMatrix& A,
                       const ConstMatrix& B, const Array& C) {
  const index_t tile_rows = std::max(1, plan.tile.bm) * index_t{plan.threads};
  const Part part(plan.problem, tile_rows);
  const PartOperands x(part, A, B, C);
  Plan small = plan;
  small.problem = make_problem(x.A, x.B, x.C, plan.problem.alpha);
  try {
    return executor.run(small, x.A, x.B, x.C) * part.times;
  } catch (const Error&) {
    return 0;  // the error is reported when the algorithm itself runs
  }
}

}  // namespace

double Rehearsal::total() const { return std::accumulate(steps.begin(), steps.end(), exact); }

Rehearsal rehearse(const shell::Context& context, Executor& executor,
                   const std::vector<std::optional<Plan>>& plans, const Problem& problem,
                   const ConstMatrix& A, const ConstMatrix& B, const Array& C, int threads) {
  const double rough = problem.flops() * 1e-9;
  Rehearsal out{rough, std::vector<double>(plans.size(), rough)};
  if (context.quiet || context.json || problem.flops() < kShortFlops) return out;
  const shell::Progress progress(context, "estimating", 0);
  const Part part(problem, 32 * index_t{threads});
  const PartOperands x(part, A, B, C);
  auto start = process::Clock::now();
  const Verifier verifier(make_problem(x.A, x.B, x.C), x.A, x.B, x.C, nullptr, threads);
  out.exact = process::seconds_since(start) * part.times;
  start = process::Clock::now();
  (void)verifier.check(x.C);
  const double check = process::seconds_since(start) * static_cast<double>(problem.M) /
                       static_cast<double>(part.rows);
  for (std::size_t i = 0; i < plans.size(); ++i)
    out.steps[i] = plans[i] ? product_seconds(executor, *plans[i], A, B, C) + check : 0;
  return out;
}

}  // namespace tessera::product
