// GPU models: limits of a multiprocessor (SM) and peak rates of the device, from NVIDIA's
// documents; and, computed from them, a kernel's occupancy and roofline. Nothing here queries the
// machine.
#pragma once

#include <span>
#include <string_view>

#include "tessera/core/config.hpp"
#include "tessera/core/dtype.hpp"

namespace tessera::check {

/// Limits of a compute capability (CUDA C++ Programming Guide, "Compute Capabilities", technical
/// specifications and throughput of arithmetic instructions; the tuning guides for Ampere and
/// Hopper) and peaks of one product (its data sheet, without sparsity, at boost clock).
struct DeviceModel {
  std::string_view name;       ///< as users type it: "h200"
  std::string_view full_name;  ///< "NVIDIA H200 SXM"
  std::string_view source;     ///< the documents that the numbers are from
  int capability;              ///< compute capability times ten: 90
  int sms;                     ///< multiprocessors
  double clock_hz;             ///< boost clock
  int threads_per_block;
  int warps_per_sm;
  int blocks_per_sm;
  int registers_per_sm;      ///< of 32 bits
  int registers_per_thread;  ///< the most that one thread may have
  int smem_per_sm_bytes;
  int smem_per_block_bytes;  ///< the most that one block may have
  int smem_reserved_bytes;   ///< reserved on the SM for each block, in addition to its own
  int f32_fma_per_sm_clock;  ///< lanes; an SM issues this many / 32 warps of them in each clock
  index_t l2_bytes;
  double dram_bytes_per_s;
  double f64_flops, f32_flops;  ///< per second, without matrix units
  double tensor_f64_flops, tensor_tf32_flops, tensor_f16_flops, tensor_i8_ops;  ///< f16: bf16 too
};

/// All models, the oldest first.
std::span<const DeviceModel> device_models();
/// By name. Throws Error(argument) with the known names and the nearest.
const DeviceModel& device_model(std::string_view name);

enum class Unit { cores, tensor_cores };
/// The peak for products of elements of this type, operations per second. f32 on tensor cores is
/// TF32; f16 and bf16 on cores are computed in f32, as Accumulator does. 0 where the unit has no
/// such product.
double peak_flops(const DeviceModel& device, DType in, Unit unit);

/// The resources that one block of a kernel takes.
struct BlockNeeds {
  int threads;
  index_t smem_bytes = 0;
  int registers = 0;  ///< per thread, as `ptxas -v` says; 0: unknown, no limit
};

enum class OccupancyLimit { threads_per_block, warps, blocks, registers, shared_memory };
std::string_view to_string(OccupancyLimit limit);

/// How many blocks are on one SM at a time.
struct Occupancy {
  int blocks;  ///< 0: the block is too large for the device
  int warps;
  int most_warps;        ///< of the SM
  OccupancyLimit limit;  ///< the limiting resource

  /// Resident warps / possible warps, 0 to 1. Nsight Compute: sm__maximum_warps_per_active_cycle.
  double fraction() const { return static_cast<double>(warps) / most_warps; }
};

/// The rule of NVIDIA's occupancy calculator: registers are allocated to warps in units of 256,
/// separately on each of an SM's four partitions; shared memory to blocks in units of 128 bytes.
Occupancy occupancy(const DeviceModel& device, const BlockNeeds& needs);
/// The smallest number of registers per thread that reduces the number of resident blocks; 0 if
/// none does.
int first_limiting_registers(const DeviceModel& device, BlockNeeds needs);

/// Bytes and operations of a kernel.
struct Traffic {
  double flops;             ///< floating point operations; a multiply-add is two
  double compulsory_bytes;  ///< compulsory traffic: each accessed byte of global memory once read,
                            ///< once written
  double l1_bytes;          ///< 32 x sectors: what the requests ask of L1 and L2
};

/// A kernel under the roofline. All intensities in flop/byte. They are exact but for DRAM, which
/// depends on the caches: the bounds are all sectors missed and all reused.
struct Roofline {
  double compulsory;  ///< flops / compulsory bytes
  double l1;          ///< flops / (32 x sectors)
  double dram_low, dram_high;
  double ridge;                            ///< the intensity at which peak and bandwidth meet
  double attainable_low, attainable_high;  ///< flop/s at dram_low and dram_high
};

/// Williams, Waterman, Patterson, "Roofline", CACM 52 (2009): min(peak, intensity x bandwidth).
/// Where nothing is read or written the intensity is infinite, without operations it is 0.
Roofline roofline(const DeviceModel& device, const Traffic& traffic, double peak_flops);

enum class Bound {
  compute,  ///< even if every sector misses the caches
  memory,   ///< even if every byte is loaded once
  cache,    ///< between the two: the caches decide
};
std::string_view to_string(Bound bound);
Bound bound_of(const Roofline& roofline);

}  // namespace tessera::check
