// Which blocks of a launch run and which wait: see residents.hpp.
#include "residents.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "tessera/core/parallel.hpp"
#include "tessera/core/text.hpp"
#include "tessera/simt/launch_blocks.hpp"

namespace tessera::detail {

namespace {
constinit thread_local std::int64_t my_block = -1;  ///< that runs on this OS thread
}  // namespace

Residents::Residents(index_t count, int block_threads, const Body& body, BlockOrder order)
    : count_(count),
      most_(std::max<std::int64_t>(1, kMostThreadsTogether / std::max(1, block_threads))),
      body_(body),
      keeps_order_(order == BlockOrder::kept) {}

void Residents::run_next() {
  if (stopped_.load(std::memory_order_relaxed)) return;
  const std::int64_t block = next_.fetch_add(1);
  if (block < count_) run(block);
}

void Residents::run(std::int64_t block) {
  const std::int64_t outer = std::exchange(my_block, block);
  const auto end = [&] {
    my_block = outer;
    ++ended_;
    if (keeps_order_) pass(block);
  };
  try {
    body_(block, *this);
  } catch (...) {
    stopped_ = true;
    end();
    throw;
  }
  end();
}

void Residents::pass(std::int64_t block) {
  const std::lock_guard lock(mutex_);
  std::int64_t first = first_;
  if (block < first) return;
  passed_.insert(block);
  while (passed_.erase(first) > 0) ++first;
  first_ = first;
  has_passed_.notify_all();
}

void Residents::lets_later_run() {
  if (keeps_order_ && first_ <= my_block) pass(my_block);
}

void Residents::await_earlier() {
  if (first_ >= my_block) return;
  std::unique_lock lock(mutex_);
  has_passed_.wait(lock, [&] { return first_ >= my_block; });
}

void Residents::join() {
  for (;;) {
    std::vector<std::thread> mine;
    {
      const std::lock_guard lock(mutex_);
      mine.swap(further_);
    }
    if (mine.empty()) break;
    for (auto& each : mine) each.join();
  }
  if (failure_) std::rethrow_exception(failure_);
}

void Residents::start_another() {
  if (stopped_ || next_.load() >= count_ || coming_ + started() - ended_ >= most_) return;
  ++coming_;
  try {
    further_.emplace_back([this] {
      try {
        const std::int64_t block = next_.fetch_add(1);
        --coming_;
        if (block < count_) run(block);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
    });
  } catch (const std::system_error&) {
    --coming_;
    // No further OS thread: the blocks that have not started wait, and the verdict counts them.
  }
}

Residents::Verdict Residents::rest(Rest& mine, int enough) {
  const std::lock_guard lock(mutex_);
  if (mine.is_resting && dead_at_ == mine.since) return Verdict::deadlock;
  if (!mine.is_resting) {
    mine.is_resting = true;
    ++resting_, ++changes_;
    start_another();
  }
  const std::uint64_t now = events();
  if (mine.since != now) mine.since = now, mine.rounds = 0;
  if (votes_of_ != now) votes_of_ = now, votes_ = 0;
  const std::int64_t running = started() - ended_.load();
  // A block that is about to start may set the value that others wait for, however late its OS
  // thread begins.
  if (resting_ < running || coming_ > 0) return Verdict::others_run;
  if (++mine.rounds == 1) start_another();
  if (mine.rounds == enough && ++votes_ == running) {
    dead_at_ = now;
    return Verdict::deadlock;
  }
  return Verdict::wait;
}

void Residents::go_on(Rest& mine) {
  if (!mine.is_resting) return;
  const std::lock_guard lock(mutex_);
  mine = {};
  --resting_, ++changes_;
}

std::string Residents::others_text() {
  const std::lock_guard lock(mutex_);
  const std::int64_t running = started() - ended_.load();
  const std::int64_t waiting = count_ - std::min<std::int64_t>(next_.load(), count_);
  std::string out;
  if (running > 1) out += cat("; ", running - 1, " other blocks wait as well");
  if (waiting > 0)
    out += cat("; ", waiting, " blocks have not started, since at most ", std::max(most_, running),
               " run at one time");
  return out;
}

namespace {
void run_blocks(index_t count, int block_threads, int os_threads, const Residents::Body& body,
                BlockOrder order) {
  Residents residents(count, block_threads, body, order);
  std::exception_ptr failure;
  try {
    parallel_for(count, os_threads, [&](index_t) { residents.run_next(); });
  } catch (...) {
    failure = std::current_exception();
  }
  try {
    residents.join();
  } catch (...) {
    if (!failure) failure = std::current_exception();
  }
  if (failure) std::rethrow_exception(failure);
}
}  // namespace

void for_each_block(index_t count, int block_threads, int os_threads, const Residents::Body& body) {
  run_blocks(count, block_threads, os_threads, body, BlockOrder::any);
}

void for_each_block_in_order(index_t count, int block_threads, int os_threads,
                             const Residents::Body& body) {
  run_blocks(count, block_threads, os_threads, body, BlockOrder::kept);
}

}  // namespace tessera::detail
