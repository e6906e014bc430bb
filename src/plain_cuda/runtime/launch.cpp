// Launches kernels in plain CUDA on the CPU engine, watched by a recorder if the program is
// checked.
#include "tessera/plain_cuda/parts/launch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "context.hpp"
#include "forks.hpp"
#include "graphs.hpp"
#include "handles.hpp"
#include "interrupts.hpp"
#include "kernel_memory.hpp"
#include "launch_limits.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "regions.hpp"
#include "simt/residents.hpp"
#include "streams.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/recorder.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/parts/launch_api.h"
#include "tessera/simt/launch.hpp"

/// Not null: the command found that the order of atomic updates cannot matter.
extern "C" [[gnu::weak]] const char tessera_in_any_order;

namespace tessera::plain_cuda {

namespace {

struct Configuration {
  bool is_set = false;
  Place place;
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  dim3 cluster = dim3(1);
};
thread_local Configuration configuration;
thread_local cudaError_t error_of_launch = cudaSuccess;
/// Has the thread that ended last returned before the end of its code?
thread_local bool has_returned = false;

/// One thread of a block: its context lives on its stack while it runs.
struct Entry {
  const KernelBody& body;
  BlockContext& block;
  Dim3 extents;
  std::size_t stack_bytes;

  static void run(void* self, int thread) {
    const Entry& entry = *static_cast<const Entry*>(self);
    const Position at = position_of(thread, entry.extents);
    // Frames above this one are the engine's; one red zone of space belongs to the thread as well.
    const auto top = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 256;
    ThreadContext mine{
        entry.block,
        thread,
        {static_cast<unsigned>(at.x), static_cast<unsigned>(at.y), static_cast<unsigned>(at.z)},
        top - entry.stack_bytes,
        entry.stack_bytes};
    current = &mine;
    if (entry.block.memory != nullptr) entry.block.memory->bring(entry.block.rank);
    try {
      entry.body.run(entry.body.closure);
      settle();
    } catch (const Abandon& end) {
      settle();
      mine.has_returned = true;
      if (!end.is_exit && tessera::detail::recorder != nullptr) tessera::detail::recorder->leaves();
    } catch (...) {
      pending_access = {};
      current = nullptr;
      throw;
    }
    has_returned = mine.has_returned;
    current = nullptr;
  }
};

constexpr std::size_t kThreadStack = 512 * 1024;  // a GPU's local memory of one thread

Dim3 extents_of(dim3 d) {
  return {static_cast<int>(d.x), static_cast<int>(d.y), static_cast<int>(d.z)};
}

uint3 index_of(const Position& block) {
  return {static_cast<unsigned>(block.x), static_cast<unsigned>(block.y),
          static_cast<unsigned>(block.z)};
}

void run_block(const KernelBody& body, const Configuration& how, BlockScheduler& scheduler,
               const Position& block, BlockTask task) {
  BlockContext context{scheduler, index_of(block), how.block, how.grid, task.warp_size};
  Entry entry{body, context, extents_of(how.block), task.stack_bytes};
  task.body = Entry::run;
  task.closure = &entry;
  scheduler.run(task);
  current = nullptr;
}

/// The blocks of a cluster, by rank.
void run_cluster(const KernelBody& body, const Configuration& how,
                 std::span<BlockScheduler* const> schedulers, std::span<BlockTask> tasks) {
  ClusterMemory memory(static_cast<int>(tasks.size()));
  std::vector<BlockContext> contexts;
  std::vector<Entry> entries;
  contexts.reserve(tasks.size());
  entries.reserve(tasks.size());
  for (std::size_t rank = 0; rank < tasks.size(); ++rank) {
    BlockTask& task = tasks[rank];
    contexts.push_back({*schedulers[rank], index_of(task.block), how.block, how.grid,
                        task.warp_size, how.cluster, static_cast<int>(rank), &memory});
    entries.push_back({body, contexts.back(), extents_of(how.block), task.stack_bytes});
    task.body = Entry::run;
    task.closure = &entries.back();
  }
  BlockScheduler::run_together(schedulers, tasks);
  current = nullptr;
}

/// How a program that is not checked runs its kernels: what the command's options have put into the
/// environment.
struct UncheckedRun {
  ThreadOrder order = ThreadOrder::forward;
  bool skips_kernels = std::getenv("TESSERA_CUDA_SKIP") != nullptr;

