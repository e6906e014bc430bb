// launch(config, kernel, args...): runs a kernel object on the CPU engine, blocks in parallel over
// the cores. A kernel is `void operator()(auto t, auto... args) const`. It may declare
//   static constexpr const char* name;          for reports
//   static constexpr Dim3 block;                its block size
//   struct Shared { ... };                      its shared storage; or, for T = the element type
//   template <class T> struct Shared { ... };   of the first argument
//   static constexpr std::size_t stack_bytes;   the stack of a thread, if it needs over 64 KiB
//   static constexpr int warp = 64;             lanes of a warp as on AMD's CDNA GPUs (CPU)
//   static constexpr Dim3 cluster;              blocks that run together (sm_90; simt/gate.hpp)
// so that the launcher knows all sizes in advance.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tessera/core/cpu.hpp"
#include "tessera/core/error.hpp"
#include "tessera/simt/cpu_thread.hpp"
#include "tessera/simt/launch_blocks.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera {

/// Largest block and shared storage of the GPUs whose kernels run here (sm_80 and later: 1024
/// threads; sm_90: 227 KiB).
inline constexpr int kMaxBlockThreads = 1024;
inline constexpr std::size_t kMaxSharedBytes = 227 * 1024;

struct LaunchConfig {
  Dim3 grid, block;
  int threads = 0;  ///< OS threads; 0: default_threads()
  ThreadOrder order = ThreadOrder::forward;
  std::uint64_t seed = 0;
};

namespace detail {

template <class Kernel>
constexpr const char* kernel_name() {
  if constexpr (requires { Kernel::name; }) return Kernel::name;
  else return "(unnamed)";
}

/// The block size a kernel declares, or (0,0,0).
template <class Kernel>
constexpr Dim3 declared_block() {
  if constexpr (requires { Kernel::block.x; }) return Kernel::block;
  else return Dim3{0, 0, 0};
}

/// The largest cluster that every GPU with clusters supports.
inline constexpr int kMostClusterBlocks = 8;

/// The blocks of a cluster that a kernel declares, or one.
template <class Kernel>
constexpr Dim3 declared_cluster() {
  if constexpr (requires { Kernel::cluster.x; }) {
    static_assert(Kernel::cluster.x > 0 && Kernel::cluster.y > 0 && Kernel::cluster.z > 0 &&
                      volume(Kernel::cluster) <= kMostClusterBlocks,
                  "a kernel's cluster has 1 to 8 blocks");
    return Kernel::cluster;
  } else {
    return Dim3{};
  }
}

/// The lanes of a warp that a kernel declares, or the usual 32.
template <class Kernel>
constexpr int declared_warp() {
  if constexpr (requires { Kernel::warp; }) {
    static_assert(Kernel::warp == 32 || Kernel::warp == 64,
                  "a kernel's warp is 32 lanes, or 64 as on AMD's CDNA GPUs");
    return Kernel::warp;
  } else {
    return kWarpSize;
  }
}

/// The factor by which a sanitizer's red zones enlarge stack frames.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t kFrameGrowth = 4;
#else
inline constexpr std::size_t kFrameGrowth = 1;
#endif

/// The stack that a kernel declares for each of its threads, or the usual one.
template <class Kernel>
constexpr std::size_t declared_stack() {
  if constexpr (requires { Kernel::stack_bytes; }) {
    static_assert(
        Kernel::stack_bytes >= kStackBytes && Kernel::stack_bytes <= kMaxStackBytes,
        "a kernel's stack_bytes must be between 64 KiB, what every thread has, and 16 MiB");
    return Kernel::stack_bytes * kFrameGrowth;
  } else {
    return kStackBytes * kFrameGrowth;
  }
}

template <class T>
struct SharedElement {
  using type = T;
};
template <class T>
requires requires { typename T::element; }
struct SharedElement<T> {
  using type = std::remove_cv_t<typename T::element>;
};

/// Owns its elements: pass its view() to kernels.
template <class T>
concept Owner = !std::is_copy_constructible_v<T> && requires(const T& owner) {
  owner.view();
};

template <class Kernel, class... Args>
struct SharedOf {
  static constexpr std::size_t bytes = 0;
};
template <class Kernel, class... Args>
requires requires { sizeof(typename Kernel::Shared); }
struct SharedOf<Kernel, Args...> {
  static constexpr std::size_t bytes = sizeof(typename Kernel::Shared);
};
template <class Kernel, class First, class... Rest>
requires requires { sizeof(typename Kernel::template Shared<typename SharedElement<First>::type>); }
struct SharedOf<Kernel, First, Rest...> {
  static constexpr std::size_t bytes =
      sizeof(typename Kernel::template Shared<typename SharedElement<First>::type>);
};

/// One thread of a block: everything is inlined into `run`, once for each instruction set. The
/// choice is made at run time, so that no flag of the build decides how fast the kernels are.
template <class Kernel, class... Args>
struct CpuEntry {
  const Kernel& kernel;
  const LaunchConfig& config;
  Position block;
  BlockScheduler& scheduler;
  std::tuple<const Args&...> args;

