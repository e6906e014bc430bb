// Reports for the tests of their readers: counted here by walking a kernel's accesses in
// a loop, so that the engine is not needed. C = A * B of n x n f32, n a multiple of 32.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "tessera/check/device_model.hpp"
#include "tessera/check/memory_rules.hpp"
#include "tessera/check/report.hpp"

namespace tessera::check {

inline const DeviceModel& h200() { return device_model("h200"); }

/// Builds a report access by access.
class ReportMaker {
 public:
  Report report;

  /// `times` requests of a warp whose lane t touches byte `at(t)` of the tensor or of shared
  /// memory; -1: takes no part.
  void access(const Location& where, Memory memory, bool is_store, const std::string& tensor,
              int bytes, std::int64_t times, const std::function<std::int64_t(int)>& at,
              const std::string& superstep = "") {
    AccessSample s{.location = where,
                   .memory = memory,
                   .is_store = is_store,
                   .bytes = bytes,
                   .tensor = tensor,
                   .requests = times};
    std::uint64_t address[kWarpLanes] = {};
    std::uint32_t active = 0;
    for (int t = 0; t < kWarpLanes; ++t) {
      s.lanes.push_back(at(t));
      if (s.lanes.back() < 0) continue;
      address[t] = static_cast<std::uint64_t>(s.lanes.back());
      active |= 1u << t;
    }
    const WarpAccess warp{address, bytes, active};
    Counters c;
    const std::int64_t moved = __builtin_popcount(active) * bytes;
    if (memory == Memory::global) {
      const GlobalCost cost = global_access(warp);
      s.transfers = cost.sectors;
      s.ideal = cost.ideal;
      (is_store ? c.global_store_requests : c.global_load_requests) = times;
      (is_store ? c.global_store_sectors : c.global_load_sectors) = times * cost.sectors;
      (is_store ? c.global_store_sectors_ideal : c.global_load_sectors_ideal) = times * cost.ideal;
      (is_store ? c.global_store_bytes : c.global_load_bytes) = times * moved;
    } else {
      const SharedCost cost = is_store ? shared_store(warp) : shared_load(warp);
      s.transfers = cost.wavefronts;
      s.ideal = cost.ideal;
      (is_store ? c.shared_store_requests : c.shared_load_requests) = times;
      (is_store ? c.shared_store_wavefronts : c.shared_load_wavefronts) = times * cost.wavefronts;
      (is_store ? c.shared_store_wavefronts_ideal : c.shared_load_wavefronts_ideal) =
          times * cost.ideal;
      (is_store ? c.shared_store_bytes : c.shared_load_bytes) = times * moved;
    }
    c.active_lanes = times * __builtin_popcount(active);
    s.all_transfers = times * s.transfers;
    if (active != kAllLanes) c.partial_requests = times;
    report.samples.push_back(s);
    add(where, c, superstep);
  }

  void add(const Location& where, const Counters& c, const std::string& superstep = "") {
    report.total += c;
    line(where).counters += c;
    if (!superstep.empty()) step(superstep).counters += c;
  }

  SuperstepCounters& step(const std::string& name) {
    for (SuperstepCounters& s : report.by_superstep)
      if (s.name == name) return s;
    return report.by_superstep.emplace_back(SuperstepCounters{.name = name});
  }

 private:
  LineCounters& line(const Location& where) {
    for (LineCounters& l : report.by_line)
      if (l.location.file == where.file && l.location.line == where.line) return l;
    return report.by_line.emplace_back(LineCounters{.location = {where.file, where.line, 0}});
  }
};

inline ReportMaker square_product(const std::string& kernel, std::int64_t n, Dim3 block,
                                  Dim3 grid) {
  ReportMaker m;
  const std::string size = std::to_string(n);
  m.report.kernel = kernel;
  m.report.problem = "m=" + size + " n=" + size + " k=" + size + " in=f32 out=f32";
  m.report.order = "forward";
  m.report.block = block;
  m.report.grid = grid;
  m.report.summary.blocks = m.report.summary.checked_blocks = volume(grid);
  for (const char* name : {"A", "B", "C"}) {
    Coverage c{.tensor = name,
               .dtype = DType::f32,
               .is_output = *name == 'C',
               .rows = n,
               .cols = n,
               .elements = n * n};
    (c.is_output ? c.written : c.read) = n * n;
    if (c.is_output) c.written_once = n * n;
    m.report.coverage.push_back(c);
  }
  return m;
}

/// One thread for each element; the lanes of a warp are rows of C: A and C uncoalesced, B
/// broadcast.
inline Report naive_report(std::int64_t n, const std::string& file = "naive.hpp") {
  const int blocks = static_cast<int>(n / 32);
  ReportMaker m = square_product("naive", n, {32, 32}, {blocks, blocks});
  const std::int64_t warps = n * n / 32, loads = warps * n;
  const auto row = [n](int t) { return std::int64_t{t} * n * 4; };
  m.access({file, 27, 55}, Memory::global, false, "A", 4, loads, row);
  m.access({file, 27, 64}, Memory::global, false, "B", 4, loads, [](int) { return 0; });
  m.add({file, 27, 0}, {.fma_threads = loads * 32, .flops = loads * 64});
  m.access({file, 28, 5}, Memory::global, true, "C", 4, warps, row);
  return m.report;
}

/// Tiles of 32 x 32 staged in shared memory; the tile of A is read by column with a pitch of 32
/// where `conflicts` says so.
inline Report tiled_report(std::int64_t n, bool conflicts = false,
                           const std::string& file = "tiled.hpp") {
  const int blocks = static_cast<int>(n / 32);
  ReportMaker m = square_product("tiled", n, {32, 32}, {blocks, blocks});
  m.report.shared_bytes = 2 * 32 * 32 * 4;
  const std::int64_t warps = n * n / 32, steps = n / 32;
  const auto along = [](int t) { return std::int64_t{4} * t; };
  m.access({file, 41, 9}, Memory::global, false, "A", 4, warps * steps, along, "load");
  m.access({file, 41, 9}, Memory::shared, true, "tile A", 4, warps * steps, along, "load");
  m.access({file, 42, 9}, Memory::global, false, "B", 4, warps * steps, along, "load");
  m.access({file, 42, 9}, Memory::shared, true, "tile B", 4, warps * steps, along, "load");
  m.access(
      {file, 46, 50}, Memory::shared, false, "tile A", 4, warps * n,
      [=](int t) { return conflicts ? std::int64_t{128} * t : 0; }, "multiply");
  m.access({file, 46, 60}, Memory::shared, false, "tile B", 4, warps * n, along, "multiply");
  m.add({file, 46, 0}, {.fma_threads = warps * n * 32, .flops = warps * n * 64}, "multiply");
  m.access({file, 49, 5}, Memory::global, true, "C", 4, warps, along);
  const std::int64_t grid = volume(m.report.grid);
  for (const char* name : {"load", "multiply"}) {
    m.step(name).times = grid * steps;
    m.step(name).counters.block_barriers = grid * steps;
    m.report.total.block_barriers += grid * steps;
  }
  return m.report;
}

}  // namespace tessera::check
