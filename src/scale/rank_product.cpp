// The threads of one rank: a reader of its shares, a worker that multiplies, and the caller, which
// alone exchanges messages. See rank_product.hpp. Nothing can wait for ever: shares are in memory
// and sent whatever the worker does, sums have their place in memory before they arrive, and boxes
// that continue sums follow each other in order of k.
#include "rank_product.hpp"

#include <time.h>

#include <condition_variable>
#include <exception>
#include <thread>

#include "operand_exchange.hpp"
#include "sums_exchange.hpp"

namespace tessera::scale {

namespace {

/// While nothing moves, the caller sleeps, longer each time: ranks may share a core.
constexpr long kShortestPause = 20'000, kLongestPause = 1'000'000;  // nanoseconds

class RankRun {
 public:
  RankRun(const RankProduct& product, Transport& transport)
      : p_(product),
        transport_(transport),
        scale_(*product.scale),
        own_(scale_.ranks[static_cast<std::size_t>(transport.rank())]),
        s_(own_.schedule),
        steps_(steps_of(scale_, static_cast<std::size_t>(transport.rank()), p_.is_finished)),
        keeps_sums_(product.c != nullptr || passes_sums_on(own_.box, scale_.request.shape)),
        messages_(transport),
        slots_a_(types().in_a, s_.resident == Resident::rows_of_a ? 1 : 2, s_.block_m * s_.depth),
        slots_b_(types().in_b, s_.resident == Resident::columns_of_b ? 1 : 2,
                 s_.block_n * s_.depth),
        sums_(make_array(types().sum, keeps_sums_ ? std::vector{own_.box.m(), own_.box.n()}
                                                  : std::vector{s_.block_m, s_.block_n})),
        a_(Kind::a, p_.held_a != nullptr ? p_.held_a->shares : shares_of_a(scale_),
           order_of(p_.a, p_.held_a), scale_, p_.is_finished, messages_, slots_a_, mutex_),
        b_(Kind::b, p_.held_b != nullptr ? p_.held_b->shares : shares_of_b(scale_),
           order_of(p_.b, p_.held_b), scale_, p_.is_finished, messages_, slots_b_, mutex_),
        passed_(scale_, p_.is_finished, sums_, p_.c, messages_),
        missing_(passed_.missing()) {}

  Traffic run() {
    std::thread reader, worker;
    guarded([&] {
      reader = std::thread([this] { guarded([this] { read_shares(); }); });
      worker = std::thread([this] {
        guarded([this] { multiply_all(); });
        const std::lock_guard lock(mutex_);
        worker_ended_ = true;
      });
      communicate();
    });
    if (error_) report();
    for (std::thread* const thread : {&reader, &worker})
      if (thread->joinable()) thread->join();
    if (error_) std::rethrow_exception(error_);
    return messages_.traffic();
  }

 private:
  const Types& types() const { return scale_.request.types; }
  static Order order_of(const Source& source, const Held* held) {
    return held != nullptr ? held->order : source.file->order();
  }

  /// Runs the work of a thread; an error ends the others.
  template <class Work>
  void guarded(const Work& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stopped_ = true;
      changed_.notify_all();
    }
  }

  /// Tells the other ranks at once: the worker may be busy for long.
  void report() {
    try {
      std::rethrow_exception(error_);
    } catch (const Error& error) {
      transport_.fail(error);
    } catch (const std::exception& error) {
      transport_.fail(Error(Category::resource, error.what()));
    }
  }

  // ---- the reader ------------------------------------------------------------------------------

  void read_shares() {
    read_shares(a_, types().in_a, p_.a, p_.held_a);
    read_shares(b_, types().in_b, p_.b, p_.held_b);
  }

  void read_shares(OperandExchange& operand, DType type, const Source& source, const Held* held) {
    for (std::size_t n = 0; n < operand.shares().all.size(); ++n) {
      if (!operand.is_mine(n)) continue;
      if (held != nullptr) {
        operand.keep(n, held->data[n]);
        continue;
      }
      const Part& p = operand.shares().all[n].part;
      const Array data = make_array(type, {p.rows(), p.cols()}, operand.order());
      read_block(source, {p.i0, p.j0, p.rows(), p.cols()}, data);
      operand.keep(n, data);
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
    }
  }

  // ---- the exchange ----------------------------------------------------------------------------

  void communicate() {
    long pause = kShortestPause;
    for (Transport::Ticket end = -1;;) {
      transport_.watch();
      bool moved = begin_loads();
      for (OperandExchange* operand : {&a_, &b_}) {
        if (operand->finish_loads()) moved = true, changed_.notify_all();
        moved = operand->send() || moved;
      }
      moved = exchange_sums() || moved;
      if (end < 0 && has_ended()) end = transport_.barrier();
      if (end >= 0 && transport_.is_done(end)) return;
      pause = moved ? kShortestPause : std::min(2 * pause, kLongestPause);
      if (moved) continue;
      const timespec moment{0, pause};
      nanosleep(&moment, nullptr);
    }
  }

