// A report's sums of bytes and operations, and the limits of a device. Private to src/check.
#pragma once

#include "tessera/check/device_model.hpp"
#include "tessera/check/report.hpp"

namespace tessera::check {

/// 32-byte sectors of global memory that threads, copies and stores touch.
inline std::int64_t sectors(const Counters& c) {
  return c.global_load_sectors + c.global_store_sectors + c.global_atomic_sectors +
         c.async_copy_sectors + c.bulk_copy_sectors + c.bulk_store_sectors;
}

inline Traffic traffic_of(const Report& report) {
  Traffic out{};
  const Counters& c = report.total;
  out.flops = static_cast<double>(c.flops + c.mma_flops);
  for (const auto& each : report.coverage) {
    const int bytes = each.dtype ? size_of(*each.dtype) : 4;
    out.compulsory_bytes += static_cast<double>((each.read + each.written) * bytes);
  }
  out.l1_bytes = 32.0 * static_cast<double>(sectors(c));
  return out;
}

inline BlockNeeds needs_of(const Report& report) {
  return {static_cast<int>(volume(report.block)), report.shared_bytes, report.registers};
}

inline double peak_of(const Report& report, const DeviceModel& device) {
  DType type = DType::f32;
  for (const auto& each : report.coverage) {
    if (each.dtype) {
      type = *each.dtype;
      break;
    }
  }
  return peak_flops(device, type, report.total.mma_flops > 0 ? Unit::tensor_cores : Unit::cores);
}

}  // namespace tessera::check
