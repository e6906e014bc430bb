// Independent work items over the cores of this process. The caller always works too.
#pragma once

#include <functional>

#include "tessera/core/config.hpp"

namespace tessera {

/// The number of cores this process may use: the union of the affinity masks of the calling thread
/// and the main thread, limited by the cgroup's CPU quota. At least 1.
int available_cores();

/// The largest number of threads that can be requested.
constexpr int kMostThreads = 4096;

/// TESSERA_NUM_THREADS, else OMP_NUM_THREADS, else 0. What is no number from 1 to kMostThreads is
/// reported once on stderr and ignored.
int asked_threads();

/// Threads to use when a caller says 0: asked_threads(), else available_cores(), which reads files
/// the first time.
int default_threads();

/// Calls body(i) once for each i in [0, count), on up to `threads` threads (0: default_threads()),
/// in no particular order. The first exception stops the hand-out of further work items and is
/// thrown again here.
void parallel_for(index_t count, int threads, const std::function<void(index_t)>& body);

}  // namespace tessera
