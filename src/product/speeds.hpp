// Rates of this machine, from which the time of a large product is forecast. Arithmetic and files
// are measured in a moment; the network is measured by `mpirun ... tessera multiply --dry-run`,
// which keeps it for `tessera plan`.
#pragma once

#include <string>

#include "scale/plan.hpp"
#include "scale/transport.hpp"

namespace tessera::product {

/// FLOP/s of a short product of this type; 0 threads: all.
double measured_flops(DType type, int threads = 0);

/// Bytes of new memory that the system gives in a second.
double measured_memory();

/// Measures reading of this file, of which a part may be cached, and writing beside it. `turn`:
/// processes that measure at once read different pieces. Leaves what it cannot measure.
void measure_files(const std::string& path, int turn, scale::Speeds& speeds);

/// Between all ranks at once, with their neighbours in order; the slowest counts.
void measure_network(scale::Transport& ranks, scale::Speeds& speeds);

/// Network and files as they were measured last; assumptions before.
scale::Speeds kept_speeds();
void keep_speeds(const scale::Speeds& speeds);

}  // namespace tessera::product
