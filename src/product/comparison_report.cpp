// The forms of a comparison: see comparison_report.hpp.
#include "comparison_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "shell/json_text.hpp"
#include "shell/progress.hpp"
#include "shell/table.hpp"
#include "shell/types.hpp"
#include "shell/wrap.hpp"

namespace tessera::product {

namespace {

using nlohmann::ordered_json;

std::string_view status_name(Status status) {
  constexpr std::string_view names[] = {"ok", "out_of_bound", "different_bits", "failed",
                                        "unsupported"};
  return names[static_cast<int>(status)];
}

bool ran(const Compared& result) {
  return result.status != Status::unsupported && result.status != Status::failed;
}

shell::Types types_of(const Problem& problem) {
  return {problem.in, problem.out, problem.type_of_b()};
}

}  // namespace

ordered_json to_json(const Comparison& comparison, const std::vector<Compared>& results) {
  const Problem& problem = comparison.problem;
  ordered_json out = shell::json_object();
  out["problem"] = {{"m", problem.M},
                    {"n", problem.N},
                    {"k", problem.K},
                    {"dtype", to_string(types_of(problem))},
                    {"alpha", shell::number_or_null(problem.alpha)},
                    {"beta", shell::number_or_null(problem.beta)},
                    {"data", comparison.data},
                    {"seed", comparison.seed},
                    {"order", comparison.order},
                    {"threads", comparison.threads},
                    {"flops", problem.flops()}};
  out["results"] = ordered_json::array();
  for (const auto& result : results) {
    const bool has = ran(result);
    ordered_json row = shell::json_object();
    row["algorithm"] = result.algorithm->name;
    row["device"] = result.device;
    row["status"] = status_name(result.status);
    row["same_bits"] = has ? ordered_json(result.found.same_bits) : ordered_json();
    row["max_error_ratio"] =
        has ? shell::number_or_null(result.found.max_error_ratio) : ordered_json();
    row["seconds"] = has ? ordered_json(result.seconds) : ordered_json();
    row["gflops"] = has ? ordered_json(result.gflops) : ordered_json();
    row["tile"] =
        result.tile == TileShape{} ? ordered_json() : ordered_json(to_string(result.tile));
    if (has) row["runs"] = result.runs;
    if (has) row["outside"] = result.found.outside;
    if (has && result.found.outside > 0) {
      row["first_wrong"] = {{"row", result.found.row},
                            {"col", result.found.col},
                            {"expected", shell::number_or_null(result.found.expected)},
                            {"got", shell::number_or_null(result.found.got)}};
    }
    if (!result.reason.empty()) row["reason"] = result.reason;
    out["results"].push_back(row);
  }
  return out;
}

namespace {

shell::Ink ink_of(Status status) {
  return status == Status::ok            ? shell::Ink::green
         : status == Status::unsupported ? shell::Ink::dim
                                         : shell::Ink::red;
}

std::string table_of_one(const shell::Context& context, const std::vector<Compared>& results,
                         std::size_t columns) {
  shell::Table table({{"algorithm"},
                      {"tile", shell::Align::left, 3},
                      {"status"},
                      {"same bits", shell::Align::left, 2},
                      {"error/bound", shell::Align::right, 1},
                      {"time", shell::Align::right},
                      {"GFLOP/s", shell::Align::right},
                      {"idea", shell::Align::left, 4}});
  for (const auto& result : results) {
    const bool has = ran(result);
    table.add({std::string(result.algorithm->name),
               result.status == Status::unsupported ? ""
               : result.is_replaced                 ? "-"
                                                    : to_string(result.tile),
               context.paint(status_name(result.status), ink_of(result.status)),
               has ? (result.found.same_bits ? "yes" : "no") : "",
               has ? fmt::format("{:.3g}", result.found.max_error_ratio) : "",
               has ? shell::duration_text(result.seconds) : "",
               has ? fmt::format("{:.2f}", result.gflops) : "",
               std::string(result.algorithm->idea)});
  }
  return table.text(columns);
}

/// "1.2 ms =": the time, and whether the bits are those of the chain of multiply-adds.
std::string cell_of(const shell::Context& context, const Compared& result) {
  if (!ran(result)) return result.status == Status::unsupported ? "-" : "failed";
  const std::string time = shell::duration_text(result.seconds);
  const std::string bits = result.status != Status::ok ? std::string(status_name(result.status))
                           : result.found.same_bits    ? "="
                                                       : "~";
  return cat(time, " ", context.paint(bits, ink_of(result.status)));
}

std::string table_of_devices(const shell::Context& context, const Comparison& comparison,
                             const std::vector<Compared>& results, std::size_t columns) {
  std::vector<shell::Table::Column> head = {{"algorithm"}};
  for (const auto& device : comparison.devices) head.push_back({device, shell::Align::right});
  shell::Table table(head);
  for (std::size_t at = 0; at < results.size(); at += comparison.devices.size()) {
    std::vector<std::string> row = {std::string(results[at].algorithm->name)};
    for (std::size_t i = 0; i < comparison.devices.size(); ++i)
      row.push_back(cell_of(context, results[at + i]));
    table.add(row);
  }
  return cat(table.text(columns),
             "\n= the bits of one chain of fused multiply-adds, ~ within the error bound, - does "
             "not run there\n");
}

}  // namespace

std::string who(const Compared& result) {
  const bool is_elsewhere = !result.device.empty() && result.device != "cpu";
  return cat(result.algorithm->name, is_elsewhere ? " on " + result.device : "");
}

std::string to_table(const shell::Context& context, const Comparison& comparison,
                     const std::vector<Compared>& results) {
  const Problem& problem = comparison.problem;
  const bool is_one = comparison.devices.size() == 1;
  std::string formula = problem.alpha == 1 ? "A * B" : cat(problem.alpha, " * A * B");
  if (problem.beta != 0) formula += cat(" + ", problem.beta, " * C0");
  std::string reasons;
  for (const auto& result : results) {
    const bool is_elsewhere = !is_one && result.status == Status::unsupported;
    if (result.reason.empty() || is_elsewhere) continue;
    // The reason of a refused plan already begins with the name.
    const bool named = result.reason.starts_with(result.algorithm->name);
    reasons += named ? result.reason + "\n" : fmt::format("{}: {}\n", who(result), result.reason);
  }
  const std::size_t columns = shell::terminal_columns(shell::Stream::out);
  const std::string& device = comparison.devices.front();
  const std::string head = fmt::format(
      "C = {}, {}: A ({},{}), B ({},{}), {} data with seed {}, threads of a block {}, {} "
      "thread{}{}\n\n",
      formula, to_string(types_of(problem)), problem.M, problem.K, problem.K, problem.N,
      comparison.data, comparison.seed, comparison.order, comparison.threads,
      comparison.threads == 1 ? "" : "s", is_one && device != "cpu" ? cat(", on ", device) : "");
  return cat(shell::wrapped(head, columns),
             is_one ? table_of_one(context, results, columns)
                    : table_of_devices(context, comparison, results, columns),
             reasons.empty() ? "" : "\n", shell::wrapped(reasons, columns));
}

}  // namespace tessera::product