  UncheckedRun() {
    if (const char* const text = std::getenv("TESSERA_CUDA_ORDER")) order = parse_order(text);
  }
  static const UncheckedRun& get() {
    static const UncheckedRun run;
    return run;
  }
};

BlockTask unchecked_task(const char* name, const Position& block, Dim3 extents,
                         tessera::detail::Residents& residents) {
  interrupt_kernels();
  BlockTask task;
  task.kernel_name = name;
  task.block = block;
  task.block_dim = extents;
  task.order = UncheckedRun::get().order;
  task.stack_bytes = kThreadStack;
  task.residents = &residents;
  return task;
}

void run_clusters_unchecked(const char* name, const KernelBody& body, const Configuration& how) {
  const Dim3 grid = extents_of(how.grid), extents = extents_of(how.block),
             cluster = extents_of(how.cluster);
  const auto together = static_cast<std::size_t>(volume(cluster));
  set_dynamic_shared(how.shared_bytes);
  tessera::detail::for_each_block(
      volume(grid) / volume(cluster),
      static_cast<int>(together) * static_cast<int>(volume(extents)), 0,
      [&](index_t number, tessera::detail::Residents& residents) {
        std::vector<std::unique_ptr<tessera::detail::BorrowedScheduler>> borrowed;
        std::vector<BlockScheduler*> schedulers;
        std::vector<BlockTask> tasks;
        for (std::size_t rank = 0; rank < together; ++rank) {
          borrowed.push_back(std::make_unique<tessera::detail::BorrowedScheduler>());
          schedulers.push_back(&**borrowed.back());
          tasks.push_back(unchecked_task(
              name,
              tessera::detail::block_of_cluster(number, static_cast<int>(rank), cluster, grid),
              extents, residents));
        }
        residents.count_warps();
        run_cluster(body, how, schedulers, tasks);
      });
}

void run_unchecked(const char* name, const KernelBody& body, const Configuration& how) {
  const Dim3 grid = extents_of(how.grid), extents = extents_of(how.block);
  tessera::detail::for_each_block(
      volume(grid), static_cast<int>(volume(extents)), 0,
      [&](index_t linear, tessera::detail::Residents& residents) {
        const tessera::detail::BorrowedScheduler scheduler;
        const BlockTask task =
            unchecked_task(name, position_of(static_cast<int>(linear), grid), extents, residents);
        residents.count_warps();
        run_block(body, how, *scheduler, task.block, task);
      });
}

/// The limit is that of the whole program. A thread that is still running may be slow: that is
/// unknown.
void explain_time_limit(check::Report& report, const char* name, const Configuration& how) {
  check::Summary& summary = report.summary;
  const auto is_endless = [](const auto& each) { return each.kind == check::Kind::endless; };
  const auto first = std::find_if(report.findings.begin(), report.findings.end(), is_endless);
  const bool is_thread = first != report.findings.end();
  if (!is_thread && !summary.timed_out) return;
  const std::string limit = cat("time limit of ", Program::get().options.time_limit_s, " s");
  const std::string kernel = cat(
      "kernel ", name,
      Program::get().is_asked ? std::string() : cat(", launched at ", place_text(how.place), ","));
  summary.incomplete_at = {how.place.file, how.place.line, how.place.column};
  if (!is_thread) {
    summary.incomplete =
        cat(limit, " reached in ", kernel, " after ", summary.checked_blocks,
            " of its blocks: raise --time-limit, give the program less to do, or --blocks N for a "
            "sample");
    return;
  }
  const check::Location& last = first->location;
  if (last.line > 0) summary.incomplete_at = last;
  summary.incomplete =
      cat("thread ", to_string(first->threads.at(0)), " of ", kernel, " was still running at the ",
          limit, last.line > 0 ? cat(", last at ", place_text(last)) : std::string(),
          ": find the loop whose condition never becomes false, raise --time-limit, or give the "
          "program less to do");
  summary.errors -= static_cast<std::int64_t>(std::erase_if(report.findings, is_endless));
}

void run_checked(const char* name, const KernelBody& body, const Configuration& how) {
  Program& program = Program::get();
  check::Options options = program.options;
  options.time_limit_s = program.seconds_left();
  options.suppressions.clear();  // they apply to the report of the program
  check::detail::Launch launch;
  launch.kernel = name;
  launch.grid = extents_of(how.grid);
  launch.block = extents_of(how.block);
  launch.declared_block = Dim3{0, 0, 0};
  launch.shared_bytes =
      static_shared_bytes(reinterpret_cast<std::uintptr_t>(body.run)) + how.shared_bytes;
  launch.stack_bytes = kThreadStack;
  launch.buffers = buffers_now();
  launch.run_block = [&](BlockScheduler& scheduler, const Position& block, BlockTask task) {
    run_block(body, how, scheduler, block, task);
  };
  launch.cluster = extents_of(how.cluster);
  launch.run_cluster = [&](std::span<BlockScheduler* const> schedulers,
                           std::span<BlockTask> tasks) {
    run_cluster(body, how, schedulers, tasks);
  };
  launch.is_cuda = launch.sees_everything = true;
  launch.warp_size = options.warp;
  launch.shared_storage = shared_storage;
  launch.shared_storage_bytes = set_dynamic_shared(how.shared_bytes);
  launch.shared_variables = shared_variables();
  launch.shared_objects = shared_objects();
  launch.holds_value = [](std::uint64_t address, std::size_t bytes) {
    return DeviceMemory::get().is_written(address, bytes);
  };
  launch.touched = [&](std::uint64_t address, std::size_t bytes, const auto& touch) {
    if (touch.writes || touch.updates) DeviceMemory::get().wrote(address, bytes);
    if (touch.reads) DeviceMemory::get().was_read(address, bytes);
    Streams::get().touch(address, bytes, touch.reads, touch.writes, touch.updates);
    judge_permissions(name, how.place, address, touch.reads, touch.writes, touch.updates);
  };
  launch.is_guess = is_guess;
  launch.in_any_order = &tessera_in_any_order != nullptr;
  launch.has_returned = [] { return has_returned; };
  launch.elsewhere = [&](std::uint64_t address) {
    using Elsewhere = check::detail::Elsewhere;
    return address - reinterpret_cast<std::uint64_t>(body.closure) < body.bytes
               ? Elsewhere{.what = Elsewhere::What::allowed}  // the kernel's arguments
               : elsewhere(address);
  };
  const std::int64_t threads = volume(launch.block);
  launch.watched = program.watched_blocks(name, volume(launch.grid), threads);
  Streams::get().begin(how.stream, how.place, cat("kernel ", name));
  check::Report report = check::detail::run(options, launch);
  Streams::get().end();
  explain_time_limit(report, name, how);
  program.add(name, threads, std::move(report));
  if (program.report.summary.timed_out) program.leave();
}

}  // namespace

void configure(Place place, dim3 grid, dim3 block, std::size_t shared_bytes, CUstream_st* stream,
               dim3 cluster) {
  if (current != nullptr)
    cannot_run(place, "a kernel launches a kernel",
               "launches from the host: dynamic parallelism is not supported");
  configuration = {true, place, grid, block, shared_bytes, stream, cluster};
}

namespace {
/// If the stream captures, the launch is stored with a copy of its arguments, byte by byte as CUDA
/// copies them.
bool is_kept(const Configuration& how, const char* name, const LaunchBounds& bounds,
             const ClusterDims& declared, const KernelBody& body) {
  if (capture_of(how.stream) == nullptr) return false;
  const auto* const begin = static_cast<const std::byte*>(body.closure);
  const std::vector<std::byte> closure(begin, begin + body.bytes);
  return is_captured(
      how.stream,
      [=, run = body.run](cudaStream_t stream) {
        configuration = how;
        configuration.stream = stream;
        run_kernel_body(name, bounds, declared, {closure.data(), closure.size(), run});
      },
      cudaGraphNodeTypeKernel);
}
}  // namespace

cudaError_t launch_error() {
  const cudaError_t lost = Program::get().device_error();
  return lost != cudaSuccess ? lost : error_of_launch;
}

void run_kernel_body(const char* name, const LaunchBounds& bounds, const ClusterDims& declared,
                     const KernelBody& body) {
  Configuration how = std::exchange(configuration, {});
  if (!how.is_set)
    throw Error(Category::kernel, cat("kernel ", name, " is called like a function"),
                cat(name, "<<<grid, block>>>(...)"));
  if (is_forked()) leave_forked(cat("launches ", name, " at ", place_text(how.place)));
  error_of_launch = require_stream(name, how.stream, how.place);
  if (error_of_launch != cudaSuccess || is_kept(how, name, bounds, declared, body)) return;
  if (!require_possible(name, bounds, how.place, how.grid, how.block, how.shared_bytes) ||
      !require_cluster(name, how.place, how.grid, declared, how.cluster)) {
    error_of_launch = Program::get().last_error(false);
    return;
  }
  if (Program::get().is_checked) return run_checked(name, body, how);
  if (UncheckedRun::get().skips_kernels) return;
  try {
    if (volume(extents_of(how.cluster)) > 1) run_clusters_unchecked(name, body, how);
    else run_unchecked(name, body, how);
  } catch (const Error& error) {  // as on a GPU, the program finds out at its next call
    if (Program::get().device_error() == cudaSuccess) throw;
    std::fprintf(stderr, "%s\n", error.what());
  }
}

}  // namespace tessera::plain_cuda
