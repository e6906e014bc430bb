// The table and the document of a sweep: see sweep.hpp.
#include "sweep.hpp"

#include <algorithm>
#include <cmath>

#include "shell/context.hpp"
#include "shell/json_text.hpp"
#include "shell/table.hpp"
#include "tessera/check/format.hpp"

namespace tessera::inspect {

namespace {

using Status = check::SweptCase::Status;

std::string counted(std::int64_t count, const char* what) {
  return cat(count, " ", what, count == 1 ? "" : "s");
}

std::string cell(const check::SweptCase& swept) {
  const check::Summary& s = swept.report.summary;
  switch (swept.status) {
    case Status::clean: return "ok";
    case Status::findings:
      return s.errors > 0 ? counted(s.errors, "error") : counted(s.warnings, "warning");
    case Status::unchecked: return "unchecked";
    case Status::refused: return "refused";
    default: return "not run";
  }
}

std::string short_place(const check::Location& at) {
  return cat(at.file.substr(at.file.rfind('/') + 1), ":", at.line);
}

/// "race at a.cpp:20, with a.cpp:22"
std::string finding_text(const check::Finding& f) {
  std::string out{name(f.kind)};
  if (f.location.line > 0) out += cat(" at ", short_place(f.location));
  else if (!f.tensor.empty()) out += cat(" of ", f.tensor);
  if (f.other.line > 0) out += cat(", with ", short_place(f.other));
  return out;
}

/// What is to be said of a case that is not clean, or that another kernel ran.
std::string remark(const check::SweptCase& swept) {
  if (swept.status == Status::findings && !swept.report.findings.empty())
    return finding_text(swept.report.findings.front());
  if (swept.status == Status::not_run) return {};
  return swept.why.empty() ? swept.report.remark : swept.why;
}

/// The orders in which each shape runs.
std::vector<ThreadOrder> orders_of(const check::Sweep& swept) {
  std::vector<ThreadOrder> out;
  for (const check::SweptCase& each : swept.cases) {
    if (std::find(out.begin(), out.end(), each.which.order) != out.end()) break;
    out.push_back(each.which.order);
  }
  return out;
}

/// A row for each shape, a column for each order, in lines of `columns` characters; 0: any. Where
/// another kernel ran some cases, a column names the kernels.
std::string table_text(const check::Sweep& swept, std::size_t columns) {
  using enum shell::Align;
  const std::vector<ThreadOrder> orders = orders_of(swept);
  const bool names_kernels = swept.count_of_others() > 0;
  std::vector<shell::Table::Column> head = {{"m", right}, {"n", right}, {"k", right}, {"strides"}};
  if (names_kernels) head.push_back({"kernel"});
  for (const ThreadOrder order : orders) head.push_back({std::string(name(order))});
  head.push_back({""});
  shell::Table table(head);
  const auto& cases = swept.cases;
  for (std::size_t i = 0; i + orders.size() <= cases.size(); i += orders.size()) {
    const check::SweepCase& shape = cases[i].which;
    std::vector<std::string> row = {cat(shape.m), cat(shape.n), cat(shape.k),
                                    std::string(name(shape.strides))};
    if (names_kernels) row.push_back(cases[i].report.kernel);
    std::string said;
    for (std::size_t j = i; j < i + orders.size(); ++j) {
      row.push_back(cell(cases[j]));
      if (said.empty()) said = remark(cases[j]);
    }
    row.push_back(said);
    table.add(row);
  }
  return table.text(columns);
}

std::string kernel_name(const SweepRequest& request, const check::Sweep& swept) {
  return is_file(request.kernel) ? swept.merged().kernel : request.kernel.name;
}

/// The command that checks one case.
std::string command_of(const SweepRequest& request, const check::SweepCase& one) {
  std::string out = cat(request.again, " -m ", one.m, " -n ", one.n, " -k ", one.k);
  if (one.strides != check::ProductStrides::rows) out += cat(" --strides ", name(one.strides));
  if (one.order != ThreadOrder::forward) out += cat(" --order ", name(one.order));
  return out;
}

std::string text_of(const SweepRequest& request, const check::SweepTile& tile,
                    const check::Sweep& swept, std::size_t columns) {
  std::string out =
      cat("kernel ", kernel_name(request, swept), ": ", swept.cases.size(), " cases around tile ",
          tile.m, "x", tile.n, "x", tile.k,
          tile.turn > 0 ? cat(" and a turn of the ring of stages, K = ", tile.turn) : "", ", ",
          tile.is_async ? "four" : "three", " orders of the threads, seed ", request.kernel.seed,
          "\n\n", table_text(swept, columns), "\n");
  if (const check::SweptCase* const failing = swept.smallest_failing()) {
    out += cat("smallest failing case: ", to_string(failing->which), "\n");
    for (const check::Finding& f : failing->report.findings)
      if (f.severity != check::Severity::note)
        out += cat("  ", name(f.severity), ": ", finding_text(f), "\n    ", f.problem, "\n");
    out += cat("  again: ", command_of(request, failing->which), "\n");
  }
  return out + swept.summary_line() + "\n";
}

nlohmann::ordered_json case_json(const check::SweptCase& swept) {
  const check::SweepCase& one = swept.which;
  const check::Summary& s = swept.report.summary;
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const check::Finding& f : swept.report.findings)
    findings.push_back({{"kind", name(f.kind)},
                        {"severity", name(f.severity)},
                        {"tensor", f.tensor},
                        {"file", f.location.file},
                        {"line", f.location.line}});
  nlohmann::ordered_json out = {{"m", one.m},
                                {"n", one.n},
                                {"k", one.k},
                                {"strides", name(one.strides)},
                                {"order", name(one.order)},
                                {"status", name(swept.status)},
                                {"errors", s.errors},
                                {"warnings", s.warnings},
                                {"notes", s.notes},
                                {"findings", std::move(findings)}};
  if (!swept.why.empty()) out["why"] = swept.why;
  if (!swept.report.kernel.empty()) out["kernel"] = swept.report.kernel;
  if (!swept.report.remark.empty()) out["remark"] = swept.report.remark;
  return out;
}

std::string json_of(const SweepRequest& request, const check::SweepTile& tile,
                    const check::Sweep& swept) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (const check::SweptCase& each : swept.cases) cases.push_back(case_json(each));
  nlohmann::ordered_json smallest;
  if (const check::SweptCase* const failing = swept.smallest_failing()) {
    smallest = case_json(*failing);
    smallest["command"] = command_of(request, failing->which);
    smallest["report"] = nlohmann::ordered_json::parse(
        check::to_json(failing->report, check::device_model(request.kernel.device)));
  }
  return shell::json_text({{"kernel", kernel_name(request, swept)},
                           {"tile", {tile.m, tile.n, tile.k}},
                           {"seed", request.kernel.seed},
                           {"summary",
                            {{"clean", swept.exit_code() == 0},
                             {"cases", swept.cases.size()},
                             {"clean_cases", swept.count(Status::clean)},
                             {"failing", swept.count(Status::findings)},
                             {"unchecked", swept.count(Status::unchecked)},
                             {"refused", swept.count(Status::refused)},
                             {"not_run", swept.count(Status::not_run)},
                             {"timed_out", swept.timed_out}}},
                           {"smallest_failing", std::move(smallest)},
                           {"cases", std::move(cases)}});
}

