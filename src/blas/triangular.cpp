// Solves with a triangle and multiplies by one: halves of it, down to blocks whose columns of X are
// copied into a panel and substituted by the kernels of cpu/substitution.hpp.
#include "triangular.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "cpu/kernels.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/team.hpp"

namespace tessera::blas {

namespace {

template <class T>
constexpr bool kPairs = !std::is_floating_point_v<T>;
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
using Tile = cpu::TriangularTile<Real<T>>;

/// Rows of T in a block.
template <class T>
constexpr index_t kLeafRows = Tile<T>::kRows / (kPairs<T> ? 2 : 1);
/// Columns of X that are worth a work item, and estimated multiply-adds per nanosecond of a thread.
constexpr index_t kLeastColumns = 64, kMultiplyAddsPerNanosecond = 8;

template <class R>
const cpu::Kernels<R, R, R>& kernels() {
  if constexpr (std::is_same_v<R, float>) return cpu::kernel_set().f32;
  else return cpu::kernel_set().f64;
}

template <class T>
T element(const Triangular<T>& call, index_t row, index_t col) {
  const T value = call.t[row * call.t_row + col * call.t_col];
  if constexpr (kPairs<T>) return call.conjugate ? std::conj(value) : value;
  else return value;
}

/// The factor of a row of X: the diagonal element, or its reciprocal.
template <class T>
T row_factor(const Triangular<T>& call, index_t row, bool solves) {
  if (call.unit) return T{1};
  const T value = element(call, row, row);
  return solves ? T{1} / value : value;
}

template <class T>
bool is_normal(T factor) {
  if constexpr (kPairs<T>) {
    const auto size = std::abs(factor.real()) + std::abs(factor.imag());
    return std::isnormal(size) && std::isnormal(1 / size);
  } else {
    return std::isnormal(factor) && std::isnormal(1 / factor);
  }
}

/// A block on the diagonal whose rows are stored so that each depends on those before it alone: in
/// reverse, if the block is an upper triangle.
template <class T>
class Block {
 public:
  using R = Real<T>;

  Block(const Triangular<T>& call, index_t first, index_t rows, bool solves)
      : call_(call), first_(first), rows_(static_cast<int>(rows)), solves_(solves) {
    tile_.rows = (rows_ * kStep + 3) / 4 * 4;
    tile_.t = t_, tile_.factor = factor_, tile_.x = x_, tile_.x_row = Tile<T>::kCols;
    std::fill_n(t_, tile_.rows * Tile<T>::kRows, R{0});
    std::fill_n(factor_, Tile<T>::kRows, R{1});
    for (int i = 0; i < rows_; ++i) {
      const T factor = row_factor(call, row(i), solves);
      divides_ = divides_ || (solves && !call.unit && !is_normal(factor));
      set(factor_ + kStep * i, factor);
      for (int l = 0; l < i; ++l) store(i, l, element(call, row(i), row(l)));
    }
  }

  /// Columns begin to begin + columns of X.
  void run(index_t begin, int columns, T alpha) {
    T* const x = call_.x + begin * call_.x_col;
    if (divides_) return divide(x, columns, alpha);
    const int vectors = 2 * kernels<R>().lanes;
    tile_.cols = (columns + vectors - 1) / vectors * vectors;
    load(x, columns);
    if (solves_ && alpha != T{1}) scale(alpha);
    kernels<R>().substitute(tile_, solves_, kPairs<T>);
    if (!solves_ && alpha != T{1}) scale(alpha);
    save(x, columns);
  }

 private:
  static constexpr int kStep = kPairs<T> ? 2 : 1;

  index_t row(int i) const { return call_.lower ? first_ + i : first_ + rows_ - 1 - i; }
  static void set(R* to, T value) { std::memcpy(to, &value, sizeof value); }
  /// The part of T that is subtracted has its sign changed.
  void store(int i, int l, T value) {
    if (solves_) value = -value;
    R* const to = t_ + kStep * (i * Tile<T>::kRows + l);
    if constexpr (kPairs<T>) {
      to[0] = value.real(), to[1] = -value.imag();
      to[Tile<T>::kRows] = value.imag(), to[Tile<T>::kRows + 1] = value.real();
    } else {
      *to = value;
    }
  }
  R* panel_row(int i) { return x_ + kStep * i * Tile<T>::kCols; }
  const T* x_row_at(const T* x, int i) const { return x + row(i) * call_.x_row; }

