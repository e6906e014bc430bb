// Runs all blocks of a launch under recorders, on several OS threads, with a time limit, and makes
// the report.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <span>
#include <thread>

#include "block/recorder.hpp"
#include "finish_report.hpp"
#include "merge/blocks.hpp"
#include "merge/causes.hpp"
#include "simt/residents.hpp"
#include "tessera/check/check.hpp"
#include "tessera/check/device_model.hpp"

namespace tessera::check::detail {

namespace {

/// The blocks to check: all, or `wanted` of them spread evenly from the first to the last.
std::vector<std::int64_t> chosen_blocks(std::int64_t all, std::int64_t wanted) {
  std::vector<std::int64_t> out;
  const std::int64_t count = wanted > 0 ? std::min(wanted, all) : all;
  out.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    out.push_back(count == 1 ? 0 : i * (all - 1) / (count - 1));
  return out;
}

/// Recorders and schedulers in use, and free ones.
class Workers {
 public:
  struct Worker {
    explicit Worker(const RunContext& context) : recorder(context) {}
    BlockRecorder recorder;
    BlockScheduler scheduler;
    bool busy = false;
  };

  Worker& take(const RunContext& context) {
    const std::lock_guard lock(mutex_);
    for (auto& each : all_) {
      if (!each->busy) {
        each->busy = true;
        return *each;
      }
    }
    all_.push_back(std::make_unique<Worker>(context));
    all_.back()->busy = true;
    return *all_.back();
  }
  void give_back(Worker& worker) {
    const std::lock_guard lock(mutex_);
    worker.busy = false;
  }
  /// Stops the kernels that did not notice by themselves.
  void stop_all() {
    const std::lock_guard lock(mutex_);
    for (auto& each : all_) {
      if (each->busy && each->recorder.in_kernel()) each->scheduler.stop();
    }
  }
  std::vector<const BlockRecorder*> recorders() const {
    std::vector<const BlockRecorder*> out;
    for (const auto& each : all_) out.push_back(&each->recorder);
    return out;
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> all_;
};

/// Sets `stop` when time is over, and then stops kernels that ignore it.
class Watchdog {
 public:
  Watchdog(double seconds, std::atomic<bool>& stop, Workers& workers) {
    if (seconds <= 0) return;
    thread_ = std::thread([this, seconds, &stop, &workers] {
      std::unique_lock lock(mutex_);
      if (over_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return done_; }))
        return;
      stop = true;
      while (!over_.wait_for(lock, std::chrono::milliseconds(500), [this] { return done_; }))
        workers.stop_all();
    });
  }
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    over_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool done_ = false;
  std::thread thread_;
};

int blocks_together(const Launch& launch) { return static_cast<int>(volume(launch.cluster)); }

/// Block `rank` of cluster number `number`; clusters of one block are blocks.
Position position_in(const Launch& launch, std::int64_t number, int rank) {
  return tessera::detail::block_of_cluster(number, rank, launch.cluster, launch.grid);
}

BlockTask task_of(const RunContext& context, const Position& block,
                  tessera::detail::Residents& residents) {
  const Launch& launch = context.launch;
  BlockTask task;
  task.kernel_name = launch.kernel;
  task.block = block;
  task.block_dim = launch.block;
  task.warp_size = launch.warp_size;
  task.order = context.options.order;
  task.seed = context.options.seed;
  task.shared_bytes = launch.shared_storage == nullptr ? launch.shared_bytes : 0;
  task.stack_bytes = launch.stack_bytes;
  task.residents = &residents;
  return task;
}

/// During its lifetime, events of kernels on this OS thread are recorded.
struct Listening {
  explicit Listening(BlockRecorder& by) { by.takes_turn(); }
  ~Listening() {
    tessera::detail::recorder = nullptr;
    tessera::detail::async_observer = nullptr;
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
};

/// Runs the blocks of a cluster, each by its worker.
void run_tasks(const Launch& launch, std::span<Workers::Worker* const> workers,
               std::span<BlockTask> tasks) {
  if (tasks.size() == 1) return launch.run_block(workers[0]->scheduler, tasks[0].block, tasks[0]);
  std::vector<BlockScheduler*> schedulers;
  for (Workers::Worker* each : workers) schedulers.push_back(&each->scheduler);
  launch.run_cluster(schedulers, tasks);
}

/// The blocks of a cluster are watched together; a block that runs alone is a cluster of one.
std::vector<BlockResult> run_cluster(const RunContext& context,
                                     std::span<Workers::Worker* const> workers, std::int64_t number,
                                     tessera::detail::Residents& residents) {
  ClusterRules together;
  std::vector<AsyncRules*> rules;
  std::vector<BlockTask> tasks;
  for (std::size_t rank = 0; rank < workers.size(); ++rank) {
    auto& [recorder, scheduler, busy] = *workers[rank];
    const Position block = position_in(context.launch, number, static_cast<int>(rank));
    recorder.start(block, scheduler, residents);
    rules.push_back(&recorder.async_rules());
    tasks.push_back(task_of(context, block, residents));
    tasks.back().observer = &recorder;
    tasks.back().async = recorder.async_observer();
  }
  if (workers.size() > 1) {
    together.start(rules, static_cast<int>(volume(context.launch.block)));
    for (std::size_t rank = 0; rank < workers.size(); ++rank)
      workers[rank]->recorder.join(together, static_cast<int>(rank));
  }
  try {
    const Listening listening(workers[0]->recorder);
    run_tasks(context.launch, workers, tasks);
  } catch (const Error& error) {
    // The machine's or the engine's fault, not the kernel's.
    if (error.category() == Category::resource || error.category() == Category::unavailable) throw;
  }
  std::vector<BlockResult> out;
  for (Workers::Worker* each : workers) out.push_back(each->recorder.finish());
  find_consequences(out);
  return out;
}

void note_longest(std::atomic<double>& longest, double seconds) {
  for (double known = longest; known < seconds && !longest.compare_exchange_weak(known, seconds);) {
  }
}

void check_options(const Options& options) {
  if (options.blocks < 0)
    throw Error(Category::argument, "check: a negative number of blocks", "0 (all) or more",
                cat(options.blocks));
  if (!(options.time_limit_s >= 0))
    throw Error(Category::argument, "check: a negative time limit", "0 (none) or more seconds",
                cat(options.time_limit_s));
  if (!options.device.empty()) device_model(options.device);
}

/// Why the requested device cannot run the kernel, or hold a block of it; empty if it can.
std::string limit_of(const Options& options, const Launch& launch) {
  if (options.device.empty()) return {};
  const DeviceModel& device = device_model(options.device);
  constexpr int kHopper = 90;
  if (launch.needs_sm_90a && device.capability != kHopper)
    return cat(device.name, " has no bulk copies, gates and matrix units of warpgroups (sm_90a)");
  if (const index_t threads = volume(launch.block); threads > device.threads_per_block)
    return cat("a block has ", threads, " threads; ", device.name, " takes at most ",
               device.threads_per_block);
  if (static_cast<index_t>(launch.shared_bytes) > device.smem_per_block_bytes)
    return cat("a block takes ", launch.shared_bytes, " bytes of shared memory; ", device.name,
               " gives it at most ", device.smem_per_block_bytes, " (",
               device.smem_per_block_bytes / 1024, " KiB)");
  return {};
}

Launch with_names(const Launch& requested, const Options& options) {
  Launch out = requested;
  if (requested.is_cuda) return out;
  for (std::size_t i = 0; i < out.buffers.size(); ++i)
    out.buffers[i].name = i < options.tensors.size()
                              ? options.tensors[i]
                              : std::string(1, static_cast<char>('A' + i % 26));
  return out;
}

/// Why no device could launch it; empty if some could.
std::string refusal_of(const Launch& launch, const Options& options) {
  try {
    tessera::detail::check_launch(
        launch.kernel,
        LaunchConfig{.grid = launch.grid, .block = launch.block, .threads = options.threads},
        launch.shared_bytes, launch.declared_block, launch.cluster);
    return {};
  } catch (const Error& error) {
    if (options.threads < 0) throw;
    return error.what();
  }
}

/// The kernel's changes to the elements of the buffers.
void tell_touched(const RunContext& context, const std::vector<const BlockRecorder*>& recorders) {
  const auto touch_of = [](std::uint8_t bits) {
    return Launch::Touch{.reads = (bits & Touches::kRead) != 0,
                         .writes = (bits & (Touches::kWritten | Touches::kWrittenAgain)) != 0,
                         .updates = (bits & Touches::kUpdated) != 0};
  };
  for (const auto* each : recorders) {
    for (std::size_t i = 0; i < context.regions.size(); ++i) {
      const Region& region = context.regions[i];
      const std::size_t bytes = touch_bytes(
          context.launch, context.launch.buffers[static_cast<std::size_t>(region.buffer)]);
      each->touches()[i + kFirstBuffer].for_each_run(
          [&](std::size_t first, std::size_t count, std::uint8_t bits) {
            context.launch.touched(region.begin + first * bytes, count * bytes, touch_of(bits));
          });
    }
  }
}

/// A cluster that is not watched.
void run_unwatched(const RunContext& context, std::span<Workers::Worker* const> workers,
                   std::int64_t number, tessera::detail::Residents& residents) {
  std::vector<BlockTask> tasks;
  for (std::size_t rank = 0; rank < workers.size(); ++rank)
    tasks.push_back(
        task_of(context, position_in(context.launch, number, static_cast<int>(rank)), residents));
  try {
    run_tasks(context.launch, workers, tasks);
  } catch (const Error& error) {
    // other clusters may show the kernel's mistake
    if (error.category() == Category::resource) throw;
  }
}

/// Which clusters run, and which of these are watched.
struct Selection {
  std::int64_t all;
  std::vector<std::int64_t> watched;  ///< in order
  bool runs_all;

