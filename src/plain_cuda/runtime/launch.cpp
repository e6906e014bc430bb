// Launches kernels in plain CUDA on the CPU engine, watched by a recorder where the program is
// checked.
#include "tessera/plain_cuda/parts/launch.h"

#include <cstring>
#include <utility>

#include "context.hpp"
#include "debug_info.hpp"
#include "launch_limits.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/recorder.hpp"
#include "tessera/core/text.hpp"
#include "tessera/simt/launch.hpp"

/// Where the variables in shared memory of the program's files lie in the thread-local storage: the
/// command links them between the two.
extern "C" {
extern __thread std::byte tessera_shared_begin[];
extern __thread std::byte tessera_dynamic_shared[];
}

namespace tessera::plain_cuda {

namespace {

struct Configuration {
  bool is_set = false;
  Place place;
  dim3 grid, block;
  std::size_t shared_bytes = 0;
};
thread_local Configuration configuration;

/// Of dynamic shared memory, in the launch at hand.
std::size_t dynamic_bytes = 0;

std::byte* shared_begin() { return tessera_shared_begin; }

/// One thread of a block: its context lives on its stack while it runs.
struct Entry {
  const KernelBody& body;
  BlockContext& block;
  Dim3 extents;
  std::size_t stack_bytes;

  static void run(void* self, int thread) {
    const Entry& entry = *static_cast<const Entry*>(self);
    const Position at = position_of(thread, entry.extents);
    // Frames above this one are the engine's; a red zone's worth of room is the thread's as well.
    const auto top = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 256;
    ThreadContext mine{
        entry.block,
        thread,
        {static_cast<unsigned>(at.x), static_cast<unsigned>(at.y), static_cast<unsigned>(at.z)},
        top - entry.stack_bytes,
        entry.stack_bytes};
    current = &mine;
    try {
      entry.body.run(entry.body.closure);
      settle();
    } catch (const Abandon&) {
      settle();
    } catch (...) {
      pending_write = {};
      current = nullptr;
      throw;
    }
    current = nullptr;
  }
};

constexpr std::size_t kThreadStack = 512 * 1024;  // a GPU's local memory of one thread

Dim3 extents_of(dim3 d) {
  return {static_cast<int>(d.x), static_cast<int>(d.y), static_cast<int>(d.z)};
}

void run_block(const KernelBody& body, const Configuration& how, BlockScheduler& scheduler,
               const Position& block, BlockTask task) {
  BlockContext context{scheduler,
                       {static_cast<unsigned>(block.x), static_cast<unsigned>(block.y),
                        static_cast<unsigned>(block.z)},
                       how.block,
                       how.grid,
                       task.warp_size};
  Entry entry{body, context, extents_of(how.block), task.stack_bytes};
  task.body = Entry::run;
  task.closure = &entry;
  scheduler.run(task);
  current = nullptr;
}

void run_unchecked(const char* name, const KernelBody& body, const Configuration& how) {
  const Dim3 grid = extents_of(how.grid), extents = extents_of(how.block);
  tessera::detail::for_each_block(volume(grid), static_cast<int>(volume(extents)), 0,
                                  [&](index_t linear, tessera::detail::Residents& residents) {
                                    const tessera::detail::BorrowedScheduler scheduler;
                                    BlockTask task;
                                    task.kernel_name = name;
                                    task.block = position_of(static_cast<int>(linear), grid);
                                    task.block_dim = extents;
                                    task.stack_bytes = kThreadStack;
                                    task.residents = &residents;
                                    run_block(body, how, *scheduler, task.block, task);
                                  });
}

std::vector<check::detail::Buffer> buffers_now() {
  DeviceMemory& memory = DeviceMemory::get();
  std::vector<check::detail::Buffer> out;
  for (const Allocation* each : memory.live()) {
    if (each->bytes == 0) continue;
    check::detail::Buffer buffer;
    buffer.name = DeviceMemory::name_of(*each);
    buffer.data = reinterpret_cast<const void*>(each->begin);
    buffer.element_bytes = each->bytes % each->element_bytes == 0 ? each->element_bytes : 1;
    buffer.layout = row_major(static_cast<index_t>(each->bytes / buffer.element_bytes));
    buffer.is_output = true;
    buffer.has_unwritten = memory.unwritten(each->begin, each->bytes) > 0;
    out.push_back(std::move(buffer));
  }
  for (const Variable& each : variables()) {
    if (each.is_shared || each.bytes == 0) continue;
    check::detail::Buffer buffer;
    buffer.name = each.name;
    buffer.data = reinterpret_cast<const void*>(each.address);
    buffer.element_bytes = each.element_bytes;
    std::vector<index_t> extents = each.extents;
    buffer.layout = row_major(static_cast<index_t>(each.bytes / each.element_bytes));
    if (extents.size() == 2) buffer.layout = row_major(extents[0], extents[1]);
    buffer.is_output = true;
    out.push_back(std::move(buffer));
  }
  return out;
}

std::vector<check::detail::SharedVariable> shared_variables() {
  const auto begin =
      static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(tessera_shared_begin) -
                                reinterpret_cast<std::intptr_t>(__builtin_thread_pointer()));
  std::vector<check::detail::SharedVariable> out;
  for (const Variable& each : variables()) {
    if (!each.is_shared) continue;
    out.push_back({each.name, static_cast<std::uint64_t>(each.thread_offset - begin), each.bytes,
                   each.element_bytes, each.extents});
  }
  return out;
}

/// Bytes that the kernel's own variables take in shared memory, and those of functions that are no
/// kernel's.
std::size_t static_shared_bytes(std::string_view kernel) {
  std::size_t out = 0;
  for (const Variable& each : variables()) {
    if (each.is_shared && (each.function == kernel || !each.is_in_kernel)) out += each.bytes;
  }
  return out;
}

}  // namespace

