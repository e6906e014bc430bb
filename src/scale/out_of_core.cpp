// The loops of a schedule, the reader that stays one slice ahead of them, and the writer that
// follows.
#include "out_of_core.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "slots.hpp"
#include "steps.hpp"
#include "tessera/core/parallel.hpp"

namespace tessera::scale {

namespace {

/// Bytes of sums that are transposed at a time.
constexpr index_t kMirrored = 1 << 20;

/// Rows [row, row + rows) and columns [col, col + cols) of a matrix.
Array window(const Array& m, index_t row, index_t rows, index_t col, index_t cols) {
  const index_t first = row * m.row_stride() + col * m.col_stride();
  return {m.dtype(),
          {rows, cols},
          m.strides(),
          static_cast<std::byte*>(m.writable()) + first * size_of(m.dtype()),
          nullptr};
}

/// A part of C in the sums of its block.
Array in_block(const Array& sums, const Part& block, const Part& part) {
  return window(sums, part.i0 - block.i0, part.rows(), part.j0 - block.j0, part.cols());
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
        sums_(product.types.sum, s_.buffers_of_sums(), s_.block_m * s_.block_n) {}

  void run() {
    std::thread reader, writer;
    guarded([&] {
      reader = std::thread([this] { guarded([this] { read_all(); }); });
      writer = std::thread([this] { guarded([this] { write_all(); }); });
      multiply_all();
    });
    for (std::thread* const thread : {&reader, &writer})
      if (thread->joinable()) thread->join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  index_t rows(index_t i) const { return std::min(s_.block_m, s_.shape.M - i * s_.block_m); }
  index_t cols(index_t j) const { return std::min(s_.block_n, s_.shape.N - j * s_.block_n); }
  index_t depth(index_t k) const { return std::min(s_.depth, s_.shape.K - k * s_.depth); }
  MatrixBlock block_a(const Step& t) const {
    return {t.i * s_.block_m, t.k * s_.depth, rows(t.i), depth(t.k)};
  }
  MatrixBlock block_b(const Step& t) const {
    return {t.k * s_.depth, t.j * s_.block_n, depth(t.k), cols(t.j)};
  }
  static Array matrix_of(const MatrixFile& file, const MatrixBlock& block, const Array& slot) {
    const index_t place = file.dtype() == slot.dtype() ? file.place_in_page(block) : 0;
    return matrix_in(slot, file.order(), block.rows, block.cols, place);
  }
  Array matrix_a(const Step& t, index_t load) const {
    return matrix_of(*p_.a.file, block_a(t), a_.slot(load));
  }
  Array matrix_b(const Step& t, index_t load) const {
    return matrix_of(*p_.b.file, block_b(t), b_.slot(load));
  }

  /// Runs the work of a thread; an error ends the others.
  template <class Work>
  void guarded(const Work& work) {
    try {
      work();
    } catch (...) {
      change([&] {
        if (!error_) error_ = std::current_exception();
        stopped_ = true;
      });
    }
  }

  template <class Change>
  void change(const Change& apply) {
    {
      const std::lock_guard lock(mutex_);
      apply();
    }
    changed_.notify_all();
  }

  /// False if the work has ended with an error.
  template <class Condition>
  bool wait_for(const Condition& holds) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || holds(); });
    return !stopped_;
  }

  // ---- the reader ------------------------------------------------------------------------------

  /// Waits for a free buffer and fills it; false if the work has ended.
  template <class Fill>
  bool load(Slots& slots, const Fill& fill) {
    if (!wait_for([&] { return !slots.is_full(); })) return false;
    fill(slots.filled);
    change([&] { ++slots.filled; });
    return true;
  }

  void read_all() {
    for (index_t n = 0; n < steps_.count(); ++n) {
      const Step t = steps_.at(n);
      const auto fill_a = [&](index_t load) { read_block(p_.a, block_a(t), matrix_a(t, load)); };
      const auto fill_b = [&](index_t load) { read_block(p_.b, block_b(t), matrix_b(t, load)); };
      if (t.loads_a && !load(a_, fill_a)) return;
      if (t.loads_b && !load(b_, fill_b)) return;
    }
  }

  // ---- the arithmetic --------------------------------------------------------------------------

