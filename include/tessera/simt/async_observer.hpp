// The asynchronous operations that the threads of a block start, and their completion, as events
// for an observer: the checker. An ordinary launch has none. Copies and matrix instructions are
// reported when they are started, whenever the engine executes them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tessera/core/here.hpp"
#include "tessera/simt/bulk_map.hpp"
#include "tessera/simt/cpu_async.hpp"

namespace tessera {

/// A box in flight between global memory and these bytes of shared storage.
struct BulkMove {
  const BulkFields& fields;
  int x, y;
  std::size_t shared;  ///< distance from the first byte
};

/// Gates have numbers, in the order in which their block opened them. `rank`: of the block of the
/// cluster whose gate or shared storage it is.
class AsyncObserver {
 public:
  virtual void opens(int thread, int gate, std::size_t shared, int arrivals, Here here) = 0;
  virtual void publishes(int thread) = 0;
  /// Called before the arrival is counted, which may end the phase.
  virtual void arrives(int thread, int rank, int gate, std::int64_t expected_bytes, Here here) = 0;
  virtual void phase_ends(int gate) = 0;
  /// The thread begins to wait for the phase of this parity.
  virtual void waits_at(int thread, int gate, unsigned phase, Here here) = 0;
  /// That phase has ended: the thread continues.
  virtual void passes(int thread, int gate) = 0;

  /// A copy reads the box, and writes it to one or several blocks.
  virtual void loads(int thread, const BulkMove& move, Here here) = 0;
  virtual void copies(int thread, int rank, int gate, const BulkMove& move, Here here) = 0;
  /// Returns false if the copy is impossible and must not be executed.
  virtual bool stores(int thread, const BulkMove& move, Here here) = 0;
  virtual void commits_stores(int thread) = 0;
  /// All but the newest `pending` groups have been read and, unless `is_read`, stored.
  virtual void awaits_stores(int thread, int pending, bool is_read) = 0;
  virtual void fences(int thread, Here here) = 0;  ///< its stores to shared memory
  virtual void fences_global(int thread) = 0;

  virtual void begins_units(int thread, Here here) = 0;
  virtual void starts_unit(int thread, const UnitCall& call) = 0;
  /// The instructions of this group read this range of shared storage.
  virtual void reads_operand(int thread, std::size_t shared, std::size_t bytes) = 0;
  virtual void commits_units(int thread, Here here) = 0;
  virtual void awaits_units(int thread, int pending) = 0;
  /// The running thread accesses sums of matrix instructions.
  virtual void touches_sums(const void* first, std::size_t bytes, Here here) = 0;
  /// It adds a product to sums that have no value yet.
  virtual void adds_to_nothing(Here here) = 0;

 protected:
  ~AsyncObserver() = default;
};

#if !defined(__CUDACC__)
namespace detail {
/// The observer of the blocks that this OS thread runs; null if there is none.
extern constinit thread_local AsyncObserver* async_observer;
}  // namespace detail
#endif

}  // namespace tessera
