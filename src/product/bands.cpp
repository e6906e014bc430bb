// Bands: see bands.hpp.
#include "bands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "executor.hpp"
#include "operand.hpp"
#include "shell/progress.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/matmul/matmul.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::product {

namespace {

/// Bounds the time of the first band: the packed path is at least ten times as fast as the slowest
/// kernels on any CPU.
constexpr double kFirstBandFlops = 2e8, kFirstPackedBandFlops = 2e9;
/// Short bands let progress advance. But the packed path packs all of B for each band, which costs
/// noticeable time if a band has few rows.
constexpr double kBandSeconds = 0.5, kMostBandSeconds = 10;
constexpr index_t kPackedRows = 1024;
/// The size of a band that goes to a file; at most an eighth of the memory. Larger than kBandBytes
/// only to reach a thousand rows. Measured: bench/results/cpu/tuning.md.
constexpr index_t kBandBytes = 64000000, kMostBandBytes = 512000000;
/// Memory for the verifier of one band, and its memory per element.
constexpr index_t kVerifierMemory = 512000000;

/// The plan for a part of the rows.
Plan for_rows(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C) {
  Plan out = plan;
  // The whole product decides the order of summation.
  if (!sums_in_lanes(plan)) out.arithmetic = Arithmetic::chain;
  out.problem = make_problem(A, B, C, plan.problem.alpha, plan.problem.beta, plan.problem.epilogue);
  return out;
}

/// Copies rows of C0 into the rows of C that are computed next.
void copy_into(const ConstMatrix& from, const Matrix& to, int threads) {
  visit_dtype(to.dtype, [&]<class T>(TypeTag<T>) {
    const T* const source = static_cast<const T*>(from.data);
    T* const target = static_cast<T*>(to.data);
    parallel_for(to.rows, threads, [&](index_t i) {
      for (index_t j = 0; j < to.cols; ++j)
        target[i * to.row_stride + j * to.col_stride] =
            source[i * from.row_stride + j * from.col_stride];
    });
  });
}

/// Checks every element of some rows of C, the first of which is `row`. Throws Error(failed) if an
/// element exceeds its error bound.
void verify_rows(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B,
                 const ConstMatrix& C0, const Matrix& C, index_t row, Outcome& outcome,
                 const std::function<void(index_t, index_t)>& progress) {
  const Verifier verifier(plan.problem, A, B, C0, nullptr, plan.threads, progress);
  const Verification found =
      verifier.check(C, find_algorithm(plan.algorithm).arithmetic(plan.problem.in));
  outcome.max_error_ratio = std::max(outcome.max_error_ratio, found.max_error_ratio);
  outcome.same_bits = outcome.same_bits && found.same_bits;
  if (found.within_bound) return;
  throw Error(Category::failed,
              fmt::format("the result is wrong at ({},{}) and {} other elements", row + found.row,
                          found.col, found.outside - 1),
              fmt::format("{}", found.expected), fmt::format("{}", found.got),
              "nothing was written; please report it");
}

/// How many rows to compute at once: whole block tiles for every thread if memory allows.
index_t band_of(const Plan& plan, double wanted, index_t most) {
  const index_t step = std::max<index_t>(1, plan.tile.bm) * plan.threads;
  const auto rows = static_cast<index_t>(std::min(wanted, static_cast<double>(most)));
  return std::clamp<index_t>(rows / step * step, std::min(step, most), most);
}

/// Adapts the next band to `rows` rows that took `seconds`.
index_t next_band(const Plan& plan, index_t rows, double seconds, index_t most) {
  const double rate = static_cast<double>(rows) / std::max(1e-6, seconds);
  const double least = plan.algorithm == "packed" ? static_cast<double>(kPackedRows) : 0;
  return band_of(plan, std::max(rate * kBandSeconds, std::min(least, rate * kMostBandSeconds)),
                 most);
}

}  // namespace

Target::Target(const std::string& path, DType type, index_t rows, index_t cols,
               const WriteOptions& options)
    : type_(type), cols_(cols) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  const bool on_disk = path != "-" && (kind == std::filesystem::file_type::regular ||
                                       kind == std::filesystem::file_type::not_found);
  if (on_disk && output_format(path, options.format) == Format::npy)
    streamed_.emplace(path, type, std::vector<index_t>{rows, cols}, options.overwrite);
  else array_.emplace(path, type, std::vector<index_t>{rows, cols}, options);
}

index_t Target::most_rows(index_t rows) const {
  if (!streamed_) return rows;
  const index_t row_bytes = std::max<index_t>(1, cols_ * size_of(type_));
  const index_t most = std::clamp(available_memory() / 8, kBandBytes, kMostBandBytes);
  const index_t bytes = std::clamp(kPackedRows * row_bytes, kBandBytes, most);
  return std::clamp<index_t>(bytes / row_bytes, 1, rows);
}

Matrix Target::begin(index_t first, index_t count) {
  if (array_) return rows_of(matrix_of(array_->array()), first, count);
  if (!buffer_ || buffer_->rows() < count) {
    buffer_.reset();  // first, so that there are never two buffers
    buffer_ = make_array(type_, {count, cols_});
  }
  return rows_of(matrix_of(*buffer_), 0, count);
}

void Target::end(const Matrix& rows) {
  if (streamed_) streamed_->append(rows.data, rows.rows * rows.cols);
}

Outcome multiply_in_bands(const shell::Context& context, const MultiplyRequest& request,
                          const Plan& plan, const Operands& in, Target& target) {
  const ConstMatrix A = const_matrix_of(in.a), B = const_matrix_of(in.b);
  const index_t rows_in_all = in.M();
  const double all = static_cast<double>(rows_in_all), flops = plan.problem.flops();
  index_t most = target.most_rows(std::max<index_t>(1, rows_in_all));
  if (request.verify) {
    const index_t row_bytes = kVerifierBytes * std::max<index_t>(1, in.N());
    most = std::min(most, std::max<index_t>(1, kVerifierMemory / row_bytes));
  }
  shell::Progress progress(context, request.verify ? "multiplying and verifying" : "multiplying",
                           all);
  Outcome out;
  Executor executor;
  // The first band shows how many rows take half a second.
  const double first = plan.algorithm == "packed" ? kFirstPackedBandFlops : kFirstBandFlops;
  index_t band = flops <= first ? most : band_of(plan, first / flops * all, most);
  for (index_t row = 0; row < rows_in_all;) {
    const index_t rows = std::min(band, rows_in_all - row);
    progress.update(static_cast<double>(row), static_cast<double>(rows));
    const Matrix c = target.begin(row, rows);
    const ConstMatrix a = rows_of(A, row, rows);
    const bool adds = plan.problem.beta != 0;
    const ConstMatrix c0 = adds ? rows_of(const_matrix_of(in.c0), row, rows) : ConstMatrix(c);
    if (adds) copy_into(c0, c, plan.threads);
    const Plan part = for_rows(plan, a, B, c);
    const double seconds = executor.run(part, a, B, c);
    out.seconds += seconds;
    if (request.verify) {
      verify_rows(part, a, B, c0, c, row, out, [&](index_t done, index_t total) {
        const double share =
            static_cast<double>(done) / static_cast<double>(std::max<index_t>(1, total));
        progress.update(static_cast<double>(row) + static_cast<double>(rows) * share);
      });
    }
    target.end(c);
    row += rows;
    band = next_band(plan, rows, seconds, most);
  }
  return out;
}

}  // namespace tessera::product
