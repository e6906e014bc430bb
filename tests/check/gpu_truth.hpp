// What a GPU counted (bench/results/gpu/*-truth.json, docs/report.md) against what the checker
// counts for the same kernels and accesses. Says every difference in one line; none: the two agree.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/check/memory_rules.hpp"
#include "tessera/check/report.hpp"
#include "tessera/core/text.hpp"
#include "tessera/io/array.hpp"
#include "tessera/matmul/check.hpp"

namespace tessera::gpu_truth {

using check::Counters;
using nlohmann::json;

/// Names of Nsight Compute for a launch, and our counter.
struct Metric {
  std::string_view name;
  std::int64_t Counters::*counter;
};
inline constexpr Metric kMetrics[] = {
    {"smsp__sass_inst_executed_op_global_ld.sum", &Counters::global_load_requests},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", &Counters::global_load_sectors},
    {"smsp__sass_inst_executed_op_global_st.sum", &Counters::global_store_requests},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", &Counters::global_store_sectors},
    {"smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum",
     &Counters::async_copy_requests},
    {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", &Counters::async_copy_sectors},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
     &Counters::async_copy_wavefronts},
    {"smsp__sass_inst_executed_op_shared_ld.sum", &Counters::shared_load_requests},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
     &Counters::shared_load_wavefronts},
    {"smsp__sass_inst_executed_op_shared_st.sum", &Counters::shared_store_requests},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
     &Counters::shared_store_wavefronts},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", &Counters::fma_threads}};

/// Our value of a metric of a launch or of a source line; -1: no such metric.
inline std::int64_t ours(const Counters& c, std::string_view metric) {
  if (metric == "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")  // counts asynchronous copies too
    return c.global_load_sectors + c.async_copy_sectors;
  for (const Metric& each : kMetrics)
    if (each.name == metric) return c.*each.counter;
  if (metric == "memory_l2_theoretical_sectors_global")
    return c.global_load_sectors + c.global_store_sectors + c.global_atomic_sectors +
           c.async_copy_sectors;
  if (metric == "memory_l1_wavefronts_shared")
    return c.shared_load_wavefronts + c.shared_store_wavefronts + c.shared_atomic_wavefronts;
  return -1;
}

/// Lines that say what differs; a difference that `explained` names is only printed.
class Comparison {
 public:
  std::vector<std::string> differences, explained;

  void kernel(const json& k) {
    const std::string name = k.at("kernel");
    const check::Report report = checked(k);
    const json reasons = k.value("explained", json::object());
    compare(cat(name, ":"), k.at("metrics"), report.total, reasons);
    const json lines = k.value("by_line", json::array());
    for (const json& line : lines)
      compare(cat(name, ": line ", line.at("line").get<int>(), ":"), line.at("metrics"),
              at_line(report, line), reasons);
    const json verdicts = k.value("sanitizer", json::object());
    for (const auto& [tool, errors] : verdicts.items())
      if ((errors.get<int>() == 0) != (report.summary.errors == 0))
        differences.push_back(cat(name, ": ", tool, " counts ", errors.get<int>(),
                                  " errors, we count ", report.summary.errors));
  }

  void pattern(const json& p) {
    std::uint64_t address[check::kWarpLanes] = {};
    std::uint32_t active = 0;
    int lane = 0;
    for (const json& at : p.at("lanes")) {
      if (lane == check::kWarpLanes) break;
      if (at.get<std::int64_t>() >= 0) {
        address[lane] = at.get<std::uint64_t>();
        active |= 1u << lane;
      }
      ++lane;
    }
    const check::WarpAccess access{address, p.at("lane_bytes").get<int>(), active};
    const bool stores = p.at("operation") == "store";
    const int mine = p.at("memory") == "global" ? check::global_access(access).sectors
                     : stores                   ? check::shared_store(access).wavefronts
                                                : check::shared_load(access).wavefronts;
    differ(cat("pattern ", p.at("name").get<std::string>(), ":"), "transfers",
           p.at("transfers").get<std::int64_t>(), mine, json::object());
  }

 private:
  static check::Report checked(const json& k) {
    const index_t M = k.at("m"), N = k.at("n"), K = k.at("k");
    const DType type = parse_dtype(k.at("dtype").get<std::string>());
    const Array a = make_array(type, {M, K}), b = make_array(type, {K, N}),
                c = make_array(type, {M, N});
    const ConstMatrix A{a.data(), type, M, K, K, 1}, B{b.data(), type, K, N, N, 1};
    const Matrix C{c.writable(), type, M, N, N, 1};
    Options options;
    options.algorithm = k.at("kernel").get<std::string>();
    options.tile = parse_tile(k.at("tile").get<std::string>());
    return check_matmul(make_plan(make_problem(A, B, C), options), A, B, C);
  }

  static Counters at_line(const check::Report& report, const json& line) {
    Counters out;
    for (const auto& each : report.by_line)
      if (each.location.line == line.at("line").get<int>() &&
          each.location.file.ends_with("/" + line.at("file").get<std::string>()))
        out += each.counters;
    return out;
  }

  void compare(const std::string& where, const json& metrics, const Counters& c,
               const json& reasons) {
    for (const auto& [metric, value] : metrics.items()) {
      const std::int64_t mine = ours(c, metric);
      if (mine < 0) differences.push_back(cat(where, " we have no counter for ", metric));
      else differ(where, metric, value.get<std::int64_t>(), mine, reasons);
    }
  }

  void differ(const std::string& where, const std::string& metric, std::int64_t theirs,
              std::int64_t mine, const json& reasons) {
    if (theirs == mine) return;
    const std::string text =
        cat(where, " ", metric, " is ", theirs, " on the GPU, ", mine, " by the checker");
    if (reasons.contains(metric))
      explained.push_back(cat(text, ": ", reasons.at(metric).get<std::string>()));
    else differences.push_back(text);
  }
};

/// Of one file. Throws where it is no such file.
inline Comparison compare_file(const std::string& path) {
  std::ifstream in(path);
  const json document = json::parse(in);
  for (const char* key : {"device", "capability", "date", "tools"}) (void)document.at(key);
  Comparison out;
  const json kernels = document.value("kernels", json::array()),
             patterns = document.value("patterns", json::array());
  for (const json& each : kernels) out.kernel(each);
  for (const json& each : patterns) out.pattern(each);
  return out;
}

}  // namespace tessera::gpu_truth
