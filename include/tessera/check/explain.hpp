// From counters to advice: what bounds a kernel on a device, and what to change first. The counters
// are exact; the rest is a model: each resource of the device is busy for at least the time that
// its part of the work takes, and the busiest one bounds the kernel. Latency, the order
// of instructions and what the compiler merges are not part of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/check/device_model.hpp"
#include "tessera/check/report.hpp"

namespace tessera::check {

/// A part of the device and how long it is busy, with every multiprocessor that has a block.
struct ResourceTime {
  std::string_view name;
  double least_us, most_us;  ///< equal but for DRAM: all sectors hit in a cache, or none
  std::string work;          ///< "2.15 Gflop at 67 Tflop/s"
};

/// One proposed change.
struct Advice {
  std::string problem;  ///< what the counters show, with its numbers
  std::string remedy;   ///< what to try
  Location location;    ///< line 0: all of the kernel
  double saved_us;      ///< the time saved on the busiest resource; advice is sorted by it
};

struct Explanation {
  const DeviceModel* device;
  DType dtype;           ///< of the multiplications; f32 where the report does not say
  bool on_tensor_cores;  ///< most operations are those of matrix instructions
  double peak_flops;     ///< of that type there, per second
  Traffic traffic;       ///< of the whole grid, also where blocks were sampled
  Roofline roofline;
  Bound bound;  ///< by the roofline alone
  Occupancy occupancy;
  std::int64_t blocks;  ///< of the grid
  double busy_sms;      ///< multiprocessors that have a block, at most all
  std::vector<ResourceTime> resources;
  std::size_t
      busiest;  ///< index of the bounding resource if the caches hold all that was loaded before
  std::size_t busiest_uncached;  ///< the same if they hold nothing
  std::string verdict;           ///< one sentence
  std::vector<Advice> advice;    ///< the most important first
};

/// Per SM and clock: f32_fma_per_sm_clock multiply-adds; one wavefront of shared memory or 4
/// sectors of L1, 128 bytes, through one data stage (Nsight Compute guide, "L1/TEX cache"; CUDA C++
/// Programming Guide, "Shared Memory"). DRAM: the bandwidth of the data sheet.
Explanation explain(const Report& report, const DeviceModel& device);

/// The occupancy's assumption about registers: "168 registers each", or that they are unknown and
/// from how many on fewer blocks fit.
std::string registers_text(const Report& report, const DeviceModel& device);

/// Requests of all kinds: global, shared, atomic and asynchronous.
std::int64_t requests_of(const Counters& counters);
/// Sectors of a load or store request, on average; 0 without requests. Ideal: 4 for 4-byte lanes.
double sectors_per_request(const Counters& counters);
/// Wavefronts / ideal wavefronts of all shared loads and stores: 1 is free of conflicts.
double conflict_factor(const Counters& counters);

}  // namespace tessera::check