KernelMemory memory_at(std::uintptr_t address) {
  const auto shared = reinterpret_cast<std::uintptr_t>(tessera_shared_begin);
  const auto shared_bytes =
      reinterpret_cast<std::uintptr_t>(tessera_dynamic_shared) - shared + dynamic_bytes;
  if (address - shared < shared_bytes) return {shared, shared_bytes};
  if (const Allocation* found = DeviceMemory::get().find(address); found != nullptr)
    return found->freed ? KernelMemory{} : KernelMemory{found->begin, found->bytes};
  for (const Variable& each : variables()) {
    if (!each.is_shared && address - each.address < each.bytes) return {each.address, each.bytes};
  }
  return {};
}

namespace {

check::detail::Elsewhere elsewhere(std::uint64_t address, const KernelBody& body) {
  using What = check::detail::Elsewhere::What;
  if (address - reinterpret_cast<std::uint64_t>(body.closure) < body.bytes)
    return {.what = What::allowed};
  DeviceMemory& memory = DeviceMemory::get();
  if (const Allocation* found = memory.find(address); found != nullptr && found->freed) {
    const std::string path = found->freed->file;
    return {What::wrong,
            check::Kind::freed_memory,
            cat(DeviceMemory::name_of(*found), ", which was given back at ",
                path.substr(path.rfind('/') + 1), ":", found->freed->line),
            {}};
  }
  if (memory.contains(reinterpret_cast<const void*>(address))) return {};
  const auto to_shared = address - reinterpret_cast<std::uint64_t>(tessera_shared_begin);
  if (to_shared < (std::uint64_t{1} << 20) || to_shared + 4096 < 4096 + 4096) return {};
  if (address < 65536) return {};
  if (is_read_only(address)) return {.what = What::allowed};
  return {What::wrong, check::Kind::host_memory, "memory of the host", {}};
}

void run_checked(const char* name, const KernelBody& body, const Configuration& how) {
  Program& program = Program::get();
  check::detail::Launch launch;
  launch.kernel = name;
  launch.grid = extents_of(how.grid);
  launch.block = extents_of(how.block);
  launch.declared_block = Dim3{0, 0, 0};
  launch.shared_bytes = static_shared_bytes(name) + how.shared_bytes;
  launch.stack_bytes = kThreadStack;
  launch.buffers = buffers_now();
  launch.run_block = [&](BlockScheduler& scheduler, const Position& block, BlockTask task) {
    run_block(body, how, scheduler, block, task);
  };
  launch.is_cuda = launch.sees_everything = true;
  launch.shared_storage = shared_begin;
  launch.shared_storage_bytes =
      static_cast<std::size_t>(tessera_dynamic_shared - tessera_shared_begin) + how.shared_bytes;
  launch.shared_variables = shared_variables();
  dynamic_bytes = how.shared_bytes;
  launch.holds_value = [](std::uint64_t address, std::size_t bytes) {
    return DeviceMemory::get().is_written(address, bytes);
  };
  launch.wrote = [](std::uint64_t address, std::size_t bytes) {
    DeviceMemory::get().wrote(address, bytes);
  };
  launch.elsewhere = [&](std::uint64_t address) { return elsewhere(address, body); };
  check::Options options = program.options;
  options.time_limit_s = program.seconds_left();
  const std::int64_t threads = volume(launch.block);
  launch.watched = program.watched_blocks(name, volume(launch.grid), threads);
  program.add(name, threads, check::detail::run(options, launch));
  if (program.report.summary.timed_out) program.leave();
}

}  // namespace

void configure(Place place, dim3 grid, dim3 block, std::size_t shared_bytes, CUstream_st*) {
  if (current != nullptr)
    throw Error(Category::unavailable,
                cat(place.file, ":", place.line, ": a kernel launches a kernel"),
                "launches from the host: dynamic parallelism is not supported");
  configuration = {true, place, grid, block, shared_bytes};
}

void run_kernel_body(const char* name, const LaunchBounds& bounds, const KernelBody& body) {
  const Configuration how = std::exchange(configuration, {});
  if (!how.is_set)
    throw Error(Category::kernel, cat("kernel ", name, " is called like a function"),
                cat(name, "<<<grid, block>>>(...)"));
  if (!require_possible(name, bounds, how.place, how.grid, how.block, how.shared_bytes)) return;
  if (Program::get().is_checked) run_checked(name, body, how);
  else run_unchecked(name, body, how);
}

}  // namespace tessera::plain_cuda