  std::int64_t count() const { return runs_all ? all : static_cast<std::int64_t>(watched.size()); }
  /// The i-th cluster to run, and its number among the watched; -1: it is not watched.
  std::pair<std::int64_t, std::int64_t> at(index_t i) const {
    if (!runs_all) return {watched[static_cast<std::size_t>(i)], i};
    const auto found = std::lower_bound(watched.begin(), watched.end(), i);
    return {i, found != watched.end() && *found == i ? found - watched.begin() : -1};
  }
};

Selection selection_of(const RunContext& context) {
  const auto& launch = context.launch;
  const std::int64_t together = blocks_together(launch), all = volume(launch.grid) / together;
  const std::int64_t wanted = context.options.blocks > 0 ? context.options.blocks : launch.watched;
  return {all, chosen_blocks(all, (wanted + together - 1) / together), launch.watched > 0};
}

Report run_blocks(RunContext& context, MergedBlocks& merged) {
  const Selection clusters = selection_of(context);
  const int together = blocks_together(context.launch);
  if (context.options.correctness && !context.launch.sees_everything) {
    for (const Region& each : context.regions)
      context.before.push_back(each.is_output ? copy_of(each) : std::vector<std::byte>());
  }
  Workers workers;
  std::atomic<std::int64_t> checked{0};
  {
    const Watchdog watchdog(context.options.time_limit_s, context.stop, workers);
    const auto check_cluster = [&](index_t i, tessera::detail::Residents& residents) {
      const auto [which, number] = clusters.at(i);
      std::vector<BlockResult> results(static_cast<std::size_t>(together));
      if (!context.stop) {
        std::vector<Workers::Worker*> team;
        for (int rank = 0; rank < together; ++rank) team.push_back(&workers.take(context));
        if (number < 0) run_unwatched(context, team, which, residents);
        else results = run_cluster(context, team, which, residents);
        for (Workers::Worker* each : team) {
          if (number >= 0 && !each->recorder.stopped()) {
            ++checked;
            note_longest(context.longest_block_s, each->recorder.seconds());
          }
          workers.give_back(*each);
        }
      }
      for (int rank = 0; rank < together && number >= 0; ++rank)
        merged.add(static_cast<std::size_t>(number * together + rank),
                   std::move(results[static_cast<std::size_t>(rank)]));
    };
    tessera::detail::for_each_block_in_order(
        clusters.count(), together * static_cast<int>(volume(context.launch.block)),
        context.options.threads, check_cluster);
  }
  if (context.launch.touched) tell_touched(context, workers.recorders());
  return finish_report(context, merged, workers.recorders(),
                       {static_cast<std::int64_t>(clusters.watched.size()) * together, checked});
}

Report run_launch(RunContext& context) {
  MergedBlocks merged(context.regions);
  const std::string limit = limit_of(context.options, context.launch);
  const std::string refusal = refusal_of(context.launch, context.options);
  if (!limit.empty() || !refusal.empty()) {
    Mistake mistake;
    mistake.kind = Kind::impossible_launch;
    mistake.detail = limit.empty() ? refusal : limit;
    if (limit.ends_with("(sm_90a)"))
      mistake.advice = "check it for h100 or h200, which have them, or take another kernel";
    merged.add_mistake(mistake);
  }
  if (!refusal.empty()) return finish_report(context, merged, {}, {});
  if (context.options.stop_at) require_inside(*context.options.stop_at, context.launch);
  try {
    return run_blocks(context, merged);
  } catch (const std::bad_alloc&) {
    throw Error(Category::resource, "check: no memory for what is kept of the kernel's tensors", {},
                {}, "check smaller tensors");
  }
}

}  // namespace

Report run(const Options& options, const Launch& requested) {
  check_options(options);
  const Launch launch = with_names(requested, options);
  RunContext context{options, launch, regions_of(launch.buffers)};
  return run_launch(context);
}

}  // namespace tessera::check::detail
