// Complex products without complex kernels: with the real and imaginary parts of A as separate rows
// and those of B as separate columns, one real product gives the four sums of each element of C:
//
//     re = sum(re a * re b) - sum(im a * im b)        im = sum(re a * im b) + sum(im a * re b)
//
// Each sum is one chain of K fused multiply-adds in order of k; they are combined once, at the end,
// and then scaled. A conjugated factor changes signs only where they are combined, because it may
// be read in place. So the bits do not depend on the number of threads, the instruction set, the
// storage order or the neighbours. A factor that already has this layout is not copied.
#include <algorithm>
#include <atomic>
#include <optional>

#include "blas_product.hpp"
#include "cpu/workspace.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/team.hpp"

namespace tessera::blas {

namespace {

/// Stack space for small products; safe on stacks of 64 KiB.
constexpr std::size_t kStackBytes = 16 << 10;
/// Rows and columns of C at a time without memory: their sums take half of kStackBytes.
constexpr index_t kStackBlock = 16;
/// Rows (columns) of complex elements of a block for up to 4 threads; with more threads, blocks
/// keep the number of elements per thread.
constexpr index_t kBlock = 256;
/// Products of at most this extent fit on the stack with all copies.
constexpr index_t kTiny = 16;
/// Elements of a factor that are copied at a time; if kLeastLines lines exceed it, nothing is
/// copied.
constexpr index_t kMostCopied = index_t{1} << 21, kLeastLines = 64;
/// With so few lines of one factor, the product is bound by reading the other, which is copied in
/// blocks that stay in L2. Measured: bench/results/cpu/tuning.md.
constexpr index_t kNarrow = 32, kPieceBytes = index_t{1} << 18, kLeastPieceLines = 8;
/// Number of elements from which copying uses workers, and the estimated cost of copying one.
constexpr index_t kWorthSharing = index_t{1} << 15;
constexpr index_t kNanosecondsPerElement = 2;
/// Estimated complex multiply-adds per nanosecond of a thread.
constexpr index_t kProductsPerNanosecond = 16;

constexpr index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }

/// A complex factor as an operand of the real product. Its lines are the rows of A, or the columns
/// of B.
enum class Parts {
  in_place,  ///< line 2 i + p holds the parts p of line i, unpacked
  copied,    ///< the same, after copying
  apart      ///< two factors with strides twice as long: twice the work of packing, but no memory
};

template <class R>
struct Side {
  const R* data;
  index_t line, k;  ///< strides in reals, from complex element to complex element
  index_t lines;
  Parts parts;

  Side(const std::complex<R>* from, index_t line_stride, index_t k_stride, index_t count, index_t K)
      : data(reinterpret_cast<const R*>(from)),
        line(2 * line_stride),
        k(2 * k_stride),
        lines(count),
        parts(line_stride == 1 || count == 1                    ? Parts::in_place
              : std::min(count, kLeastLines) * K <= kMostCopied ? Parts::copied
                                                                : Parts::apart) {}
};

/// The blocks of the computation.
struct Blocks {
  index_t rows, cols;
  index_t ld;        ///< of copies, in reals
  bool independent;  ///< each thread takes its own blocks; else all threads share each block
};

template <class R>
Blocks blocks_for(const Side<R>& a, const Side<R>& b, index_t K, int threads) {
  Blocks out{};
  // Copied lines with power-of-two strides would conflict in the caches.
  out.ld = K + (K * sizeof(R) % 1024 == 0 ? 64 / static_cast<index_t>(sizeof(R)) : 0);
  out.independent = (a.parts == Parts::copied && b.lines <= kNarrow) ||
                    (b.parts == Parts::copied && a.lines <= kNarrow);
  index_t most = kBlock;
  while (!out.independent && most * most * 4 < kBlock * kBlock * threads) most += kBlock;
  const index_t piece = std::max<index_t>(kLeastPieceLines, kPieceBytes / (2 * K * sizeof(R)));
  const auto limited = [&](const Side<R>& side, index_t count) {
    if (side.parts == Parts::copied) {
      count = std::min(count, std::max(kLeastLines, kMostCopied / K));
      if (out.independent && side.lines > kNarrow) count = std::min(count, piece);
    }
    return std::min(count, side.lines);
  };
  out.rows = limited(a, most);
  out.cols = limited(b, most * most / out.rows);
  out.rows = limited(a, most * most / out.cols);
  return out;
}

/// Calls body(first, last) for parts of [0, count), on several threads where there is enough work.
template <class Body>
void share_out(index_t count, index_t elements_each, int threads, const Body& body) {
  const index_t elements = count * elements_each;
  if (threads == 1 || elements < kWorthSharing) return body(index_t{0}, count);
  const index_t part = std::max<index_t>(1, kWorthSharing / 4 / elements_each);
  std::atomic<index_t> next{0};
  run_team(threads, elements * kNanosecondsPerElement, [&](int) {
    for (index_t at; (at = next.fetch_add(part, std::memory_order_relaxed)) < count;)
      body(at, std::min(count, at + part));
  });
}

/// Works on blocks of C, one after the other, with its own memory.
template <class R>
class Worker {
 public:
  Worker(const Product<std::complex<R>>& product, const Side<R>& a, const Side<R>& b,
         const Blocks& blocks, int threads, R* stack)
      : p_(product), a_(a), b_(b), blocks_(blocks), threads_(threads) {
    const index_t a_size = a_.parts == Parts::copied ? 2 * blocks_.rows * blocks_.ld : 0;
    const index_t b_size = b_.parts == Parts::copied ? 2 * blocks_.cols * blocks_.ld : 0;
    const index_t size = a_size + b_size + 4 * blocks_.rows * blocks_.cols;
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(R);
    sums_ = stack;
    if (bytes > kStackBytes) {
      const std::size_t whole = cpu::Workspace::rounded(bytes);
      small_ = !memory_.emplace(whole);
      if (!small_) sums_ = memory_->take<R>(whole);
    }
    a_copy_ = sums_ + 4 * blocks_.rows * blocks_.cols;
    b_copy_ = a_copy_ + a_size;
    if (!small_) return;
    for (Side<R>* side : {&a_, &b_})
      if (side->parts == Parts::copied) side->parts = Parts::apart;
  }