  /// Missing columns are copies of the first, which raise no floating-point exception of their own.
  void load(const T* x, int columns) {
    if constexpr (!kPairs<T>) {
      if (call_.x_row == 1 && call_.x_col != 1 && kernels<R>().transpose != nullptr) {
        R* const to = x_;
        kernels<R>().transpose(to, Tile<T>::kCols, x + std::min(row(0), row(rows_ - 1)), columns,
                               rows_, call_.x_col);
        if (!call_.lower) reverse(tile_.cols);
      } else {
        for (int i = 0; i < rows_; ++i)
          for (int j = 0; j < columns; ++j) panel_row(i)[j] = x_row_at(x, i)[j * call_.x_col];
      }
    } else {
      for (int i = 0; i < rows_; ++i) {
        R *const re = panel_row(i), *const im = re + Tile<T>::kCols;
        const T* const from = x_row_at(x, i);
        for (int j = 0; j < columns; ++j)
          re[j] = from[j * call_.x_col].real(), im[j] = from[j * call_.x_col].imag();
      }
    }
    for (int i = 0; i < rows_ * kStep; ++i) {
      R* const to = x_ + i * Tile<T>::kCols;
      std::fill(to + columns, to + tile_.cols, to[0]);
    }
    for (int i = rows_ * kStep; i < tile_.rows; ++i)
      std::fill_n(x_ + i * Tile<T>::kCols, tile_.cols, R{0});
  }

  void save(T* x, int columns) {
    if constexpr (!kPairs<T>) {
      if (call_.x_row == 1 && call_.x_col != 1 && kernels<R>().transpose != nullptr) {
        if (!call_.lower) reverse(tile_.cols);
        kernels<R>().transpose(x + std::min(row(0), row(rows_ - 1)), call_.x_col, x_, rows_,
                               columns, Tile<T>::kCols);
        return;
      }
    }
    for (int i = 0; i < rows_; ++i) {
      const R *const re = panel_row(i), *const im = re + Tile<T>::kCols;
      T* const to = x + row(i) * call_.x_row;
      for (int j = 0; j < columns; ++j) {
        if constexpr (kPairs<T>) to[j * call_.x_col] = {re[j], im[j]};
        else to[j * call_.x_col] = re[j];
      }
    }
  }
  void reverse(int cols) {
    for (int i = 0; i < rows_ / 2; ++i)
      std::swap_ranges(panel_row(i), panel_row(i) + cols, panel_row(rows_ - 1 - i));
  }
  void scale(T alpha) {
    for (int i = 0; i < rows_; ++i) {
      R *const re = panel_row(i), *const im = re + Tile<T>::kCols;
      for (int j = 0; j < tile_.cols; ++j) {
        if constexpr (kPairs<T>) {
          const T value = scaled(alpha, T{re[j], im[j]});
          re[j] = value.real(), im[j] = value.imag();
        } else {
          re[j] *= alpha;
        }
      }
    }
  }
  /// Element by element, for diagonals without a normal reciprocal.
  void divide(T* x, int columns, T alpha) const {
    for (int j = 0; j < columns; ++j) {
      T* const column = x + j * call_.x_col;
      for (int i = 0; i < rows_; ++i) {
        T& to = column[row(i) * call_.x_row];
        if (alpha != T{1}) to = scaled(alpha, to);
        for (int l = 0; l < i; ++l)
          to -= scaled(element(call_, row(i), row(l)), column[row(l) * call_.x_row]);
        to /= element(call_, row(i), row(i));
      }
    }
  }