  /// Releases what this step replaces and waits for what it needs; false if the work has ended.
  bool take(const Step& t, index_t& now_a, index_t& now_b) {
    change([&] {
      if (t.loads_a) a_.released = now_a++;
      if (t.loads_b) b_.released = now_b++;
    });
    return wait_for(
        [&] { return a_.filled >= now_a && b_.filled >= now_b && !(t.first && sums_.is_full()); });
  }

  void multiply_all() {
    index_t now_a = 0, now_b = 0, block = 0;  // buffers taken so far, and the block of sums
    for (index_t n = 0; n < steps_.count(); ++n) {
      const Step t = steps_.at(n);
      if (!take(t, now_a, now_b)) return;
      const Array A = matrix_a(t, now_a - 1), B = matrix_b(t, now_b - 1), sums = sums_of(t, block);
      const Part all = c_of(s_, t.i, t.j);
      for (const BlockPart& part : parts_of(s_, {t.i, t.j})) {
        const Part& c = part.computed;
        multiply_slice(p_.plan, window(A, 0, c.rows(), 0, A.cols()),
                       window(B, 0, B.rows(), c.j0 - all.j0, c.cols()), in_block(sums, all, c),
                       t.first ? Begin::at_zero : Begin::with_sums);
      }
      if (t.last) change([&] { block = ++sums_.filled; });
      p_.progress(moved());
    }
  }

  double moved() const {
    const index_t read = p_.a.file->bytes_read() +
                         (p_.b.file != p_.a.file ? p_.b.file->bytes_read() : 0) +
                         (p_.c0.file != nullptr ? p_.c0.file->bytes_read() : 0);
    return static_cast<double>(read + written_);
  }

  Array sums_of(const Step& t, index_t block) const {
    const Part all = c_of(s_, t.i, t.j);
    const index_t place = p_.types.sum == p_.types.out ? p_.place(all.i0, all.j0) : 0;
    return matrix_in(sums_.slot(block), Order::c, all.rows(), all.cols(), place);
  }

  // ---- the writer ------------------------------------------------------------------------------

  void write_all() {
    for (index_t n = 0; n < steps_.count(); ++n) {
      const Step t = steps_.at(n);
      if (!t.last) continue;
      if (!wait_for([&] { return sums_.filled > sums_.released; })) return;
      finish(t);
      p_.finished(t.block);
      change([&] { ++sums_.released; });
    }
  }

  void finish(const Step& t) {
    const Part block = c_of(s_, t.i, t.j);
    for (const BlockPart& part : parts_of(s_, {t.i, t.j})) {
      const Part &c = part.computed, &m = part.mirror;
      const index_t elements = c.rows() * c.cols() + (m.is_empty() ? 0 : m.rows() * m.cols());
      written_ += elements * size_of(p_.types.out);
      const Array sums = in_block(sums_of(t, sums_.released), block, c);
      finish_block(p_.plan, p_.types, p_.c0, sums, c.i0, c.j0, p_.write);
      if (!m.is_empty()) finish_mirror(transposed(window(sums, 0, m.cols(), 0, m.rows())), m);
    }
  }

  /// `sums`: those of the part, which are not contiguous in its rows.
  void finish_mirror(const Array& sums, const Part& part) {
    constexpr index_t kTogether = 32;
    const index_t high =
        std::clamp<index_t>(kMirrored / (part.cols() * size_of(sums.dtype())), 1, part.rows());
    const Array lines = make_array(sums.dtype(), {high, part.cols()});
    for (index_t row = 0; row < part.rows(); row += high) {
      const index_t count = std::min(high, part.rows() - row);
      parallel_for((part.cols() + kTogether - 1) / kTogether, p_.plan.threads, [&](index_t n) {
        const index_t col = n * kTogether, wide = std::min(kTogether, part.cols() - col);
        convert_into(window(sums, row, count, col, wide), window(lines, 0, count, col, wide));
      });
      finish_block(p_.plan, p_.types, {}, window(lines, 0, count, 0, part.cols()), part.i0 + row,
                   part.j0, p_.write);
    }
  }

  const OutOfCore& p_;
  const Schedule& s_;
  const Steps steps_;
  Slots a_, b_, sums_;
  std::atomic<index_t> written_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::exception_ptr error_;
};

}  // namespace

void run_out_of_core(const OutOfCore& product) {
  if (product.schedule.shape.M == 0 || product.schedule.shape.N == 0) return;
  Runner(product).run();
}

}  // namespace tessera::scale
