// The numbers of the devices, and the two models that need nothing else: occupancy and roofline.
#include "tessera/check/device_model.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/edit_distance.hpp"
#include "tessera/core/error.hpp"

namespace tessera::check {

namespace {

constexpr int kRegistersPerPiece = 256, kPartsOfAnSm = 4, kSmemPieceBytes = 128;
/// Multiply-adds of 32-bit integers, capabilities 8.0 and 9.0.
constexpr int kI32PerSmClock = 64;

/// The common part of compute capabilities 8.0 and 9.0; each model adds the rest.
constexpr DeviceModel common() {
  DeviceModel out{};
  out.threads_per_block = 1024;
  out.warps_per_sm = 64;
  out.blocks_per_sm = 32;
  out.registers_per_sm = 65536;
  out.registers_per_thread = 255;
  out.smem_reserved_bytes = 1024;
  return out;
}

constexpr DeviceModel ampere_a100() {
  DeviceModel out = common();
  out.name = "a100";
  out.full_name = "NVIDIA A100 SXM 80 GB";
  out.source =
      "NVIDIA A100 data sheet; CUDA C++ Programming Guide, compute capability 8.0; Ampere Tuning "
      "Guide";
  out.capability = 80;
  out.sms = 108;
  out.clock_hz = 1.41e9;
  out.smem_per_sm_bytes = 164 * 1024;
  out.smem_per_block_bytes = 163 * 1024;
  out.f32_fma_per_sm_clock = 64;
  out.l2_bytes = index_t{40} << 20;
  out.dram_bytes_per_s = 2.039e12;
  out.f64_flops = 9.7e12;
  out.f32_flops = 19.5e12;
  out.tensor_f64_flops = 19.5e12;
  out.tensor_tf32_flops = 156e12;
  out.tensor_f16_flops = 312e12;
  out.tensor_i8_ops = 624e12;
  return out;
}

/// H100 and H200 differ in their memory alone.
constexpr DeviceModel hopper(std::string_view name, std::string_view full_name,
                             double dram_bytes_per_s) {
  DeviceModel out = common();
  out.name = name;
  out.full_name = full_name;
  out.source =
      "NVIDIA H100 and H200 data sheets; CUDA C++ Programming Guide, compute capability 9.0; "
      "Hopper Tuning Guide";
  out.capability = 90;
  out.sms = 132;
  out.clock_hz = 1.98e9;
  out.smem_per_sm_bytes = 228 * 1024;
  out.smem_per_block_bytes = 227 * 1024;
  out.f32_fma_per_sm_clock = 128;
  out.l2_bytes = index_t{50} << 20;
  out.dram_bytes_per_s = dram_bytes_per_s;
  out.f64_flops = 34e12;
  out.f32_flops = 67e12;
  out.tensor_f64_flops = 67e12;
  out.tensor_tf32_flops = 494.5e12;
  out.tensor_f16_flops = 989e12;
  out.tensor_i8_ops = 1979e12;
  return out;
}

constexpr DeviceModel kModels[] = {
    ampere_a100(),
    hopper("h100", "NVIDIA H100 SXM", 3.35e12),
    hopper("h200", "NVIDIA H200 SXM", 4.8e12),
};

index_t rounded_up(index_t value, index_t piece) { return (value + piece - 1) / piece * piece; }

double ratio(double flops, double bytes) {
  if (flops == 0) return 0;
  return bytes == 0 ? std::numeric_limits<double>::infinity() : flops / bytes;
}

}  // namespace

std::span<const DeviceModel> device_models() { return kModels; }

const DeviceModel& device_model(std::string_view name) {
  std::string known, nearest;
  int least = 3;
  for (const DeviceModel& model : kModels) {
    if (model.name == name) return model;
    known += (known.empty() ? "one of " : ", ") + std::string(model.name);
    if (const int distance = edit_distance(name, model.name); distance < least) {
      least = distance;
      nearest = model.name;
    }
  }
  throw Error(Category::argument, "unknown device '" + std::string(name) + "'", known, {},
              nearest.empty() ? "" : "did you mean '" + nearest + "'?");
}

double peak_flops(const DeviceModel& device, DType in, Unit unit) {
  if (unit == Unit::cores) {
    if (in == DType::f64) return device.f64_flops;
    if (in == DType::i32) return 2.0 * kI32PerSmClock * device.sms * device.clock_hz;
    return in == DType::f32 || in == DType::f16 || in == DType::bf16 ? device.f32_flops : 0;
  }
  switch (in) {
    case DType::f64: return device.tensor_f64_flops;
    case DType::f32: return device.tensor_tf32_flops;
    case DType::f16:
    case DType::bf16: return device.tensor_f16_flops;
    case DType::i8:
    case DType::u8: return device.tensor_i8_ops;
    case DType::f8e4m3:
    case DType::f8e5m2: return device.capability >= 90 ? device.tensor_i8_ops : 0;  // as many
    default: return 0;
  }
}

std::string_view to_string(OccupancyLimit limit) {
  switch (limit) {
    case OccupancyLimit::threads_per_block: return "threads of a block";
    case OccupancyLimit::warps: return "warps";
    case OccupancyLimit::blocks: return "blocks";
    case OccupancyLimit::registers: return "registers";
    default: return "shared memory";
  }
}

Occupancy occupancy(const DeviceModel& device, const BlockNeeds& needs) {
  const auto too_large = [&](OccupancyLimit limit) {
    return Occupancy{0, 0, device.warps_per_sm, limit};
  };
  if (needs.threads < 1 || needs.threads > device.threads_per_block)
    return too_large(OccupancyLimit::threads_per_block);
  if (needs.smem_bytes > device.smem_per_block_bytes)
    return too_large(OccupancyLimit::shared_memory);
  if (needs.registers > device.registers_per_thread) return too_large(OccupancyLimit::registers);

  const int warps = (needs.threads + 31) / 32;
  Occupancy out{device.warps_per_sm / warps, 0, device.warps_per_sm, OccupancyLimit::warps};
  const auto at_most = [&](index_t blocks, OccupancyLimit limit) {
    if (blocks < out.blocks) out = {static_cast<int>(blocks), 0, device.warps_per_sm, limit};
  };
  at_most(device.blocks_per_sm, OccupancyLimit::blocks);
  if (needs.registers > 0) {
    const index_t of_a_warp = rounded_up(32 * needs.registers, kRegistersPerPiece);
    const index_t warps_that_fit =
        device.registers_per_sm / kPartsOfAnSm / of_a_warp * kPartsOfAnSm;
    at_most(warps_that_fit / warps, OccupancyLimit::registers);
  }
  at_most(device.smem_per_sm_bytes /
              rounded_up(needs.smem_bytes + device.smem_reserved_bytes, kSmemPieceBytes),
          OccupancyLimit::shared_memory);
  out.warps = out.blocks * warps;
  return out;
}

int first_limiting_registers(const DeviceModel& device, BlockNeeds needs) {
  needs.registers = 0;
  const int blocks = occupancy(device, needs).blocks;
  for (int registers = 1; blocks > 0 && registers <= device.registers_per_thread; ++registers) {
    needs.registers = registers;
    if (occupancy(device, needs).blocks < blocks) return registers;
  }
  return 0;
}

Roofline roofline(const DeviceModel& device, const Traffic& traffic, double peak_flops) {
  const auto attainable = [&](double intensity) {
    return std::min(peak_flops, intensity * device.dram_bytes_per_s);
  };
  Roofline out{};
  out.compulsory = ratio(traffic.flops, traffic.compulsory_bytes);
  out.l1 = ratio(traffic.flops, traffic.l1_bytes);
  out.dram_low = std::min(out.l1, out.compulsory);
  out.dram_high = std::max(out.l1, out.compulsory);
  out.ridge = peak_flops / device.dram_bytes_per_s;
  out.attainable_low = attainable(out.dram_low);
  out.attainable_high = attainable(out.dram_high);
  return out;
}

std::string_view to_string(Bound bound) {
  switch (bound) {
    case Bound::compute: return "compute";
    case Bound::memory: return "memory";
    default: return "caches";
  }
}

Bound bound_of(const Roofline& roofline) {
  if (roofline.dram_low >= roofline.ridge) return Bound::compute;
  return roofline.dram_high < roofline.ridge ? Bound::memory : Bound::cache;
}

}  // namespace tessera::check