  const Triangular<T>& call_;
  index_t first_;
  int rows_;
  bool solves_, divides_ = false;
  Tile<T> tile_;
  alignas(64) R t_[Tile<T>::kRows * Tile<T>::kRows], factor_[Tile<T>::kRows];
  alignas(64) R x_[Tile<T>::kRows * Tile<T>::kCols];
};

/// x(to) = beta x(to) + alpha T(to, from) x(from), where T has no diagonal.
template <class T>
void multiply_beside(const Triangular<T>& call, index_t to, index_t to_rows, index_t from,
                     index_t from_rows, T alpha, T beta) {
  Factor<T> t{call.t + to * call.t_row + from * call.t_col, call.t_row, call.t_col, call.conjugate};
  Factor<T> x{call.x + from * call.x_row, call.x_row, call.x_col, false};
  T* const C = call.x + to * call.x_row;
  Product<T> p{to_rows, call.columns, from_rows,        t, x, C, call.x_row, alpha,
               beta,    call.threads, Arithmetic::chain};
  if (call.x_col != 1) {  // the transposes, so that rows of C are contiguous
    std::swap(p.M, p.N), std::swap(p.A, p.B);
    for (Factor<T>* factor : {&p.A, &p.B}) std::swap(factor->row, factor->col);
    p.ldc = call.x_col;
  }
  multiply(p);
}

/// Not inline: a block takes 24 KiB of the stack, which recursion must not add up.
template <class T>
[[gnu::noinline]] void run_block(const Triangular<T>& call, index_t first, index_t rows, T alpha,
                                 bool solves) {
  Block<T> block(call, first, rows, solves);
  for (index_t j = 0; j < call.columns; j += Tile<T>::kCols)
    block.run(j, static_cast<int>(std::min<index_t>(Tile<T>::kCols, call.columns - j)), alpha);
}

/// Rows first to first + rows of X, with the square of T on the diagonal there.
template <class T>
void run(const Triangular<T>& call, index_t first, index_t rows, T alpha, bool solves) {
  if (rows <= kLeafRows<T>) return run_block(call, first, rows, alpha, solves);
  const index_t half = (rows / 2 + kLeafRows<T> - 1) / kLeafRows<T> * kLeafRows<T>;
  // The rows that depend on no others, and those that depend on these.
  index_t free = first, free_rows = half, bound = first + half, bound_rows = rows - half;
  if (!call.lower) std::swap(free, bound), std::swap(free_rows, bound_rows);
  if (solves) {
    run(call, free, free_rows, alpha, solves);
    multiply_beside(call, bound, bound_rows, free, free_rows, T{-1}, alpha);
    run(call, bound, bound_rows, T{1}, solves);
  } else {
    run(call, bound, bound_rows, alpha, solves);
    multiply_beside(call, bound, bound_rows, free, free_rows, alpha, T{1});
    run(call, free, free_rows, alpha, solves);
  }
}

/// Threads share the columns of X; where there are too few, they share each product.
template <class T>
void run(Triangular<T> call, bool solves) {
  if (call.n <= 0 || call.columns <= 0) return;
  if (call.alpha == T{0}) {
    for (index_t i = 0; i < call.n; ++i)
      for (index_t j = 0; j < call.columns; ++j) call.x[i * call.x_row + j * call.x_col] = T{0};
    return;
  }
  const int threads =
      call.threads == 1 ? 1 : useful_threads(call.threads > 0 ? call.threads : default_threads());
  if (threads == 1 || call.columns < kLeastColumns * threads)
    return run(call, index_t{0}, call.n, call.alpha, solves);
  const index_t line = Tile<T>::kCols,
                each = std::max(kLeastColumns, (call.columns / (2 * threads) + line) / line * line);
  const std::int64_t ns = bounded_product(call.n, call.n, call.columns) * (kPairs<T> ? 4 : 1) /
                          (2 * kMultiplyAddsPerNanosecond);
  std::atomic<index_t> next{0};
  run_team(threads, ns, [&](int) {
    Triangular<T> part = call;
    part.threads = 1;
    for (index_t j; (j = next.fetch_add(each, std::memory_order_relaxed)) < call.columns;) {
      part.x = call.x + j * call.x_col, part.columns = std::min(each, call.columns - j);
      run(part, index_t{0}, call.n, call.alpha, solves);
    }
  });
}

}  // namespace

template <class T>
void solve_triangular(const Triangular<T>& call) {
  run(call, true);
}
template <class T>
void multiply_triangular(const Triangular<T>& call) {
  run(call, false);
}

#define TESSERA_TYPE(T)                                 \
  template void solve_triangular(const Triangular<T>&); \
  template void multiply_triangular(const Triangular<T>&);
TESSERA_TYPE(float)
TESSERA_TYPE(double)
TESSERA_TYPE(std::complex<float>)
TESSERA_TYPE(std::complex<double>)
#undef TESSERA_TYPE

}  // namespace tessera::blas
