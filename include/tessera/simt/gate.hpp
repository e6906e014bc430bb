// Gates: what threads wait at until others have arrived and bytes have come (mbarriers, PTX ISA
// 9.7.13.15). A gate goes through phases, numbered 0, 1, 2, ...: each ends when so many arrivals as
// the gate counts and all bytes that were expected have come. A thread waits for the end of a
// phase, which it names by its parity, so nobody may get two phases ahead of a gate: a Turn keeps
// stage and phase together. And what else orders the asynchronous machine: fences, barriers of some
// warps, clusters. Works with every engine's context; on a GPU it needs sm_90a.
#pragma once

#include <cstdint>

#include "tessera/core/config.hpp"
#include "tessera/core/here.hpp"
#include "tessera/simt/cpu_async.hpp"

namespace tessera {

/// Lies in shared storage. Opened once, by one thread, before anybody uses it.
struct Gate {
  std::uint64_t word;
};

/// Where a thread is in a ring of stages: which stage, and the parity of its phase.
template <int Stages>
struct Turn {
  int stage = 0;
  unsigned phase = 0;

  /// The phase before: over at once on a gate that has just been opened, for who waits until the
  /// stage is free.
  TESSERA_HD constexpr unsigned before() const { return phase ^ 1; }
  TESSERA_HD constexpr void next() {
    if (++stage == Stages) {
      stage = 0;
      phase ^= 1;
    }
  }
  /// So many turns at once.
  TESSERA_HD constexpr void skip(int turns) {
    const int to = stage + turns;
    phase ^= static_cast<unsigned>(to / Stages) & 1;
    stage = to % Stages;
  }
  constexpr bool operator==(const Turn&) const = default;
};

/// `gate` counts so many arrivals in each phase. By one thread; then publish_gates() by it, then a
/// barrier.
template <class Thread>
TESSERA_KERNEL void open_gate(Thread& t, Gate& gate, int arrivals, Here here = Here::current()) {
  t.async().open(&gate, arrivals, here);
}
template <class Thread>
TESSERA_KERNEL void publish_gates(Thread& t, Here here = Here::current()) {
  t.async().publish(here);
}
/// Opens the gates of a ring, by all threads of the block: `full` counts one arrival, of who
/// loads and says how many bytes come; `free` counts `readers`.
template <int Stages, class Thread>
TESSERA_KERNEL void open_gates(Thread& t, Gate (&full)[Stages], Gate (&free)[Stages], int readers,
                               Here here = Here::current()) {
  if (t.thread != 0) return;
  for (int i = 0; i < Stages; ++i) {
    open_gate(t, full[i], 1, here);
    open_gate(t, free[i], readers, here);
  }
}

/// One arrival, and so many bytes that bulk copies bring before the phase ends.
template <class Thread>
TESSERA_KERNEL void expect(Thread& t, Gate& gate, int bytes, Here here = Here::current()) {
  t.async().expect(&gate, bytes, here);
}
/// One arrival: what this thread has done so far is done for who waits.
template <class Thread>
TESSERA_KERNEL void arrive(Thread& t, Gate& gate, Here here = Here::current()) {
  t.async().arrive(&gate, here);
}
/// The same at the gate in the same place of block `rank` of the cluster, which runs until all
/// blocks have met at a cluster_barrier(). Who waits there may bring copies to what was read; what
/// was stored by ordinary stores is seen after a cluster_barrier().
template <class Thread>
TESSERA_KERNEL void arrive(Thread& t, Gate& gate, int rank, Here here = Here::current()) {
  t.async().arrive(&gate, rank, here);
}
/// Returns when the phase of this parity has ended.
template <class Thread>
TESSERA_KERNEL void wait(Thread& t, Gate& gate, unsigned phase, Here here = Here::current()) {
  t.async().wait(&gate, phase, here);
}

/// What this thread has stored to shared memory is seen by the bulk copies and matrix units that
/// are started after this: by it, or by whoever meets it at a barrier first.
template <class Thread>
TESSERA_KERNEL void fence_async(Thread& t, Here here = Here::current()) {
  t.async().fence(here);
}

/// A barrier of `threads` threads, whole warps, by its number 1 to 15.
template <int Id, class Thread>
TESSERA_KERNEL void meet(Thread& t, int threads, Here here = Here::current()) {
  static_assert(Id >= 1 && Id < 16, "meet<id>: barriers of a part of the block are 1 to 15");
  t.async().template meet<Id>(threads, here);
}

/// All threads of all blocks of the cluster wait here for each other, but for those that have
/// ended. Afterwards each sees what the others wrote before. Between their first and their last
/// meeting all blocks run, and may be reached by arrivals and copies.
template <class Thread>
TESSERA_KERNEL void cluster_barrier(Thread& t, Here here = Here::current()) {
  t.async().cluster_arrive(here);
  t.async().cluster_wait(here);
}
/// The same in two parts: a thread has come, and waits later until all have.
template <class Thread>
TESSERA_KERNEL void cluster_arrive(Thread& t, Here here = Here::current()) {
  t.async().cluster_arrive(here);
}
template <class Thread>
TESSERA_KERNEL void cluster_wait(Thread& t, Here here = Here::current()) {
  t.async().cluster_wait(here);
}

/// From here on the threads of this warpgroup have so many registers each, fewer or more than
/// before: what some give, others take. Nothing on a CPU.
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

/// The next kernel of the stream may start beside this one; it waits before it touches memory.
template <class Thread>
TESSERA_KERNEL void let_next_start(Thread& t) {
  t.async().let_next_start();
}
/// Returns when the kernel before this one in the stream is over. For kernels that declare
/// `static constexpr bool starts_early = true`; each thread calls it before it first reads or
/// writes global memory, or waits for one that has.
template <class Thread>
TESSERA_KERNEL void wait_for_previous(Thread& t) {
  t.async().wait_for_previous();
}

}  // namespace tessera
