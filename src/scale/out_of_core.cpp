// The loops of a schedule, and the reader that stays one slice ahead of them.
#include "out_of_core.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "matmul/packed.hpp"
#include "tessera/core/finish.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera::scale {

namespace {

/// Bytes of C that are finished and written at a time.
constexpr index_t kFinished = 1 << 20;

/// True if there is a product with this type of C.
template <class T>
inline constexpr bool kIsProduct =
    std::is_same_v<T, double> || std::is_same_v<T, float> || std::is_same_v<T, f16> ||
    std::is_same_v<T, bf16> || std::is_same_v<T, std::int32_t>;

/// Row and column of a block among the blocks of C.
struct BlockPlace {
  index_t i, j;
};
BlockPlace place_of(const Schedule& s, index_t block) {
  if (s.resident == Resident::columns_of_b)
    return {block % s.blocks_down(), block / s.blocks_down()};
  return {block / s.blocks_across(), block % s.blocks_across()};
}

/// Multiplies slice k of block (i, j) of C; loads A and B unless the previous step loaded them.
struct Step {
  index_t block, i, j, k;
  bool loads_a, loads_b, first, last;
};

/// The steps in order; each is computed on request, since there may be many.
class Steps {
 public:
  Steps(const Schedule& s, const std::function<bool(index_t)>& is_finished)
      : s_(s), slices_(std::max<index_t>(1, s.slices())) {
    for (index_t block = 0; block < s.blocks_down() * s.blocks_across(); ++block)
      if (!is_finished(block)) blocks_.push_back(block);
  }
  index_t count() const { return static_cast<index_t>(blocks_.size()) * slices_; }
  Step at(index_t number) const {
    const Place now = place(number);
    Step out{now.block, now.i, now.j, now.k, true, true, now.k == 0, now.k + 1 == slices_};
    if (number == 0) return out;
    const Place before = place(number - 1);
    out.loads_a = before.i != now.i || before.k != now.k;
    out.loads_b = before.j != now.j || before.k != now.k;
    return out;
  }

 private:
  struct Place {
    index_t block, i, j, k;
  };
  Place place(index_t number) const {
    const index_t block = blocks_[static_cast<std::size_t>(number / slices_)];
    const BlockPlace at = place_of(s_, block);
    return {block, at.i, at.j, number % slices_};
  }
  const Schedule& s_;
  index_t slices_;
  std::vector<index_t> blocks_;  ///< unfinished blocks
};

/// Buffers that one thread fills and another one empties, in a ring.
class Slots {
 public:
  Slots(DType type, index_t count, index_t elements) : count_(count) {
    for (index_t n = 0; n < count; ++n) arrays_.push_back(make_array(type, {elements}));
  }
  const Array& slot(index_t load) const { return arrays_[static_cast<std::size_t>(load % count_)]; }
  index_t filled = 0, released = 0;
  bool is_full() const { return filled - released >= count_; }

 private:
  index_t count_;
  std::vector<Array> arrays_;
};

/// A block of a matrix in a buffer, in the order of its file, so that reading needs no reordering.
Array matrix_in(const Array& slot, const MatrixFile& file, index_t rows, index_t cols) {
  const bool in_rows = file.order() == Order::c;
  return {slot.dtype(),
          {rows, cols},
          in_rows ? std::vector<index_t>{cols, 1} : std::vector<index_t>{1, rows},
          slot.writable(),
          nullptr};
}

ConstMatrix viewed(const Array& m) {
  return {m.data(), m.dtype(), m.rows(), m.cols(), m.row_stride(), m.col_stride()};
}

void read_block(const Source& source, const MatrixBlock& block, const Array& to) {
  if (!source.examine) return source.file->read(block, to);
  source.file->read_pieces(block, [&](const Array& piece, index_t row, index_t col) {
    source.examine(piece, row, col);
    const index_t first = (row - block.row) * to.row_stride() + (col - block.col) * to.col_stride();
    convert_into(piece, Array(to.dtype(), piece.shape(), to.strides(),
                              static_cast<std::byte*>(to.writable()) + first * size_of(to.dtype()),
                              nullptr));
  });
}

class Runner {
 public:
  explicit Runner(const OutOfCore& product)
      : p_(product),
        s_(product.schedule),
        steps_(s_, p_.is_finished),
        a_(product.types.in_a, s_.resident == Resident::rows_of_a ? 1 : 2, s_.block_m * s_.depth),
        b_(product.types.in_b, s_.resident == Resident::columns_of_b ? 1 : 2,
           s_.block_n * s_.depth),
        sums_(make_array(product.types.sum, {s_.block_m * s_.block_n})) {}

