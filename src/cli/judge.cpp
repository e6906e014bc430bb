// `tessera judge FILE.cu --launch ... --reference ...`: accepts or rejects a kernel by a reference.
// Exit code 0 accepted, 1 rejected, 4 if it could not be judged.
#include "inspect/judge.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "process/signals.hpp"
#include "shell/json_text.hpp"
#include "shell/options.hpp"

namespace tessera::cli {

namespace {

nlohmann::ordered_json reasons_json(const std::vector<inspect::Reason>& reasons) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const inspect::Reason& each : reasons) {
    nlohmann::ordered_json reason = {{"kind", each.kind}, {"text", each.text}};
    if (!each.data.empty()) reason["data"] = each.data;
    reason["m"] = each.which.m, reason["n"] = each.which.n, reason["k"] = each.which.k;
    reason["order"] = name(each.which.order);
    out.push_back(std::move(reason));
  }
  return out;
}

std::string verdict_json(const inspect::JudgeRequest& request, const inspect::Verdict& verdict) {
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

std::string reasons_text(const std::vector<inspect::Reason>& reasons, const char* what) {
  std::string out;
  for (const inspect::Reason& each : reasons)
    out += cat(what, each.kind, ": ", each.text, "\n  with ",
               each.data.empty() ? std::string() : cat(each.data, ", "), "m=", each.which.m,
               " n=", each.which.n, " k=", each.which.k, " order=", name(each.which.order), "\n");
  return out;
}

std::string verdict_text(const inspect::JudgeRequest& request, const inspect::Verdict& verdict) {
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

int run_judge(const shell::Context& context, const inspect::JudgeRequest& request) {
  inspect::checked_device(request.kernel);
  const inspect::Reference reference(request.reference);
  const process::InterruptsAreNoted noted;
  const inspect::Verdict verdict = inspect::judge(request, reference);
  if (context.json) context.print(verdict_json(request, verdict));
  else context.print_wrapped(verdict_text(request, verdict));
  return verdict.exit_code();
}

}  // namespace

void add_judge(CLI::App& root, shell::Context& context) {
  auto request = std::make_shared<inspect::JudgeRequest>();
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
