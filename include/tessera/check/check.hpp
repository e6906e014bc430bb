// check(options, grid, kernel, args...): runs a kernel on the CPU engine, each thread exactly once,
// and reports what a sanitizer and a profiler would report on a GPU. The kernel's source is
// unchanged; the file that calls check() is compiled with TESSERA_CHECK=1. Memory afterwards is as
// launch() leaves it.
//
// Tensors of constant elements are inputs, others outputs. Accesses through raw pointers are not
// seen, but changes that they make to shared storage and outputs are reported.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/check/report.hpp"
#include "tessera/check/suppressions.hpp"
#include "tessera/check/swap.hpp"
#include "tessera/layout/layout.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera::check {

/// Where a debugger is to stop: the checker calls `tessera_stop()` when this thread enters the
/// superstep (each time), or at its first access where no superstep is named.
/// `gdb -ex 'break tessera_stop' -ex run --args PROGRAM` then has the kernel's line in its
/// backtrace.
struct StopAt {
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::string superstep;
};
/// "block=0,1,0 thread=3,0,0 superstep=load"; what is left out is 0. Throws Error(argument).
StopAt parse_stop_at(std::string_view text);

struct Options {
  int threads = 0;  ///< OS threads; 0: default_threads(). The report does not depend on it.
  ThreadOrder order = ThreadOrder::forward;
  std::uint64_t seed = 0;
  std::int64_t blocks = 0;    ///< number of blocks to check, over the grid; 0: all
  double time_limit_s = 0;    ///< ends a kernel that takes longer; 0: none
  bool correctness = true;    ///< false: counters only
  bool forget_tiles = false;  ///< report elements of a tile that were not loaded again with it
  bool coverage =
      false;  ///< it is an error if an input is not read, or an output not written, completely
  bool fresh_outputs = false;        ///< outputs are uninitialised: reading them is an error
  int registers = 0;                 ///< of a thread, as `ptxas -v` says; 0: unknown, no limit
  int warp = kWarpSize;              ///< warp size of plain CUDA; Tessera's kernels declare it
  std::vector<std::string> tensors;  ///< names of the tensor arguments; default "A", "B", "C", ...
  std::string problem;               ///< kept in the report
  std::string device;  ///< the GPU whose limits count ("a100"); empty: what any GPU has
  std::vector<Suppression> suppressions;
  std::optional<StopAt> stop_at;  ///< use one OS thread and no time limit with it
};

namespace detail {

/// The bytes of an element that none of its members has, as [begin, end) in order.
using Gaps = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// A tensor argument: its memory and layout.
struct Buffer {
  std::string name;
  const void* data = nullptr;
  Layout layout;
  std::size_t element_bytes = 0;
  std::optional<DType> dtype;
  bool is_output = false;
  bool has_unwritten = false;         ///< parts of it held no value before the launch
  std::optional<std::uint16_t> fill;  ///< of plain CUDA: what these parts hold; none: unknown
  bool is_bulk = false;               ///< bulk copies read it, or store to it: it is then an output
  std::optional<Gaps> gaps;           ///< of plain CUDA; none: the type of its elements is unknown
};

/// A variable in shared memory that has its own name.
struct SharedVariable {
  std::string name;
  std::uint64_t offset = 0, bytes = 0;  ///< from the first byte of the block's storage
  std::size_t element_bytes = 1;
  std::vector<index_t> extents;  ///< row major
  std::optional<Gaps> gaps;      ///< as in Buffer
};

/// A description of an address outside all buffers of the launch.
struct Elsewhere {
  enum class What { unknown, allowed, wrong };
  What what = What::unknown;
  Kind kind = Kind::out_of_bounds;  ///< of what is wrong, and in words:
  std::string detail, advice;
};

/// A kernel with its arguments, ready to run block by block.
struct Launch {
  const char* kernel = "";
  Dim3 grid, block, declared_block, cluster;
  int warp_size = kWarpSize;
  bool needs_sm_90a = false;  ///< as the kernel declares
  std::size_t shared_bytes = 0, stack_bytes = 0;
  std::vector<Buffer> buffers;
  /// Objects that hold the arguments: reading them is no access to global memory.
  std::vector<std::pair<const void*, std::size_t>> constants;
  /// Sets body and closure of the task and runs it.
  std::function<void(BlockScheduler&, const Position& block, BlockTask)> run_block;
  /// The same for the blocks of a cluster, by rank.
  std::function<void(std::span<BlockScheduler* const>, std::span<BlockTask>)> run_cluster;