  TESSERA_KERNEL void call(int thread) const {
    CpuThread<declared_block<Kernel>(), declared_warp<Kernel>()> t(scheduler, thread, block,
                                                                   config.block, config.grid);
    std::apply([&](const Args&... each) { kernel(t, each...); }, args);
  }
#if TESSERA_CHECK  // a checked kernel is dominated by the recorder: one path for every CPU
  [[gnu::flatten]]
#endif
  static void
  run(void* self, int thread) {
    static_cast<const CpuEntry*>(self)->call(thread);
  }
#if defined(__x86_64__) && !TESSERA_CHECK
  [[gnu::target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,movbe"), gnu::flatten]] static void run_avx2(
      void* self, int thread) {
    static_cast<const CpuEntry*>(self)->call(thread);
  }
#endif
  static BlockTask::Body body() {
#if defined(__x86_64__) && !TESSERA_CHECK
    if (vector_path() >= VectorPath::avx2) return run_avx2;
#endif
    return run;
  }
};

void check_launch(const char* kernel, const LaunchConfig& config, std::size_t shared_bytes,
                  Dim3 declared, Dim3 cluster = {});
/// A grid is made of whole clusters. Throws Error(argument).
void check_clusters(const char* kernel, Dim3 grid, Dim3 cluster);
/// The position in the grid of block `rank` of a cluster: both are counted x fastest.
Position block_of_cluster(index_t number, int rank, Dim3 cluster, Dim3 grid);

}  // namespace detail

/// Runs `kernel(t, args...)` for every thread of every block; returns when all have ended.
/// Arguments are passed to the kernel by value: tensors are views. A grid with no block does
/// nothing. Throws Error(argument) for impossible blocks, grids or thread counts or too much shared
/// storage, Error(resource) where there is no memory for the stacks. A kernel that threw, diverged
/// at a barrier or overflowed a stack is an Error(kernel), an element that does not exist an
/// Error(shape); an Error that the kernel threw keeps its category. Stores made before the error
/// remain.
template <class Kernel, class... Args>
void launch(const LaunchConfig& config, const Kernel& kernel, const Args&... args) {
  static_assert((!detail::Owner<Args> && ...),
                "launch passes views to the kernel: give it A.view() instead of A");
  constexpr std::size_t shared_bytes = detail::SharedOf<Kernel, Args...>::bytes;
  constexpr Dim3 declared = detail::declared_block<Kernel>();
  using Thread = CpuThread<declared, detail::declared_warp<Kernel>()>;
  static_assert(std::is_invocable_v<const Kernel&, Thread&, const Args&...>,
                "launch calls kernel(t, args...): a kernel is void operator()(auto t, auto... "
                "args) const, with a parameter for each argument that follows it in the call");
  constexpr Dim3 cluster = detail::declared_cluster<Kernel>();
  constexpr int together = static_cast<int>(volume(cluster));
  detail::check_launch(detail::kernel_name<Kernel>(), config, shared_bytes, declared, cluster);
  using Entry = detail::CpuEntry<Kernel, Args...>;
  const auto body = Entry::body();
  const auto task_of = [&](const Entry& entry, detail::Residents& residents) {
    BlockTask task;
    task.kernel_name = detail::kernel_name<Kernel>();
    task.block = entry.block;
    task.block_dim = config.block;
    task.warp_size = detail::declared_warp<Kernel>();
    task.order = config.order;
    task.seed = config.seed;
    task.shared_bytes = shared_bytes;
    task.stack_bytes = detail::declared_stack<Kernel>();
    task.body = body;
    task.closure = const_cast<Entry*>(&entry);
    task.residents = &residents;
    return task;
  };
  const auto run_blocks = [&](index_t number, detail::Residents& residents) {
    if constexpr (together == 1) {
      const detail::BorrowedScheduler scheduler;
      const Position block = position_of(static_cast<int>(number), config.grid);
      const Entry entry{kernel, config, block, *scheduler, std::tie(args...)};
      (*scheduler).run(task_of(entry, residents));
    } else {
      const detail::BorrowedScheduler schedulers[together];
      [&]<int... Rank>(std::integer_sequence<int, Rank...>) {
        const Entry entries[] = {Entry{kernel, config,
                                       detail::block_of_cluster(number, Rank, cluster, config.grid),
                                       *schedulers[Rank], std::tie(args...)}...};
        BlockScheduler* const blocks[] = {&*schedulers[Rank]...};
        const BlockTask tasks[] = {task_of(entries[Rank], residents)...};
        BlockScheduler::run_together(blocks, tasks);
      }
      (std::make_integer_sequence<int, together>());
    }
  };
  detail::for_each_block(volume(config.grid) / together,
                         together * static_cast<int>(volume(config.block)), config.threads,
                         run_blocks);
}

/// The same with the block size that the kernel declares.
template <class Kernel, class... Args>
void launch(Dim3 grid, const Kernel& kernel, const Args&... args) {
  constexpr Dim3 declared = detail::declared_block<Kernel>();
  static_assert(declared.x > 0,
                "launch(grid, kernel) takes the block size that the kernel declares: give it a "
                "static constexpr Dim3 block, or launch a LaunchConfig with a block");
  launch(LaunchConfig{.grid = grid, .block = declared}, kernel, args...);
}

}  // namespace tessera
