// `tessera judge FILE.cu --launch ... --reference ...`: is a kernel correct? Compares every element
// of its outputs with a reference, on several data and shapes, and adds the findings of `tessera
// check`. Exit code 0 accepted, 1 rejected, 4 if it could not be judged.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.hpp"
#include "inspect/check_file.hpp"
#include "inspect/reference.hpp"
#include "inspect/sweep.hpp"
#include "plain_cuda/launch_source.hpp"
#include "process/signals.hpp"
#include "shell/json_text.hpp"
#include "shell/options.hpp"
#include "tessera/check/format.hpp"
#include "tessera/check/sweep.hpp"

namespace tessera::cli {

namespace {

struct JudgeRequest {
  inspect::CheckedKernel kernel;
  std::string launch, reference, flags, tile;
};

struct Reason {
  std::string kind, text, data;  ///< data: of the launch; empty: of any
  check::SweepCase which;
};

struct Verdict {
  std::vector<Reason> reasons;  ///< of the first rejected case
  std::vector<Reason> remarks;  ///< warnings, each from the first case with it
  std::size_t cases = 0, judged = 0, compared = 0;
  std::string incomplete;  ///< empty: all cases were judged
  std::size_t not_compared = 0;
  std::string why_not;  ///< why the first uncompared case was not compared

  bool is_accepted() const { return reasons.empty() && incomplete.empty(); }
  int exit_code() const { return is_accepted() ? 0 : reasons.empty() ? 4 : 1; }
};

/// The requested shape in three orders of the threads, then others if the launch depends on m, n,
/// k.
std::vector<check::SweepCase> cases_of(const JudgeRequest& request) {
  const inspect::CheckedKernel& kernel = request.kernel;
  std::vector<check::SweepCase> out;
  for (const auto order : {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled})
    out.push_back({.m = kernel.m, .n = kernel.n, .k = kernel.k, .order = order});
  const std::string used = plain_cuda::extents_used(request.launch);
  if (used.empty()) return out;
  const check::SweepTile tile =
      request.tile.empty() ? check::SweepTile{} : inspect::sweep_tile(parse_tile(request.tile));
  for (const check::SweepCase& one : check::sweep_cases(tile, inspect::sweep_extents(used))) {
    if (one.strides == check::ProductStrides::rows && one.order == ThreadOrder::forward)
      out.push_back(one);
  }
  return out;
}

class Judge {
 public:
  Judge(const JudgeRequest& request, const inspect::Reference& reference)
      : request_(request), reference_(reference) {
    check_.compilation.source = request.kernel.name;
    check_.compilation.what = request.kernel.name;
    check_.compilation.flags = request.flags;
    check_.launch = request.launch;
    check_.sized = true;
    check_.format = "json";
  }