std::string in_format(const std::string& format, const SweepRequest& request,
                      const check::SweepTile& tile, const check::Sweep& swept,
                      std::size_t columns = 0) {
  if (format == "text") return text_of(request, tile, swept, columns);
  if (format == "json") return json_of(request, tile, swept);
  return check::find_format(format)->text(
      swept.merged(), check::device_model(request.kernel.device), check::read_source, columns);
}

CheckedKernel kernel_of(CheckedKernel kernel, const check::SweepCase& one, double seconds_left) {
  kernel.m = one.m, kernel.n = one.n, kernel.k = one.k;
  kernel.strides = name(one.strides);
  kernel.order = name(one.order);
  if (seconds_left > 0) kernel.seconds = std::max(1, static_cast<int>(std::ceil(seconds_left)));
  return kernel;
}

}  // namespace

FileReport sweep_kernel(const SweepRequest& request, const check::SweepTile& tile,
                        const CheckKernelCase& check_case) {
  auto cases = check::sweep_cases(tile, request.taken);
  if (request.only_rows)
    std::erase_if(cases,
                  [](const auto& one) { return one.strides != check::ProductStrides::rows; });
  const check::Sweep swept =
      check::sweep(cases, request.kernel.seconds, [&](const auto& one, double seconds_left) {
        return check_case(kernel_of(request.kernel, one, seconds_left));
      });
  FileReport out{.code = swept.exit_code(),
                 .printed = in_format(request.format, request, tile, swept,
                                      shell::terminal_columns(shell::Stream::out)),
                 .others = {}};
  for (const std::string& each : request.others)
    out.others[each] = in_format(each, request, tile, swept);
  return out;
}

check::SweepTile sweep_tile(const TileShape& tile) {
  check::SweepTile out;  // of an extent that the tile leaves open
  if (tile.bm > 0) out.m = tile.bm;
  if (tile.bn > 0) out.n = tile.bn;
  if (tile.bk > 0) out.k = tile.bk;
  return out;
}

check::SweepTile sweep_tile(const KernelSpelling& spelling) {
  check::SweepTile out = sweep_tile(spelling.tile);
  if (spelling.stages == 0) return out;
  out.k = spelling.depth;
  out.turn = index_t{spelling.depth} * spelling.stages;
  out.strides = spelling.strides;
  out.is_async = true;
  return out;
}

check::SweepTile sweep_tile(const CheckedKernel& kernel, const CheckKernelCase& check_case) {
  check::SweepTile out;
  if (!kernel.tile.empty()) out = sweep_tile(parse_tile(kernel.tile));
  try {
    const double share = kernel.seconds / 10.0;  // of the time limit
    const check::Report report = check_case(kernel_of(kernel, {.m = 1, .n = 1, .k = 1}, share));
    const check::Counters& c = report.total;
    out.is_async = c.bulk_copies + c.bulk_stores + c.unit_operands > 0;
    if (!kernel.tile.empty()) return out;
    const auto extent = [](index_t threads) { return std::clamp<index_t>(threads, 1, 128); };
    out.n = out.k = extent(report.block.x);
    out.m = extent(report.block.y > 1 ? report.block.y : report.block.x);
  } catch (const Error&) {  // the kernel does not take that shape
  }
  return out;
}

check::SweepExtents sweep_extents(std::string_view names) {
  const auto has = [&](char name) { return names.find(name) != names.npos; };
  return {.m = has('m'), .n = has('n'), .k = has('k')};
}

}  // namespace tessera::inspect
