// The model of check/explain.hpp: totals of the grid, times of the resources, and the advice that
// follows from each kind of waste.
#include "tessera/check/explain.hpp"

#include <algorithm>
#include <cmath>

#include "advice.hpp"
#include "tessera/core/text.hpp"
#include "traffic.hpp"
#include "units.hpp"

namespace tessera::check {

namespace {

/// The unchecked blocks are assumed to be like the checked ones.
double scale_of(const Report& report) {
  const Summary& s = report.summary;
  return s.checked_blocks > 0 && s.checked_blocks < s.blocks
             ? static_cast<double>(s.blocks) / static_cast<double>(s.checked_blocks)
             : 1;
}

/// Bytes of each touched element, once; all of a tensor if only some blocks were checked. If an
/// element type is unknown, the bytes that the lanes requested.
double compulsory_bytes(const Report& report) {
  const bool sampled = scale_of(report) > 1;
  double sum = 0;
  for (const Coverage& c : report.coverage) {
    if (!c.dtype)
      return static_cast<double>(report.total.global_load_bytes + report.total.global_store_bytes +
                                 report.total.async_copy_bytes + report.total.bulk_copy_bytes +
                                 report.total.bulk_store_bytes) *
             scale_of(report);
    const auto whole = [&](std::int64_t touched) {
      return touched && sampled ? c.elements : touched;
    };
    sum += static_cast<double>(whole(c.read) + whole(c.written)) * size_of(*c.dtype);
  }
  return sum;
}

DType type_of(const Report& report) {
  for (const Coverage& c : report.coverage)
    if (c.dtype && c.read > 0) return *c.dtype;
  return DType::f32;
}

ResourceTime resource(std::string_view name, double amount, double per_second,
                      std::string_view unit) {
  const double us = amount / per_second * 1e6;
  return {name, us, us, cat(si_text(amount), unit, " at ", si_text(per_second), unit, "/s")};
}

/// The index of the resource that is busy longest.
std::size_t longest(const std::vector<ResourceTime>& resources, double ResourceTime::*time) {
  const auto less = [&](const auto& a, const auto& b) { return a.*time < b.*time; };
  return static_cast<std::size_t>(std::max_element(resources.begin(), resources.end(), less) -
                                  resources.begin());
}

std::string verdict_of(const Explanation& e) {
  const ResourceTime &first = e.resources[e.busiest], &last = e.resources[e.busiest_uncached];
  if (first.most_us == 0 && last.most_us == 0) return "idle: it does nothing that is counted";
  const auto and_others = [&](const ResourceTime& of) {
    std::string out;
    for (const ResourceTime& r : e.resources)
      if (&r != &of && r.least_us > 0)
        out += cat(out.empty() ? "; " : ", ", r.name, " ", time_text(r.least_us));
    return out;
  };
  if (e.busiest == e.busiest_uncached)
    return cat("bound by ", first.name, ": busy for ", time_text(first.least_us), " at least",
               and_others(first));
  return cat("bound by ", first.name, " (", time_text(first.least_us),
             ") if the caches hold what is read "
             "again, by ",
             last.name, " (", time_text(last.most_us), ") if they do not");
}

}  // namespace

double data_stage_cycles(const Counters& c, bool shared, bool global) {
  const auto l1 = [](std::int64_t requests, std::int64_t sectors) {
    return std::max(static_cast<double>(requests), static_cast<double>(sectors) / kSectorsPerClock);
  };
  double cycles = 0;
  if (shared)
    cycles += static_cast<double>(c.shared_load_wavefronts + c.shared_store_wavefronts +
                                  c.shared_atomic_wavefronts + c.async_copy_wavefronts +
                                  c.unit_operand_wavefronts) +
              static_cast<double>(c.bulk_copy_bytes + c.bulk_store_bytes) /
                  (kSectorsPerClock * kSectorBytes);
  if (global)
    cycles += l1(c.global_load_requests, c.global_load_sectors) +
              l1(c.global_store_requests, c.global_store_sectors) +
              l1(c.global_atomic_requests, c.global_atomic_sectors) +
              l1(c.async_copy_requests, c.async_copy_sectors);
  return cycles;
}

double sectors_per_request(const Counters& c) {
  const auto requests = c.global_load_requests + c.global_store_requests + c.async_copy_requests;
  const auto touched = c.global_load_sectors + c.global_store_sectors + c.async_copy_sectors;
  return requests == 0 ? 0 : static_cast<double>(touched) / static_cast<double>(requests);
}

double conflict_factor(const Counters& c) {
  const auto ideal = c.shared_load_wavefronts_ideal + c.shared_store_wavefronts_ideal +
                     c.unit_operand_wavefronts_ideal;
  const auto taken =
      c.shared_load_wavefronts + c.shared_store_wavefronts + c.unit_operand_wavefronts;
  return ideal == 0 ? 1 : static_cast<double>(taken) / static_cast<double>(ideal);
}

std::int64_t requests_of(const Counters& c) {
  return c.global_load_requests + c.global_store_requests + c.global_atomic_requests +
         c.async_copy_requests + c.shared_load_requests + c.shared_store_requests +
         c.shared_atomic_requests;
}

std::string registers_text(const Report& report, const DeviceModel& device) {
  if (report.registers > 0) return cat(counted(report.registers, "register"), " each");
  const int first = first_limiting_registers(device, needs_of(report));
  return first > 0 ? cat("registers unknown: fewer blocks fit from ", first, " on")
                   : std::string("registers unknown");
}

Explanation explain(const Report& report, const DeviceModel& device) {
  const double scale = scale_of(report);
  const Counters& c = report.total;
  const double flops = static_cast<double>(c.flops) * scale,
               mma_flops = static_cast<double>(c.mma_flops) * scale;
  Explanation out{};
  out.device = &device;
  out.dtype = type_of(report);
  out.on_tensor_cores = mma_flops > flops;
  out.peak_flops =
      peak_flops(device, out.dtype, out.on_tensor_cores ? Unit::tensor_cores : Unit::cores);
  out.traffic = {flops + mma_flops, compulsory_bytes(report),
                 static_cast<double>(sectors(c)) * kSectorBytes * scale};
  out.roofline = roofline(device, out.traffic, out.peak_flops);
  out.bound = bound_of(out.roofline);
  out.occupancy = occupancy(device, needs_of(report));
  out.blocks = volume(report.grid);
  out.busy_sms = static_cast<double>(
      std::min<std::int64_t>(device.sms, std::max<std::int64_t>(out.blocks, 1)));

  const double busy = out.busy_sms / device.sms;
  const auto add_flops = [&](std::string_view name, double amount, Unit unit) {
    const double peak = peak_flops(device, out.dtype, unit) * busy;
    if (amount > 0 && peak > 0) out.resources.push_back(resource(name, amount, peak, "flop"));
  };
  add_flops("multiply-adds", flops, Unit::cores);
  add_flops("matrix units", mma_flops, Unit::tensor_cores);
  const double clocks = device.clock_hz * out.busy_sms;
  out.resources.push_back(resource(
      "shared memory and L1", data_stage_cycles(c, true, true) * scale * 128, clocks * 128, "B"));
  const double once = out.traffic.compulsory_bytes / device.dram_bytes_per_s * 1e6,
               every = out.traffic.l1_bytes / device.dram_bytes_per_s * 1e6;
  out.resources.push_back(
      {"DRAM", std::min(once, every), std::max(once, every),
       cat(once > 0 ? si_text(out.traffic.compulsory_bytes) + "B once, " : std::string(),
           si_text(out.traffic.l1_bytes), "B if no cache helps, at ",
           si_text(device.dram_bytes_per_s), "B/s")});
  out.busiest = longest(out.resources, &ResourceTime::least_us);
  out.busiest_uncached = longest(out.resources, &ResourceTime::most_us);
  out.verdict = verdict_of(out);
  out.advice = advice_on(report, out, scale);
  return out;
}

}  // namespace tessera::check
