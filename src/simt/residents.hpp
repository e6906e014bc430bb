// The blocks of one launch that run at one time: hands out the next ones in the order of their
// numbers, starts further ones where all that run wait for others, and detects when no block can
// continue. Private to src/simt, src/check and the runtime of plain CUDA; launch_blocks.hpp is
// what others call.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tessera/core/config.hpp"

namespace tessera::detail {

/// Threads of all blocks that run at one time because others wait: each takes two of the 65530
/// mappings that a process has by default.
inline constexpr std::int64_t kMostThreadsTogether = 16384;

/// Is the order of the blocks kept for Residents::await_earlier()?
enum class BlockOrder : std::uint8_t { any, kept };

class Residents {
 public:
  using Body = std::function<void(index_t, Residents&)>;
  Residents(index_t count, int block_threads, const Body& body, BlockOrder order);

  /// Runs the next block, if there is one that has not started.
  void run_next();
  /// Waits for all blocks that further OS threads run. Throws what one of these threw.
  void join();

  /// From now on barriers of blocks without an observer follow CUDA: threads that have ended count
  /// as arrived, and whole warps may arrive at one from different source locations.
  void count_warps() { barriers_count_warps_.store(true, std::memory_order_relaxed); }

  // ---- called while a block runs, by its scheduler ----

  bool barriers_count_warps() const {
    return barriers_count_warps_.load(std::memory_order_relaxed);
  }

  enum class Verdict : std::uint8_t { wait, others_run, deadlock };
  /// One block's record of its own waiting.
  struct Rest {
    bool is_resting = false;
    std::uint64_t since = 0;  ///< the progress counter when the rounds began
    int rounds = 0;
  };
  /// All threads of a block have polled without success again. After `enough` such rounds of
  /// every block without other progress, no block can continue.
  Verdict rest(Rest& mine, int enough);
  /// One of its threads continues.
  void go_on(Rest& mine);
  /// The block that runs on this OS thread waits for others: it no longer holds up later ones.
  void lets_later_run();
  /// Returns when each earlier block has ended or waits for others. So blocks that call it before
  /// they touch what others may change do so in the order of their numbers, in every run. Needs
  /// BlockOrder::kept.
  void await_earlier();
  /// How many other blocks wait, and how many have not started; empty where there are none.
  std::string others_text();

 private:
  std::uint64_t events() const {
    return changes_ + static_cast<std::uint64_t>(started() + ended_.load());
  }
  std::int64_t started() const { return std::min<std::int64_t>(next_.load(), count_); }
  void start_another();
  void run(std::int64_t block);
  void pass(std::int64_t block);

  const index_t count_;
  const std::int64_t most_;  ///< blocks at one time, beyond those of the first OS threads
  const Body& body_;
  const bool keeps_order_;
  // A block has started when it is taken. Blocks may be short: each counter has a cache line of its
  // own.
  alignas(64) std::atomic<std::int64_t> next_{0};
  alignas(64) std::atomic<std::int64_t> ended_{0};
  std::atomic<bool> barriers_count_warps_{false};
  std::atomic<bool> stopped_{false};     ///< a block threw: no further one starts
  std::atomic<std::int64_t> coming_{0};  ///< further OS threads that have not taken a block yet
  std::mutex mutex_;                     ///< of what follows
  std::uint64_t changes_ = 0, votes_of_ = 0, dead_at_ = ~std::uint64_t{0};
  std::int64_t resting_ = 0, votes_ = 0;
  std::vector<std::thread> further_;
  std::exception_ptr failure_;
  // With BlockOrder::kept: the first block that holds up later ones, and those after it that do
  // not.
  std::atomic<std::int64_t> first_{0};
  std::set<std::int64_t> passed_;
  std::condition_variable has_passed_;
};

/// for_each_block() with BlockOrder::kept.
void for_each_block_in_order(index_t count, int block_threads, int os_threads,
                             const Residents::Body& body);

}  // namespace tessera::detail
