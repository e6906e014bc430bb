// The checker's report of one kernel: findings, counters, and how much of each tensor was accessed.
// Plain values, from which text, JSON, JUnit, pages and advice are made. Scripts rely on the names
// of kinds and counters: they do not change within a major version.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/core/config.hpp"
#include "tessera/core/dtype.hpp"
#include "tessera/simt/dim3.hpp"

namespace tessera::check {

/// What is wrong.
enum class Kind : std::uint8_t {
  race,                ///< two accesses that nothing orders, at least one of them a write
  out_of_bounds,       ///< an access outside every allocation
  outside_view,        ///< an element outside the view, inside some allocation
  misaligned,          ///< a wide access at an address that is no multiple of its width
  uninitialized_read,  ///< a read of an uninitialised element
  stale_read,          ///< an element of a tile that was not written when the tile was loaded again
  diverged_barrier,    ///< threads of one block or warp at different barriers
  missing_barrier,     ///< a barrier that some threads never reach
  early_return,        ///< threads that end before a barrier at which the others wait
  async_not_waited,    ///< an access to what an asynchronous copy may still be writing
  async_never_waited,  ///< an asynchronous copy that its thread never waits for
  mma_misuse,          ///< a matrix instruction in a partial warp
  exception,           ///< a kernel that throws
  stack_overflow,      ///< a thread that needs more than its stack
  endless,             ///< a thread that took most of the time limit and did not end
  never_read,          ///< an input of which elements were never read
  never_written,       ///< an output of which elements were never written
  written_twice,       ///< an output of which elements were written more than once
  impossible_launch,   ///< more threads or shared storage than the device gives to a block
  crash,               ///< a thread that dies of a signal, or ends the program
  unseen_write,        ///< memory that changed without an access that was recorded
  deadlock,            ///< threads that wait for a value that no thread will change
  barrier_misuse,      ///< an impossible named barrier or mask of lanes
  bulk_not_awaited,    ///< an access to what a bulk copy may still be writing
  gate_phase,          ///< a wait for a phase that ended before its copy was expected
  stage_reused,        ///< a bulk copy into bytes whose earlier reads are not ordered before it
  missing_async_fence,  ///< ordinary stores that a bulk store or matrix unit reads without a fence
  mma_not_awaited,      ///< sums or operands that are accessed while a matrix unit works on them
  mma_unordered,        ///< matrix instructions without a fence, or not alike in all four warps
  gate_bytes,           ///< a phase that expects a different number of bytes than arrive
  gate_arrivals,        ///< more or fewer arrivals than a gate counts, or use before it is open
  source_overwritten,   ///< shared bytes that a bulk store may still be reading are written
  store_never_awaited,  ///< a block that ends, or a reader that starts, before its bulk stores
  cluster_exit,         ///< a block that ends while another of its cluster may still reach it
  stuck,                ///< threads that wait at gates, and no thread can continue
  host_memory,     ///< a kernel that follows a pointer of the host, or the host one of the device
  freed_memory,    ///< memory that was freed
  runtime_misuse,  ///< a CUDA runtime call with wrong arguments, or whose error was not checked
  program_failed   ///< a program whose own checks failed
};
inline constexpr std::array<std::string_view, 39> kKindNames = {"race",
                                                                "out-of-bounds",
                                                                "outside-view",
                                                                "misaligned",
                                                                "uninitialized-read",
                                                                "stale-read",
                                                                "diverged-barrier",
                                                                "missing-barrier",
                                                                "early-return",
                                                                "async-not-waited",
                                                                "async-never-waited",
                                                                "mma-misuse",
                                                                "exception",
                                                                "stack-overflow",
                                                                "endless",
                                                                "never-read",
                                                                "never-written",
                                                                "written-twice",
                                                                "impossible-launch",
                                                                "crash",
                                                                "unseen-write",
                                                                "deadlock",
                                                                "barrier-misuse",
                                                                "bulk-not-awaited",
                                                                "gate-phase",
                                                                "stage-reused",
                                                                "missing-async-fence",
                                                                "mma-not-awaited",
                                                                "mma-unordered",
                                                                "gate-bytes",
                                                                "gate-arrivals",
                                                                "source-overwritten",
                                                                "store-never-awaited",
                                                                "cluster-exit",
                                                                "stuck",
                                                                "host-memory",
                                                                "freed-memory",
                                                                "runtime-misuse",
                                                                "program-failed"};
constexpr std::string_view name(Kind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

/// note: legal, but suspicious. warning: not guaranteed to work everywhere. error: wrong.
enum class Severity : std::uint8_t { note, warning, error };
constexpr std::string_view name(Severity severity) {
  return severity == Severity::note ? "note" : severity == Severity::warning ? "warning" : "error";
}

enum class Memory : std::uint8_t { none, local, shared, global };
constexpr std::string_view name(Memory memory) {
  constexpr std::array<std::string_view, 4> names = {"none", "local", "shared", "global"};
  return names[static_cast<std::size_t>(memory)];
}

struct Location {
  std::string file;
  int line = 0, column = 0;  ///< line 0: there is none
  bool operator==(const Location&) const = default;
  auto operator<=>(const Location&) const = default;
};

/// Another tile or source location with the same mistake.
struct Also {
  std::string tensor;
  Location location, other;
};

/// One mistake, with all its occurrences: those of one kind between the same two places, in all
/// tiles of shared memory.
struct Finding {
  Kind kind = Kind::race;
  Severity severity = Severity::error;
  Memory memory = Memory::none;
  std::string tensor;             ///< "A", or "tile (16,8)" of shared memory; may be empty
  std::vector<index_t> element;   ///< of the first occurrence; empty where no tensor is known
  Location location;              ///< of the access or barrier that is reported
  Location other;                 ///< of the access or barrier it conflicts with
  std::vector<Position> threads;  ///< of the first occurrence: the one at location, the other one
  Position block;                 ///< of the first occurrence; linear -1: of no block, but of all
  Position other_block;           ///< where the other thread runs; linear -1: in the same block
  std::string superstep;          ///< as in SuperstepCounters; empty where it belongs to none
  std::int64_t count = 1;
  std::string kernel;      ///< of a program with several: where it happened; empty: in none
  std::string problem;     ///< what happened, in one sentence
  std::string hint;        ///< the likely cause and what to try
  std::vector<Also> also;  ///< where else it occurs; these occurrences are counted above
};

/// Counts of events per warp: a request is one instruction of one warp.
struct Counters {
  std::int64_t global_load_requests = 0, global_load_sectors = 0, global_load_sectors_ideal = 0,
               global_load_bytes = 0;
  std::int64_t global_store_requests = 0, global_store_sectors = 0, global_store_sectors_ideal = 0,
               global_store_bytes = 0;
  std::int64_t global_atomic_requests = 0, global_atomic_sectors = 0;
  std::int64_t async_copy_requests = 0, async_copy_sectors = 0, async_copy_bytes = 0,
               async_copy_wavefronts = 0;
  std::int64_t shared_load_requests = 0, shared_load_wavefronts = 0,
               shared_load_wavefronts_ideal = 0, shared_load_bytes = 0;
  std::int64_t shared_store_requests = 0, shared_store_wavefronts = 0,
               shared_store_wavefronts_ideal = 0, shared_store_bytes = 0;
  std::int64_t shared_atomic_requests = 0, shared_atomic_wavefronts = 0;
  std::int64_t partial_requests = 0, active_lanes = 0, merged_load_requests = 0;
  std::int64_t fma_threads = 0, flops = 0, mma_instructions = 0, mma_flops = 0;
  std::int64_t bulk_copies = 0, bulk_copy_sectors = 0, bulk_copy_bytes = 0;
  std::int64_t bulk_stores = 0, bulk_store_sectors = 0, bulk_store_bytes = 0;
  std::int64_t unit_operands = 0, unit_operand_wavefronts = 0, unit_operand_wavefronts_ideal = 0;
  std::int64_t block_barriers = 0, warp_barriers = 0, shuffles = 0, votes = 0;

  Counters& operator+=(const Counters& other);
  bool operator==(const Counters&) const = default;
};

struct CounterName {
  std::string_view name;
  std::int64_t Counters::*value;
  std::string_view meaning;
};
/// Every counter, in the order in which reports show them.
inline constexpr std::array kCounters = {
    CounterName{"global_load_requests", &Counters::global_load_requests,
                "loads from global memory by a warp"},
    CounterName{"global_load_sectors", &Counters::global_load_sectors,
                "32-byte sectors that they touch"},
    CounterName{"global_load_sectors_ideal", &Counters::global_load_sectors_ideal,
                "sectors if the lanes' bytes lay side by side"},
    CounterName{"global_load_bytes", &Counters::global_load_bytes, "bytes that the lanes ask for"},
    CounterName{"global_store_requests", &Counters::global_store_requests,
                "stores to global memory by a warp"},
    CounterName{"global_store_sectors", &Counters::global_store_sectors,
                "32-byte sectors that they touch"},
    CounterName{"global_store_sectors_ideal", &Counters::global_store_sectors_ideal,
                "sectors if the lanes' bytes lay side by side"},
    CounterName{"global_store_bytes", &Counters::global_store_bytes, "bytes that the lanes store"},
    CounterName{"global_atomic_requests", &Counters::global_atomic_requests,
                "atomic updates of global memory by a warp"},
    CounterName{"global_atomic_sectors", &Counters::global_atomic_sectors,
                "32-byte sectors that they touch, an estimate"},
    CounterName{"async_copy_requests", &Counters::async_copy_requests,
                "asynchronous copies (cp.async) by a warp"},
    CounterName{"async_copy_sectors", &Counters::async_copy_sectors,
                "32-byte sectors of global memory that they read"},
    CounterName{"async_copy_bytes", &Counters::async_copy_bytes, "bytes that they copy"},
    CounterName{"async_copy_wavefronts", &Counters::async_copy_wavefronts,
                "wavefronts of their stores to shared memory, an estimate"},
    CounterName{"shared_load_requests", &Counters::shared_load_requests,
                "loads from shared memory by a warp"},
    CounterName{"shared_load_wavefronts", &Counters::shared_load_wavefronts,
                "passes through the banks that they need"},
    CounterName{"shared_load_wavefronts_ideal", &Counters::shared_load_wavefronts_ideal,
                "passes without bank conflicts"},
    CounterName{"shared_load_bytes", &Counters::shared_load_bytes, "bytes that the lanes ask for"},
    CounterName{"shared_store_requests", &Counters::shared_store_requests,
                "stores to shared memory by a warp"},
    CounterName{"shared_store_wavefronts", &Counters::shared_store_wavefronts,
                "passes through the banks that they need"},
    CounterName{"shared_store_wavefronts_ideal", &Counters::shared_store_wavefronts_ideal,
                "passes without bank conflicts"},
    CounterName{"shared_store_bytes", &Counters::shared_store_bytes, "bytes that the lanes store"},
    CounterName{"shared_atomic_requests", &Counters::shared_atomic_requests,
                "atomic updates of shared memory by a warp"},
    CounterName{"shared_atomic_wavefronts", &Counters::shared_atomic_wavefronts,
                "passes through the banks that they need, an estimate"},
    CounterName{"partial_requests", &Counters::partial_requests,
                "requests in which not all lanes of the warp take part"},
    CounterName{"active_lanes", &Counters::active_lanes,
                "lanes that take part in requests, summed: divided by these, the average"},
    CounterName{"merged_load_requests", &Counters::merged_load_requests,
                "wide shared loads counted by the rule of merging"},
    CounterName{"fma_threads", &Counters::fma_threads, "fused multiply-adds of single threads"},
    CounterName{"flops", &Counters::flops, "two for each fused multiply-add"},
    CounterName{"mma_instructions", &Counters::mma_instructions, "matrix instructions of a warp"},
    CounterName{"mma_flops", &Counters::mma_flops, "two for each multiply-add inside them"},
    CounterName{"bulk_copies", &Counters::bulk_copies,
                "boxes that bulk copies move to shared memory"},
    CounterName{"bulk_copy_sectors", &Counters::bulk_copy_sectors,
                "32-byte sectors of global memory that they read"},
    CounterName{"bulk_copy_bytes", &Counters::bulk_copy_bytes,
                "bytes that they write, zeros for what is outside included"},
    CounterName{"bulk_stores", &Counters::bulk_stores, "boxes that bulk stores move"},
    CounterName{"bulk_store_sectors", &Counters::bulk_store_sectors,
                "32-byte sectors of global memory that they write"},
    CounterName{"bulk_store_bytes", &Counters::bulk_store_bytes, "bytes that they write there"},
    CounterName{"unit_operands", &Counters::unit_operands,
                "operands that warpgroup instructions read from shared memory"},
    CounterName{"unit_operand_wavefronts", &Counters::unit_operand_wavefronts,
                "passes through the banks that they need"},
    CounterName{"unit_operand_wavefronts_ideal", &Counters::unit_operand_wavefronts_ideal,
                "passes without bank conflicts"},
    CounterName{"block_barriers", &Counters::block_barriers, "barriers, once for each block"},
    CounterName{"warp_barriers", &Counters::warp_barriers, "warp barriers, once for each warp"},
    CounterName{"shuffles", &Counters::shuffles, "shuffles of a warp"},
    CounterName{"votes", &Counters::votes, "votes of a warp"}};

inline Counters& Counters::operator+=(const Counters& other) {
  for (const auto& each : kCounters) this->*each.value += other.*each.value;
  return *this;
}

struct LineCounters {
  Location location;  ///< column 0: all of the line
  Counters counters;
};

struct SuperstepCounters {
  std::string name;        ///< given, or "file.hpp:12", the barrier that ends it, or "end"
  std::int64_t times = 0;  ///< how often a block ran it
  Counters counters;
};

/// How much of a tensor argument the kernel touched. Counted in elements.
struct Coverage {
  std::string tensor;          ///< "A"
  std::optional<DType> dtype;  ///< of its elements; none for types of the user's own
  bool is_output = false;
  index_t rows = 0, cols = 0;
  std::int64_t elements = 0, read = 0, written = 0, written_once = 0;
};

/// The worst request of one access, for pictures: the address of each lane.
struct AccessSample {
  Location location;
  Memory memory = Memory::global;
  bool is_store = false, is_atomic = false, is_async = false;
  int bytes = 4;       ///< of each lane
  std::string tensor;  ///< as in Finding
  /// Of shared memory, all tiles that the access came to, in order of their bytes: one line may
  /// access several elements of an array of tiles.
  std::vector<std::string> tiles;
  Position block;
  int warp = 0;
  /// For each lane the distance in bytes from the first byte of the tensor (of shared memory: of
  /// the block's storage), or -1 where the lane takes no part.
  std::vector<std::int64_t> lanes;
  std::int64_t base = 0;         ///< address of that first byte modulo 128; 0: see docs/checker.md
  int transfers = 0, ideal = 0;  ///< sectors of global memory, wavefronts of shared memory
  std::int64_t requests = 0;     ///< of this access in the whole run
  std::int64_t all_transfers = 0;  ///< of all of them
};

/// A phase of a gate that bulk copies deliver to, in the first block that was checked. Times are
/// counts of what its threads do with gates, copies and matrix units.
struct GatePhase {
  int gate = 0;  ///< number
  std::int64_t phase = 0, bytes = 0;
  std::int64_t started = 0;  ///< the first copy
  std::int64_t awaited = 0;  ///< the first wait for it has passed; 0: none has
  bool operator==(const GatePhase&) const = default;
};

/// A gate of the same block.
struct OpenedGate {
  std::int64_t byte = 0;     ///< of shared storage
  Location waited, arrived;  ///< lines that name it: of a wait, of an arrival; line 0: none
  std::string name;          ///< "gate s.full[1]", or its number: "gate 3"
};

/// A finding that was accepted: see suppressions.hpp.
struct Suppressed {
  Finding finding;
  std::string reason;
};

struct Summary {
  bool clean = true;  ///< no error, no warning, and everything requested was checked
  std::int64_t errors = 0, warnings = 0, notes = 0;  ///< findings, each counted once
  std::int64_t suppressed = 0;                       ///< findings that are not counted above
  std::int64_t blocks = 0, checked_blocks = 0;       ///< fewer: the blocks were sampled
  bool timed_out = false;                            ///< not all of them, for the time limit
  /// Why the kernel could not be checked completely, for reasons other than an endless loop; empty:
  /// it was. A kernel with a reason here is not clean.
  std::string incomplete;
  Location incomplete_at{};  ///< what stands in the way, if it has a place
};

/// The exit code of a command: 0 clean, 1 findings, 4 could not be checked.
inline int exit_code(const Summary& summary) {
  if (summary.errors + summary.warnings > 0) return 1;
  return summary.clean ? 0 : 4;
}

/// One kernel of a program that launches several.
struct LaunchedKernel {
  std::string kernel;
  Dim3 grid, block;  ///< of its first launch
  std::int64_t launches = 1;
};

struct Report {
  std::string kernel;
  std::string problem;  ///< "m=64 n=64 k=64 in=f32 out=f32 tile=16x16x16"; may be empty
  std::string remark;   ///< why another kernel ran than the requested one; empty: it did not
  std::string order;    ///< of the threads: "forward", "shuffled, seed 3"
  std::string source;   ///< the checked file, used for findings without a location; may be empty
  Dim3 grid, block;
  int warp_size = kWarpSize;
  std::int64_t shared_bytes = 0;
  int registers = 0;  ///< of a thread, where the options say so; 0: unknown
  Summary summary;
  std::vector<Finding> findings;       ///< errors first, then in the order of their places
  std::vector<Suppressed> suppressed;  ///< in the same order
  std::vector<std::string> unused_suppressions;  ///< as they are written
  Counters total;
  std::vector<LineCounters> by_line;            ///< in the order of files and lines
  std::vector<SuperstepCounters> by_superstep;  ///< in the order in which a block reaches them
  std::vector<Coverage> coverage;               ///< in the order of the kernel's arguments
  std::vector<AccessSample> samples;            ///< in the order of files and lines
  std::vector<GatePhase> gate_phases;           ///< in the order in which they started
  std::vector<OpenedGate> gates;                ///< by number
  std::vector<std::pair<Location, std::string>> bulk_tiles;  ///< that bulk copies and stores name
  std::vector<LaunchedKernel> launches;  ///< of a program in plain CUDA; else empty
};

}  // namespace tessera::check
