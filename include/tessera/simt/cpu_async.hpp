// Gates, bulk copies and matrix units on the CPU engine, as one thread of a block sees them: the
// members of CudaAsync (simt/cuda_async.cuh). An operation is executed when it is started; in the
// order `shuffled`, either then or as late as a wait allows, by the seed; in the order `late`,
// always as late as possible: a missing wait then shows in the results. Copies go byte by byte
// through the map, units read
// their operands through descriptors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tessera/core/here.hpp"
#include "tessera/simt/bulk_map.hpp"

namespace tessera {

struct Gate;
class BlockScheduler;

/// An instruction of a matrix unit that one thread of its warpgroup has started: its sums
/// are computed by multiply(call, shared storage, thread of the warpgroup).
struct UnitCall {
  void (*multiply)(const UnitCall& call, const std::byte* shared, int thread);
  void* sums;
  std::uint64_t a, b;  ///< descriptors
  bool keep;
  int multiply_adds;  ///< of one thread
};

class CpuAsync {
 public:
  CpuAsync(BlockScheduler& scheduler, int thread) : scheduler_(scheduler), thread_(thread) {}

  /// Its offset in the block's shared storage.
  std::uint32_t address(const void* shared) const;

  void open(Gate* gate, int arrivals, Here here) const;
  void publish(Here) const;
  void expect(Gate* gate, int bytes, Here here) const;
  void arrive(Gate* gate, Here here) const;
  void arrive(Gate* gate, int rank, Here here) const;
  void wait(Gate* gate, unsigned phase, Here here) const;

  void copy(const BulkMap* map, int x, int y, void* to, Gate* gate, Here here) const;
  void copy(const BulkMap* map, int x, int y, void* to, Gate* gate, unsigned blocks,
            Here here) const;
  void store(const BulkMap* map, int x, int y, const void* from, Here here) const;
  void commit(Here) const;
  template <int Pending>
  void wait_stored(Here) const {
    wait_stores(Pending, false);
  }
  template <int Pending>
  void wait_read(Here) const {
    wait_stores(Pending, true);
  }
  void fence(Here here) const;
  void fence_global(Here here) const;

  void begin_units(Here here) const;
  void start_unit(const UnitCall& call) const;
  /// The instructions of the current group read this range of shared storage, which begins at a
  /// multiple of `alignment`.
  void read_operand(const void* shared, std::size_t bytes, std::size_t alignment, Here here) const;
  void commit_units(Here here) const;
  template <int Pending>
  void wait_units(Here here) const {
    wait_units(Pending, here);
  }

  template <int Id>
  void meet(int threads, Here here) const {
    meet(Id, threads, here);
  }
  void cluster_arrive(Here here) const;
  void cluster_wait(Here here) const;
  template <int>
  void fewer_registers() const {}
  template <int>
  void more_registers() const {}
  void let_next_start() const {}
  void wait_for_previous() const {}

 private:
  void arrive_with(Gate* gate, int bytes, Here here) const;
  void wait_stores(int pending, bool is_read) const;
  void wait_units(int pending, Here here) const;
  void meet(int id, int threads, Here here) const;

  BlockScheduler& scheduler_;
  int thread_;
};

}  // namespace tessera