  /// Rows i to i + rows, columns j to j + cols.
  void run(index_t i, index_t j, index_t rows, index_t cols) {
    if (!small_) return run_block(i, j, rows, cols);
    for (index_t n = 0; n < cols; n += kStackBlock)
      for (index_t m = 0; m < rows; m += kStackBlock)
        run_block(i + m, j + n, std::min(kStackBlock, rows - m), std::min(kStackBlock, cols - n));
  }

 private:
  void run_block(index_t i, index_t j, index_t rows, index_t cols) {
    if (a_.parts == Parts::copied && copied_i_ != i) copy(a_, a_copy_, i, rows), copied_i_ = i;
    if (b_.parts == Parts::copied && copied_j_ != j) copy(b_, b_copy_, j, cols), copied_j_ = j;
    multiply_parts(i, j, rows, cols);
    share_out(rows, 2 * cols, threads_, [&](index_t first, index_t last) {
      for (index_t row = first; row < last; ++row)
        finish(sums_ + 4 * row * cols, cols, p_.C + (i + row) * p_.ldc + j);
    });
  }

  /// Lines `first` and following, each as a line of its real and a line of its imaginary parts.
  void copy(const Side<R>& side, R* to, index_t first, index_t lines) {
    share_out(lines, 2 * p_.K, threads_, [&](index_t begin, index_t end) {
      for (index_t i = begin; i < end; ++i) {
        const R* from = side.data + (first + i) * side.line;
        R *re = to + 2 * i * blocks_.ld, *im = re + blocks_.ld;
        for (index_t k = 0; k < p_.K; ++k) re[k] = from[2 * k], im[k] = from[2 * k + 1];
      }
    });
  }

  /// sums (2 rows, 2 cols) = parts of A (2 rows, K) * parts of B (K, 2 cols).
  void multiply_parts(index_t i, index_t j, index_t rows, index_t cols) {
    cpu::Gemm<R> gemm;
    gemm.K = p_.K;
    gemm.threads = threads_;
    const index_t a_apart = a_.parts == Parts::apart ? 2 : 1;
    const index_t b_apart = b_.parts == Parts::apart ? 2 : 1;
    gemm.M = 2 * rows / a_apart, gemm.c_row = 2 * cols * a_apart;
    gemm.N = 2 * cols / b_apart, gemm.c_col = b_apart;
    const R* A = a_.data + i * a_.line;
    const R* B = b_.data + j * b_.line;
    gemm.a_row = a_apart == 2 ? a_.line : 1, gemm.a_col = a_.k;
    gemm.b_col = b_apart == 2 ? b_.line : 1, gemm.b_row = b_.k;
    if (a_.parts == Parts::copied) A = a_copy_, gemm.a_row = blocks_.ld, gemm.a_col = 1;
    if (b_.parts == Parts::copied) B = b_copy_, gemm.b_col = blocks_.ld, gemm.b_row = 1;
    for (index_t p = 0; p < a_apart; ++p) {
      for (index_t q = 0; q < b_apart; ++q) {
        gemm.A = A + p, gemm.B = B + q;
        gemm.C = sums_ + p * 2 * cols + q;
        cpu::gemm(gemm);
      }
    }
  }