  bool has_ended() {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    return worker_ended_ && finished_.empty() && passed_.has_ended() && a_.has_sent_all() &&
           b_.has_sent_all();
  }

  /// Requests the slices of the next steps for as long as there are free buffers.
  bool begin_loads() {
    bool moved = false;
    for (; loading_ < steps_.count(); ++loading_, has_loaded_a_ = false) {
      const Step t = steps_.at(loading_);
      if (t.loads_a && !has_loaded_a_ && !a_.begin_load(t)) return moved;
      has_loaded_a_ = true;
      if (t.loads_b && !b_.begin_load(t)) return moved;
      moved = true;
    }
    return moved;
  }

  bool exchange_sums() {
    bool moved = passed_.take([&](index_t block) {
      const std::lock_guard lock(mutex_);
      --missing_[static_cast<std::size_t>(block)];
      changed_.notify_all();
    });
    std::vector<BlockPlace> blocks;
    {
      const std::lock_guard lock(mutex_);
      blocks.swap(finished_);
    }
    for (const BlockPlace& block : blocks) passed_.pass_on(block);
    moved = passed_.finish_sends() || moved;
    return moved || !blocks.empty();
  }

  // ---- the worker ------------------------------------------------------------------------------

  /// Waits for what a step needs; false if the job has failed.
  bool take(const Step& t, index_t& now_a, index_t& now_b) {
    std::unique_lock lock(mutex_);
    if (t.loads_a) slots_a_.released = now_a++;
    if (t.loads_b) slots_b_.released = now_b++;
    changed_.wait(lock, [&] {
      return stopped_ || (missing_[static_cast<std::size_t>(t.block)] == 0 &&
                          slots_a_.filled >= now_a && slots_b_.filled >= now_b);
    });
    return !stopped_;
  }

  Array sums_of(const Step& t) const {
    const Part p = c_of(s_, t.i, t.j);
    const index_t stride = keeps_sums_ ? own_.box.n() : p.cols();
    const index_t first = keeps_sums_ ? p.i0 * stride + p.j0 : 0;
    return {types().sum,
            {p.rows(), p.cols()},
            {stride, 1},
            static_cast<std::byte*>(sums_.writable()) + first * size_of(types().sum),
            nullptr};
  }

  void multiply_all() {
    index_t now_a = 0, now_b = 0;  // buffers taken so far
    double multiplied = 0;
    for (index_t n = 0; n < steps_.count(); ++n) {
      const Step t = steps_.at(n);
      if (!take(t, now_a, now_b)) return;
      const Part a = a_of(s_, t), b = b_of(s_, t);
      const Array A = matrix_in(slots_a_.slot(now_a - 1), a_.order(), a.rows(), a.cols());
      const Array B = matrix_in(slots_b_.slot(now_b - 1), b_.order(), b.rows(), b.cols());
      multiply_slice(p_.plan, A, B, sums_of(t),
                     t.first && own_.box.k0 == 0 ? Begin::at_zero : Begin::with_sums);
      multiplied += static_cast<double>(a.rows() * b.cols()) * static_cast<double>(a.cols());
      if (t.last) finish(t);
      p_.progress(multiplied);
    }
  }

  void finish(const Step& t) {
    if (own_.box.k1 == scale_.request.shape.K && p_.c == nullptr) {
      const Part part = block_in_c(own_, t.i, t.j);
      finish_block(p_.plan, types(), p_.c0, sums_of(t), part.i0, part.j0, p_.write);
      return p_.finished(t.block);
    }
    const std::lock_guard lock(mutex_);
    finished_.push_back({t.i, t.j});
  }

  const RankProduct& p_;
  Transport& transport_;
  const ScalePlan& scale_;
  const RankPart& own_;
  const Schedule& s_;
  const Steps steps_;
  const bool keeps_sums_;

  std::mutex mutex_;  ///< of the buffers' counters, and of what follows missing_
  std::condition_variable changed_;
  Counted messages_;
  Slots slots_a_, slots_b_;
  Array sums_;  ///< of one block; if they are passed on or received, of the box
  OperandExchange a_, b_;
  SumsExchange passed_;
  index_t loading_ = 0;        ///< the step whose slices are requested next
  bool has_loaded_a_ = false;  ///< A of this step has been requested

  std::vector<index_t> missing_;      ///< by block: messages with sums that have not arrived
  std::vector<BlockPlace> finished_;  ///< blocks whose sums can be passed on
  bool worker_ended_ = false, stopped_ = false;
  std::exception_ptr error_;
};

}  // namespace

Traffic run_rank(const RankProduct& product, Transport& transport) {
  return RankRun(product, transport).run();
}

}  // namespace tessera::scale