  // Of kernels in plain CUDA:
  bool is_cuda = false;  ///< advice uses CUDA's names
  /// Address and size of the block's shared storage on the calling OS thread; null: the scheduler
  /// owns it.
  std::byte* (*shared_storage)() = nullptr;
  std::size_t shared_storage_bytes = 0;
  std::vector<SharedVariable> shared_variables;
  /// The [begin, end) offsets of its objects; bytes between them belong to none. Empty: unknown.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> shared_objects;
  /// Every access is recorded, so memory is not compared to find unrecorded ones.
  bool sees_everything = false;
  /// If not 0: all blocks run, and this many of them, spread over the grid, are checked. 0: only
  /// checked blocks run.
  std::int64_t watched = 0;
  /// Was this byte written before the launch? Called for buffers with uninitialised parts.
  std::function<bool(std::uint64_t address, std::size_t bytes)> holds_value;
  /// Called after the launch for each run of elements that were accessed alike.
  struct Touch {
    bool reads = false, writes = false, updates = false;
  };
  std::function<void(std::uint64_t address, std::size_t bytes, Touch)> touched;
  std::function<Elsewhere(std::uint64_t address)> elsewhere;
  /// Is a value read there only a guess that an atomic compare-and-swap then tests? Called after
  /// the launch.
  std::function<bool(const Here&)> is_guess;
  /// Did the thread that has just ended on this OS thread return before the end of its code, after
  /// its last barrier? Null: unknown.
  bool (*has_returned)() = nullptr;
  /// May blocks carry out atomic updates in any order? They commute, and nobody uses their results.
  bool in_any_order = false;
};

Report run(const Options& options, const Launch& launch);

template <class T>
std::optional<DType> dtype_if_known() {
  if constexpr (std::is_class_v<T>) {
    if constexpr (requires { Accumulator<T>{1.0f}; }) {
      if constexpr (!std::is_same_v<Accumulator<T>, T>) return dtype_of<T>();
    }
    return {};
  } else {
    return dtype_of<T>();
  }
}

template <class T, Layout L, class E>
void add_buffer(std::vector<Buffer>& out, const Tensor<T*, L, E>& t) {
  using Element = std::remove_cv_t<T>;
  out.push_back(
      {"", t.data(), t.layout(), sizeof(T), dtype_if_known<Element>(), !std::is_const_v<T>});
}
template <AnyTensor C>
void add_buffer(std::vector<Buffer>& out, const Output<C>& o) {
  add_buffer(out, o.c);
}
/// A matrix of bulk copies (ops/bulk.hpp); its map has the address.
template <class M>
requires requires(const M& m) {
  typename M::tile_type;
  fields_of(m.map);
}
void add_buffer(std::vector<Buffer>& out, const M& m) {
  using Element = typename M::element;
  if (m.rows == 0 && m.cols == 0) return;  // not used
  Buffer buffer{"", nullptr, Layout{tuple(m.rows, m.cols)}, sizeof(Element),
                dtype_if_known<Element>()};
  if (m.rows > 0 && m.cols > 0) {
    const auto fields = fields_of(m.map);
    const index_t next = fields.stride_bytes / static_cast<index_t>(sizeof(Element));
    buffer.data = fields.data;
    buffer.layout.stride = m.is_k_major() ? tuple(next, 1) : tuple(1, next);
  }
  buffer.is_bulk = true;
  out.push_back(buffer);
}
template <class Other>
void add_buffer(std::vector<Buffer>&, const Other&) {}
/// Removes matrices of bulk copies whose memory is also that of another argument.
void drop_views(std::vector<Buffer>& buffers);

}  // namespace detail

/// Throws Error(argument) where the options are wrong, Error(resource) where there is no memory;
/// what the kernel does wrong is a finding, also where it crashes. A kernel that calls exit() ends
/// the program.
template <class Kernel, class... Args>
Report check(const Options& options, const LaunchConfig& config, const Kernel& kernel,
             const Args&... args) {
  static_assert(tessera::detail::kRecorded || sizeof(Kernel) == 0,
                "check() sees accesses only in files compiled with TESSERA_CHECK=1");
  static_assert((!tessera::detail::Owner<Args> && ...),
                "check passes views to the kernel: give it A.view() instead of A");
  static_assert(!(std::is_pointer_v<Args> || ...),
                "check sees what a kernel does to tensors, and nothing of a raw pointer: pass "
                "tensor<row_major(dynamic)>(pointer, count) instead");
  using Entry = tessera::detail::CpuEntry<Kernel, Args...>;
  detail::Launch launch;
  launch.kernel = tessera::detail::kernel_name<Kernel>();
  launch.grid = config.grid;
  launch.block = config.block;
  launch.declared_block = tessera::detail::declared_block<Kernel>();
  launch.cluster = tessera::detail::declared_cluster<Kernel>();
  launch.warp_size = tessera::detail::declared_warp<Kernel>();
  if constexpr (requires { Kernel::needs_sm_90a; }) launch.needs_sm_90a = Kernel::needs_sm_90a;
  launch.shared_bytes = tessera::detail::SharedOf<Kernel, Args...>::bytes;
  launch.stack_bytes = tessera::detail::declared_stack<Kernel>();
  (detail::add_buffer(launch.buffers, args), ...);
  detail::drop_views(launch.buffers);
  launch.constants.emplace_back(&kernel, sizeof kernel);
  (launch.constants.emplace_back(&args, sizeof args), ...);
  launch.run_block = [&](BlockScheduler& scheduler, const Position& block, BlockTask task) {
    const Entry entry{kernel, config, block, scheduler, std::tie(args...)};
    task.body = Entry::body();
    task.closure = const_cast<Entry*>(&entry);
    scheduler.run(task);
  };
  if constexpr (volume(tessera::detail::declared_cluster<Kernel>()) > 1) {
    launch.run_cluster = [&](std::span<BlockScheduler* const> schedulers,
                             std::span<BlockTask> tasks) {
      std::vector<Entry> entries;
      entries.reserve(tasks.size());
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        entries.push_back(Entry{kernel, config, tasks[i].block, *schedulers[i], std::tie(args...)});
        tasks[i].body = Entry::body();
        tasks[i].closure = &entries[i];
      }
      BlockScheduler::run_together(schedulers, tasks);
    };
  }
  return detail::run(options, launch);
}

/// The same with the block size that the kernel declares.
template <class Kernel, class... Args>
Report check(const Options& options, Dim3 grid, const Kernel& kernel, const Args&... args) {
  constexpr Dim3 declared = tessera::detail::declared_block<Kernel>();
  static_assert(declared.x > 0,
                "check(options, grid, kernel) takes the block size that the kernel declares: give "
                "it a static constexpr Dim3 block, or a LaunchConfig with a block");
  return check(options, LaunchConfig{.grid = grid, .block = declared}, kernel, args...);
}

}  // namespace tessera::check