  Verdict run() {
    const inspect::CheckedProgram program(check_);
    begin_ = Clock::now();
    const std::vector<check::SweepCase> cases = cases_of(request_);
    verdict_.cases = cases.size();
    for (const check::SweepCase& one : cases) {
      if (seconds_left() <= 0) {
        verdict_.incomplete = cat("the time limit of ", request_.kernel.seconds, " s");
        break;
      }
      judge(program, one);
      if (!verdict_.reasons.empty() || !verdict_.incomplete.empty()) break;
    }
    if (verdict_.not_compared > 0 && verdict_.not_compared == verdict_.judged &&
        verdict_.incomplete.empty())
      verdict_.incomplete = cat("the reference raises ", verdict_.why_not);
    return verdict_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  double seconds_left() const {
    return request_.kernel.seconds - std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  void judge(const inspect::CheckedProgram& program, const check::SweepCase& one) {
    const process::TemporaryFolder arrays;
    check_.arrays = arrays.path().string();
    check_.kernel = request_.kernel;
    check_.kernel.m = one.m, check_.kernel.n = one.n, check_.kernel.k = one.k;
    check_.kernel.order = name(one.order);
    check_.kernel.seconds = std::max(1, static_cast<int>(seconds_left()));
    const inspect::FileReport said = program.run(check_);
    if (said.printed.empty()) {
      verdict_.incomplete = "see the program's message on stderr";
      return;
    }
    const check::Report report = check::read_report(said.printed);
    for (const check::Finding& f : report.findings) {
      const std::string place =
          f.location.line > 0 ? cat(", at ", f.location.file, ":", f.location.line) : std::string();
      const Reason reason{std::string(check::name(f.kind)), cat(f.problem, place), "", one};
      // A race between threads of one warp is a warning: the result is right only while they run in
      // step.
      if (f.severity == check::Severity::error ||
          (f.severity == check::Severity::warning && f.kind == check::Kind::race))
        verdict_.reasons.push_back(reason);
      else if (f.severity == check::Severity::warning) remark(reason, place);
    }
    if (!report.summary.incomplete.empty()) verdict_.incomplete = report.summary.incomplete;
    const std::vector<inspect::JudgedLaunch> launches = inspect::read_launches(arrays.path());
    if (verdict_.incomplete.empty()) compare(launches, one);
    if (verdict_.incomplete.empty() || !verdict_.reasons.empty()) ++verdict_.judged;
  }

  void compare(const std::vector<inspect::JudgedLaunch>& launches, const check::SweepCase& one) {
    const process::TemporaryFolder exact;
    inspect::JudgedCase found =
        reference_.judge(launches, {{"m", one.m}, {"n", one.n}, {"k", one.k}}, exact.path(),
                         std::max(0.1, seconds_left()));
    if (found.timed_out) {
      verdict_.incomplete =
          cat(request_.reference, " was still running at the time limit of ",
              request_.kernel.seconds, " s: raise --time-limit, or make the reference faster");
      return;
    }
    if (!found.why_not.empty()) {
      if (verdict_.not_compared++ == 0) verdict_.why_not = std::move(found.why_not);
      return;
    }
    for (const inspect::JudgedLaunch& each : launches)
      for (const inspect::NamedArray& out : each.outputs)
        verdict_.compared += static_cast<std::size_t>(out.array.count());
    for (inspect::WrongResult& wrong : found.wrong) {
      const bool is_known = std::any_of(  // from an earlier launch of this case
          verdict_.reasons.begin(), verdict_.reasons.end(),
          [&](const Reason& each) { return each.kind == wrong.kind && each.text == wrong.text; });
      if (!is_known) verdict_.reasons.push_back({wrong.kind, wrong.text, wrong.data, one});
    }
  }

  void remark(const Reason& reason, const std::string& place) {
    const auto is_known = [&](const Reason& each) {
      return each.kind == reason.kind && each.text.ends_with(place);
    };
    if (std::none_of(verdict_.remarks.begin(), verdict_.remarks.end(), is_known))
      verdict_.remarks.push_back(reason);
  }

  const JudgeRequest& request_;
  const inspect::Reference& reference_;
  inspect::FileCheck check_;
  Clock::time_point begin_;
  Verdict verdict_;
};

nlohmann::ordered_json reasons_json(const std::vector<Reason>& reasons) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Reason& each : reasons) {
    nlohmann::ordered_json reason = {{"kind", each.kind}, {"text", each.text}};
    if (!each.data.empty()) reason["data"] = each.data;
    reason["m"] = each.which.m, reason["n"] = each.which.n, reason["k"] = each.which.k;
    reason["order"] = name(each.which.order);
    out.push_back(std::move(reason));
  }
  return out;
}

std::string verdict_json(const JudgeRequest& request, const Verdict& verdict) {
  nlohmann::ordered_json out = {{"accepted", verdict.is_accepted()},
                                {"file", request.kernel.name},
                                {"launch", request.launch},
                                {"reference", request.reference},
                                {"cases", verdict.cases},
                                {"judged", verdict.judged},
                                {"compared_elements", verdict.compared},
                                {"reasons", reasons_json(verdict.reasons)},
                                {"remarks", reasons_json(verdict.remarks)}};
  if (!verdict.incomplete.empty()) out["incomplete"] = verdict.incomplete;
  if (verdict.not_compared > 0) {
    out["not_compared_cases"] = verdict.not_compared;
    out["why_not_compared"] = verdict.why_not;
  }
  return shell::json_text(out);
}

std::string reasons_text(const std::vector<Reason>& reasons, const char* what) {
  std::string out;
  for (const Reason& each : reasons)
    out += cat(what, each.kind, ": ", each.text, "\n  with ",
               each.data.empty() ? std::string() : cat(each.data, ", "), "m=", each.which.m,
               " n=", each.which.n, " k=", each.which.k, " order=", name(each.which.order), "\n");
  return out;
}

std::string verdict_text(const JudgeRequest& request, const Verdict& verdict) {
  std::string out = reasons_text(verdict.reasons, "") + reasons_text(verdict.remarks, "remark: ");
  if (!verdict.reasons.empty())
    return out + cat("REJECTED: ", request.kernel.name, " fails case ", verdict.judged, " of ",
                     verdict.cases, "\n");
  if (!verdict.incomplete.empty())
    return out + cat("could not judge: ", verdict.incomplete, "; ", verdict.judged, " of ",
                     verdict.cases, " cases are right\n");
  out += cat("accepted: ", verdict.cases, " cases, ", verdict.compared, " elements compared\n");
  if (verdict.not_compared > 0)
    out += cat("not compared: ", verdict.not_compared,
               " of them, where an array has no elements and the reference raises ",
               verdict.why_not, "\n");
  return out;
}

int run_judge(const shell::Context& context, const JudgeRequest& request) {
  inspect::checked_device(request.kernel);
  const inspect::Reference reference(request.reference);
  const process::InterruptsAreNoted noted;
  const Verdict verdict = Judge(request, reference).run();
  if (context.json) context.print(verdict_json(request, verdict));
  else context.print_wrapped(verdict_text(request, verdict));
  return verdict.exit_code();
}

}  // namespace

void add_judge(CLI::App& root, shell::Context& context) {
  auto request = std::make_shared<JudgeRequest>();
  CLI::App* app = shell::add_command(
      root, context, "judge", "Accept or reject a kernel in plain CUDA by a reference",
      "  tessera judge gemm.cu --launch 'gemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, "
      "16)>>>(A: f32[m,k], B: f32[k,n], C: f32[m,n], m, n, k)' --reference naive\n"
      "  tessera judge softmax.cu --launch 'softmax<<<m, 256>>>(x: f32[m,n], y: f32[m,n], n)' "
      "--reference softmax.py --json");
  inspect::CheckedKernel& kernel = request->kernel;
  shell::add_argument(*app, "FILE", "FILE.cu", kernel.name, "The file with the kernel");
  shell::add_text(
      *app, "--launch", "LAUNCH", request->launch,
      "Its launch, as 'tessera check' takes it; grid, extents and values may depend on m, n, k")
      ->required();
  shell::add_text(
      *app, "--reference", "naive|FILE.py", request->reference,
      "naive: C = A * B; FILE.py defines reference(**arrays), which returns the outputs in f64")
      ->required();
  shell::add_extent(*app, "-m", kernel.m, "Extent m of the first case (default 100)");
  shell::add_extent(*app, "-n", kernel.n, "Extent n of the first case (default 100)");
  shell::add_extent(*app, "-k", kernel.k, "Extent k of the first case (default 100)");
  shell::add_text(*app, "--tile", "TILE", request->tile,
                  "Further shapes are chosen around it (default 16x16x16)");
  shell::add_seed(*app, "--seed", kernel.seed, "Seed of the data (default 0)");
  shell::add_count(*app, "--time-limit", kernel.seconds,
                   "Of all cases together, in seconds (default 60)");
  inspect::add_device_model(*app, kernel);
  shell::add_compiler_flags(*app, request->flags);
  shell::add_threads(*app, kernel.threads);
  shell::add_json_option(*app, context, "The verdict with its reasons, as JSON");
  shell::on_run(*app, context, [&context, request] { return run_judge(context, *request); });
}

}  // namespace tessera::cli
