// The loops of a schedule, and the reader that stays one slice ahead of them.
#include "out_of_core.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "slots.hpp"
#include "steps.hpp"

namespace tessera::scale {

namespace {

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
    return matrix_in(a_.slot(load), p_.a.file->order(), rows(t.i), depth(t.k));
  }
  Array matrix_b(const Step& t, index_t load) const {
    return matrix_in(b_.slot(load), p_.b.file->order(), depth(t.k), cols(t.j));
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
      multiply_slice(p_.plan, matrix_a(t, now_a - 1), matrix_b(t, now_b - 1), sums_of(t),
                     t.first ? Begin::at_zero : Begin::with_sums);
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

  Array sums_of(const Step& t) const {
    return {p_.types.sum, {rows(t.i), cols(t.j)}, {cols(t.j), 1}, sums_.writable(), nullptr};
  }

  void finish(const Step& t) {
    written_ += static_cast<double>(rows(t.i) * cols(t.j) * size_of(p_.types.out));
    finish_block(p_.plan, p_.types, p_.c0, sums_of(t), t.i * s_.block_m, t.j * s_.block_n,
                 p_.write);
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