  void run() {
    std::thread reader([this] { read_all(); });
    try {
      multiply_all();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    reader.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  index_t rows(index_t i) const { return std::min(s_.block_m, s_.shape.M - i * s_.block_m); }
  index_t cols(index_t j) const { return std::min(s_.block_n, s_.shape.N - j * s_.block_n); }
  index_t depth(index_t k) const { return std::min(s_.depth, s_.shape.K - k * s_.depth); }
  Array matrix_a(const Step& t, index_t load) const {
    return matrix_in(a_.slot(load), *p_.a.file, rows(t.i), depth(t.k));
  }
  Array matrix_b(const Step& t, index_t load) const {
    return matrix_in(b_.slot(load), *p_.b.file, depth(t.k), cols(t.j));
  }

  // ---- the reader ------------------------------------------------------------------------------

  /// Waits for a free buffer and fills it; false if the work has ended.
  template <class Fill>
  bool load(Slots& slots, const Fill& fill) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || !slots.is_full(); });
    if (stopped_) return false;
    const index_t load = slots.filled;
    lock.unlock();
    fill(load);
    lock.lock();
    ++slots.filled;
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  void read_all() {
    try {
      for (index_t n = 0; n < steps_.count(); ++n) {
        const Step t = steps_.at(n);
        const auto fill_a = [&](index_t load) {
          read_block(p_.a, {t.i * s_.block_m, t.k * s_.depth, rows(t.i), depth(t.k)},
                     matrix_a(t, load));
        };
        const auto fill_b = [&](index_t load) {
          read_block(p_.b, {t.k * s_.depth, t.j * s_.block_n, depth(t.k), cols(t.j)},
                     matrix_b(t, load));
        };
        if (t.loads_a && !load(a_, fill_a)) return;
        if (t.loads_b && !load(b_, fill_b)) return;
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stopped_ = true;
    }
    changed_.notify_all();
  }

  // ---- the arithmetic --------------------------------------------------------------------------

  /// Releases what this step replaces and waits for what it loads; false if reading has failed.
  bool take(const Step& t, index_t& now_a, index_t& now_b) {
    std::unique_lock lock(mutex_);
    if (t.loads_a) a_.released = now_a++;
    if (t.loads_b) b_.released = now_b++;
    changed_.notify_all();
    changed_.wait(lock, [&] { return stopped_ || (a_.filled >= now_a && b_.filled >= now_b); });
    return !stopped_;
  }

  void multiply_all() {
    index_t now_a = 0, now_b = 0;  // buffers taken so far
    for (index_t n = 0; n < steps_.count(); ++n) {
      const Step t = steps_.at(n);
      if (!take(t, now_a, now_b)) return;
      multiply(t, matrix_a(t, now_a - 1), matrix_b(t, now_b - 1));
      if (t.last) finish(t), p_.finished(t.block);
      p_.progress(moved());
    }
  }

  double moved() const {
    const index_t read = p_.a.file->bytes_read() +
                         (p_.b.file != p_.a.file ? p_.b.file->bytes_read() : 0) +
                         (p_.c0.file != nullptr ? p_.c0.file->bytes_read() : 0);
    return static_cast<double>(read) + written_;
  }

  /// Sums of a block, row after row.
  void multiply(const Step& t, const Array& A, const Array& B) {
    const Matrix C{sums_.writable(), p_.types.sum, rows(t.i), cols(t.j), cols(t.j), 1};
    const ConstMatrix a = viewed(A), b = viewed(B);
    Plan part = p_.plan;
    part.problem = make_problem(a, b, C);
    if (find_algorithm(part.algorithm).name != "packed") return tessera::run(part, a, b, C);
    if (t.first) {
      const auto bytes = static_cast<std::size_t>(C.rows * C.cols * size_of(C.dtype));
      std::fill_n(static_cast<std::byte*>(C.data), bytes, std::byte{0});
    }
    if (a.cols > 0) detail::go_on(part.problem, a.data, b.data, C.data, part.threads);
  }

  void finish(const Step& t) {
    const index_t row = t.i * s_.block_m, col = t.j * s_.block_n, count = cols(t.j);
    const double beta = p_.plan.problem.beta;
    written_ += static_cast<double>(rows(t.i)) * static_cast<double>(count) * size_of(p_.types.out);
    if (p_.types.sum == p_.types.out && p_.plan.problem.alpha == 1 && beta == 0) {
      return p_.write({p_.types.out, {rows(t.i), count}, {count, 1}, sums_.writable(), nullptr},
                      row, col);
    }
    const index_t high = std::max<index_t>(1, kFinished / (count * size_of(p_.types.out)));
    const Array old = make_array(p_.types.out, {beta != 0 ? std::min(high, rows(t.i)) : 0, count});
    const Array out = make_array(p_.types.out, {std::min(high, rows(t.i)), count});
    for (index_t i = 0; i < rows(t.i); i += high) {
      const index_t now = std::min(high, rows(t.i) - i);
      if (beta != 0) {
        read_block(p_.c0, {row + i, col, now, count},
                   {p_.types.out, {now, count}, {count, 1}, old.writable(), nullptr});
      }
      finish_rows(i, now, count, old, out);
      p_.write({p_.types.out, {now, count}, {count, 1}, out.writable(), nullptr}, row + i, col);
    }
  }

  /// The epilogue of `count` columns of rows [i, i + now) of the sums, into the first rows of
  /// `out`.
  void finish_rows(index_t i, index_t now, index_t count, const Array& old, const Array& out) {
    visit_dtype(p_.types.out, [&]<class Out>(TypeTag<Out>) {
      if constexpr (kIsProduct<Out>) {
        using Sum = Accumulator<Out>;
        const EpilogueScalars<Sum> scalars{
            static_cast<Sum>(p_.plan.problem.alpha), static_cast<Sum>(p_.plan.problem.beta), {}};
        const Sum* const sums = static_cast<const Sum*>(sums_.data()) + i * count;
        const Out* const before = static_cast<const Out*>(old.data());
        Out* const to = static_cast<Out*>(out.writable());
        parallel_for(now, p_.plan.threads, [&](index_t r) {
          for (index_t at = r * count; at < (r + 1) * count; ++at)
            to[at] = convert<Out>(tessera::finish(
                scalars, sums[at], [&] { return convert<Sum>(before[at]); },
                static_cast<const Sum*>(nullptr)));
        });
      }
    });
  }

  const OutOfCore& p_;
  const Schedule& s_;
  const Steps steps_;
  Slots a_, b_;
  Array sums_;
  double written_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::exception_ptr error_;
};

}  // namespace

Box block_of(const Schedule& s, index_t number) {
  const BlockPlace at = place_of(s, number);
  const index_t row = at.i * s.block_m, col = at.j * s.block_n;
  return {row, std::min(row + s.block_m, s.shape.M),
          col, std::min(col + s.block_n, s.shape.N),
          0,   s.shape.K};
}

void run_out_of_core(const OutOfCore& product) {
  if (product.schedule.shape.M == 0 || product.schedule.shape.N == 0) return;
  Runner(product).run();
}

}  // namespace tessera::scale
