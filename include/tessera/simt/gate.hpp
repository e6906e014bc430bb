// Gates: barriers in shared memory at which threads wait for arrivals and for the bytes of bulk
// copies (mbarriers, PTX ISA 9.7.13.15). A gate goes through phases, numbered 0, 1, 2, ...: each
// ends when the gate's count of arrivals and all expected bytes have been reached. A thread waits
// for the end of a phase, named by its parity, so no thread may get two phases ahead of a gate: a
// Turn keeps stage and phase together. Also the other synchronization of asynchronous operations:
// fences, barriers of some warps, clusters. Works with every engine's context; on a GPU it needs
// sm_90a.
#pragma once

#include <cstdint>

#include "tessera/core/config.hpp"
#include "tessera/core/here.hpp"
#include "tessera/simt/cpu_async.hpp"

namespace tessera {

/// Placed in shared storage. Opened once, by one thread, before any thread uses it.
struct Gate {
  std::uint64_t word;
};

/// A thread's position in a ring of stages: the stage, and the parity of its phase.
template <int Stages>
struct Turn {
  int stage = 0;
  unsigned phase = 0;

  /// The parity of the previous phase, to wait until a stage is free: on a newly opened gate that
  /// wait ends at once.
  TESSERA_HD constexpr unsigned before() const { return phase ^ 1; }
  TESSERA_HD constexpr void next() {
    if (++stage == Stages) {
      stage = 0;
      phase ^= 1;
    }
  }
  /// Advances by this many turns at once.
  TESSERA_HD constexpr void skip(int turns) {
    const int to = stage + turns;
    phase ^= static_cast<unsigned>(to / Stages) & 1;
    stage = to % Stages;
  }
  constexpr bool operator==(const Turn&) const = default;
};

/// Initialises `gate` to count this many arrivals in each phase. Called by one thread, which then
/// calls publish_gates(); a barrier must follow.
template <class Thread>
TESSERA_KERNEL void open_gate(Thread& t, Gate& gate, int arrivals, Here here = Here::current()) {
  t.async().open(&gate, arrivals, here);
}
template <class Thread>
TESSERA_KERNEL void publish_gates(Thread& t, Here here = Here::current()) {
  t.async().publish(here);
}
/// Opens the gates of a ring; all threads of the block call it. `full` counts one arrival, that of
/// the loading thread with expect(); `free` counts `readers` arrivals.
template <int Stages, class Thread>
TESSERA_KERNEL void open_gates(Thread& t, Gate (&full)[Stages], Gate (&free)[Stages], int readers,
                               Here here = Here::current()) {
  if (t.thread != 0) return;
  for (int i = 0; i < Stages; ++i) {
    open_gate(t, full[i], 1, here);
    open_gate(t, free[i], readers, here);
  }
}

/// One arrival, and the number of bytes that bulk copies must deliver before the phase ends.
template <class Thread>
TESSERA_KERNEL void expect(Thread& t, Gate& gate, int bytes, Here here = Here::current()) {
  t.async().expect(&gate, bytes, here);
}
/// One arrival: threads that wait for the phase see this thread's accesses so far.
template <class Thread>
TESSERA_KERNEL void arrive(Thread& t, Gate& gate, Here here = Here::current()) {
  t.async().arrive(&gate, here);
}
/// The same at the corresponding gate of block `rank` of the cluster, which must not have ended:
/// see cluster_barrier(). A thread that waits there may start copies over what was read here;
/// ordinary stores are visible only after a cluster_barrier().
template <class Thread>
TESSERA_KERNEL void arrive(Thread& t, Gate& gate, int rank, Here here = Here::current()) {
  t.async().arrive(&gate, rank, here);
}
/// Returns when the phase of this parity has ended.
template <class Thread>
TESSERA_KERNEL void wait(Thread& t, Gate& gate, unsigned phase, Here here = Here::current()) {
  t.async().wait(&gate, phase, here);
}

/// Makes this thread's stores to shared memory visible to bulk copies and matrix instructions (the
/// async proxy) that are started after this, by this thread, or by another after a barrier with it.
/// Without it, a bulk copy over those bytes may come before the stores.
template <class Thread>
TESSERA_KERNEL void fence_async(Thread& t, Here here = Here::current()) {
  t.async().fence(here);
}
/// The same for this thread's stores to global memory, which bulk copies then read or overwrite.
template <class Thread>
TESSERA_KERNEL void fence_async_global(Thread& t, Here here = Here::current()) {
  t.async().fence_global(here);
}

/// A barrier of `threads` threads, whole warps, by its number 1 to 15.
template <int Id, class Thread>
TESSERA_KERNEL void meet(Thread& t, int threads, Here here = Here::current()) {
  static_assert(Id >= 1 && Id < 16, "meet<id>: barriers of a part of the block are 1 to 15");
  t.async().template meet<Id>(threads, here);
}

/// A barrier of all threads of the cluster that have not ended. Afterwards each sees what the
/// others wrote before. Between the first and the last cluster barrier all blocks run, so remote
/// arrivals and copies may target them.
template <class Thread>
TESSERA_KERNEL void cluster_barrier(Thread& t, Here here = Here::current()) {
  t.async().cluster_arrive(here);
  t.async().cluster_wait(here);
}
/// The same in two parts: arrive, and later wait.
template <class Thread>
TESSERA_KERNEL void cluster_arrive(Thread& t, Here here = Here::current()) {
  t.async().cluster_arrive(here);
}
template <class Thread>
TESSERA_KERNEL void cluster_wait(Thread& t, Here here = Here::current()) {
  t.async().cluster_wait(here);
}

/// Sets the number of registers per thread of this warpgroup: one group releases registers, others
/// take them (setmaxnreg). No effect on a CPU.
template <int Registers, class Thread>
TESSERA_KERNEL void fewer_registers(Thread& t) {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256,
                "a thread has 24 to 256 registers, a multiple of 8");
  t.async().template fewer_registers<Registers>();
}
template <int Registers, class Thread>
TESSERA_KERNEL void more_registers(Thread& t) {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256,
                "a thread has 24 to 256 registers, a multiple of 8");
  t.async().template more_registers<Registers>();
}

/// Allows the next kernel of the stream to start early (programmatic dependent launch); it waits
/// before it accesses memory.
template <class Thread>
TESSERA_KERNEL void let_next_start(Thread& t) {
  t.async().let_next_start();
}
/// Returns when the previous kernel of the stream has ended. For kernels that declare
/// `static constexpr bool starts_early = true`; each thread calls it before it first accesses
/// global memory, or first waits for a thread that has called it.
template <class Thread>
TESSERA_KERNEL void wait_for_previous(Thread& t) {
  t.async().wait_for_previous();
}

}  // namespace tessera