  /// A row of C from two rows of sums.
  void finish(const R* sums, index_t cols, std::complex<R>* C) const {
    const R* imaginary = sums + 2 * cols;  // sums with the imaginary parts of A
    const ComplexSums conjugates{p_.A.conjugate, p_.B.conjugate};
    const auto sum = [&](index_t j) {
      return conjugates.combined(sums[2 * j], sums[2 * j + 1], imaginary[2 * j],
                                 imaginary[2 * j + 1]);
    };
    const std::complex<R> alpha = p_.alpha, beta = p_.beta;
    if (alpha == R{1} && beta == R{0}) {
      for (index_t j = 0; j < cols; ++j) C[j] = sum(j);
    } else if (beta == R{0}) {
      for (index_t j = 0; j < cols; ++j) C[j] = scaled(alpha, sum(j));
    } else {
      for (index_t j = 0; j < cols; ++j)
        C[j] = (alpha == R{1} ? sum(j) : scaled(alpha, sum(j))) + scaled(beta, C[j]);
    }
  }

  const Product<std::complex<R>>& p_;
  Side<R> a_, b_;
  const Blocks& blocks_;
  const int threads_;
  std::optional<cpu::Workspace> memory_;  ///< where the stack is too small
  bool small_ = false;                    ///< no memory: tiny blocks on the stack
  R *sums_, *a_copy_, *b_copy_;
  index_t copied_i_ = -1, copied_j_ = -1;  // the parts that have been copied
};

/// The whole product at once, single-threaded.
template <class R>
[[gnu::noinline]] void multiply_tiny(const Product<std::complex<R>>& p) {
  alignas(64) R stack[kStackBytes / sizeof(R)];
  const Side<R> a(p.A.data, p.A.row, p.A.col, p.M, p.K), b(p.B.data, p.B.col, p.B.row, p.N, p.K);
  const Blocks all{p.M, p.N, p.K, false};
  Worker<R>(p, a, b, all, 1, stack).run(0, 0, p.M, p.N);
}

}  // namespace

template <class R>
void multiply_complex(const Product<std::complex<R>>& p) {
  if (p.M <= kTiny && p.N <= kTiny && p.K <= kTiny) return multiply_tiny(p);
  const int threads = useful_threads(p.threads > 0 ? p.threads : default_threads());
  const Side<R> a(p.A.data, p.A.row, p.A.col, p.M, p.K), b(p.B.data, p.B.col, p.B.row, p.N, p.K);
  const Blocks blocks = blocks_for(a, b, p.K, threads);
  const index_t down = ceil_div(p.M, blocks.rows), across = ceil_div(p.N, blocks.cols);
  std::atomic<index_t> next{0};
  const auto work = [&](int inner_threads) {
    alignas(64) R stack[kStackBytes / sizeof(R)];
    Worker<R> worker(p, a, b, blocks, inner_threads, stack);
    for (index_t at; (at = next.fetch_add(1, std::memory_order_relaxed)) < down * across;) {
      // Column by column of blocks where B is copied, so that each part of B is copied once.
      const bool down_first = b.parts == Parts::copied;
      const index_t i = (down_first ? at % down : at / across) * blocks.rows;
      const index_t j = (down_first ? at / down : at % across) * blocks.cols;
      worker.run(i, j, std::min(blocks.rows, p.M - i), std::min(blocks.cols, p.N - j));
    }
  };
  if (!blocks.independent || down * across == 1) return work(threads);
  run_team(static_cast<int>(std::min<index_t>(threads, down * across)),
           bounded_product(p.M + p.N, p.K, kNanosecondsPerElement) +
               bounded_product(p.M, p.N, p.K) / kProductsPerNanosecond,
           [&](int) { work(1); });
}

template void multiply_complex(const Product<std::complex<float>>&);
template void multiply_complex(const Product<std::complex<double>>&);

}  // namespace tessera::blas
