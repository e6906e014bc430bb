// Compiles and runs a file for the checker: see check_file.hpp.
#include "check_file.hpp"

#include <fmt/format.h>

#include <fstream>

#include "plain_cuda/build.hpp"
#include "process/cuda_text.hpp"
#include "process/program.hpp"
#include "shell/context.hpp"
#include "tessera/check/file.hpp"

namespace tessera::inspect {

namespace {

namespace fs = std::filesystem;

/// The key=value arguments of check::file_main.
std::vector<std::string> arguments_of(const FileCheck& check, const fs::path& folder) {
  const CheckedKernel& kernel = check.kernel;
  const bool stops = !check.stop_at.empty();
  std::vector<std::string> out = {cat("order=", kernel.order),
                                  cat("seed=", kernel.seed),
                                  cat("threads=", stops ? 1 : kernel.threads),
                                  cat("blocks=", stops ? 0 : kernel.blocks),
                                  cat("time_limit_s=", stops ? 0 : kernel.seconds),
                                  cat("correctness=", kernel.counters_only ? 0 : 1),
                                  cat("forget_tiles=", kernel.forget_tiles ? 1 : 0),
                                  cat("coverage=", kernel.coverage ? 1 : 0),
                                  cat("registers=", kernel.registers),
                                  cat("warp=", kernel.warp),
                                  cat("m=", kernel.m),
                                  cat("n=", kernel.n),
                                  cat("k=", kernel.k),
                                  fmt::format("beta={:a}", kernel.beta),
                                  cat("strides=", kernel.strides),
                                  cat("sized=", check.sized ? 1 : 0),
                                  cat("format=", check.format),
                                  cat("source=", check.compilation.source.string()),
                                  cat("columns=", shell::terminal_columns(shell::Stream::out)),
                                  cat("device=", kernel.device)};
  if (!check.suppress.empty()) out.push_back("suppress=" + check.suppress);
  if (!check.problem.empty()) out.push_back("problem=" + check.problem);
  if (stops) {
    out.push_back("stop_at=" + check.stop_at);
    return out;
  }
  for (const std::string& each : check.others)
    out.push_back(cat(each, "=", (folder / each).string()));
  out.push_back("report=" + (folder / "report").string());
  return out;
}

/// Is it a program in plain CUDA? Throws if there is no such file.
bool is_cuda(const process::Compilation& compilation) {
  process::require_file(compilation.source, compilation.what);
  const auto text = check::read_source(compilation.source.string());
  if (!text) return false;
  const bool is_ours =
      text->find("tessera/") != text->npos || text->find("check_kernel") != text->npos;
  return process::plain_cuda(*text).has_value() ||
         (!is_ours && compilation.source.extension() == ".cu");
}

bool is_program(const FileCheck& check) {
  return is_cuda(check.compilation) || !check.more_sources.empty() || !check.launch.empty();
}

/// The report for a program that could not write one.
FileReport report_for(const FileCheck& check, const process::ProgramEnd& end) {
  const check::DeviceModel& device = check::device_model(check.kernel.device);
  check::Report report = check::report_of_crash(
      check.compilation.what, end.timed_out ? check::Kind::endless : check::Kind::crash,
      end.timed_out ? "ran far beyond the time limit and was ended" : end.text());
  report.source = check.compilation.source.string();
  if (is_program(check)) report.findings[0].hint = "look at what it printed";
  if (!check.suppress.empty()) check::suppress(report, check::read_suppressions(check.suppress));
  return written(report, device, check.format, check.others, check::read_source);
}

/// Runs the program in gdb, which stops at the breakpoint that the checker calls. If the program
/// ends without reaching it, the code is 4, could not check.
FileReport debug(std::vector<std::string> words, const fs::path& folder) {
  const std::string script = (folder / "gdb").string();
  std::ofstream(script) << "set print frame-arguments none\n"
                           "break tessera_stop\n"
                           "run\n"
                           "if $_isvoid($_exitcode)\n"
                           "  backtrace 12\n"
                           "else\n"
                           "  if $_exitcode < 2\n"
                           "    echo tessera check: the kernel never reached that place\\n\n"
                           "  end\n"
                           "  quit 4\n"
                           "end\n";
  const std::vector<std::string> gdb = {"gdb", "-q", "-x", script, "--args"};
  words.insert(words.begin(), gdb.begin(), gdb.end());
  const process::ProgramEnd end = process::run_program({.words = words, .owns_terminal = true});
  if (!end.started)
    throw Error(Category::unavailable, "--stop-at needs gdb, which cannot be started", {}, {},
                "install gdb");
  return {.code = end.exit_code, .printed = {}, .others = {}};
}

fs::path program_of(const FileCheck& check, const fs::path& folder) {
  const bool is_cuda_program = is_program(check);
  if (!is_cuda_program && check.kernel.warp != kWarpSize)
    throw Error(Category::argument, cat(check.compilation.what, " declares its warps"),
                "--warp with a program in plain CUDA", {},
                "give the kernel static constexpr int warp_size = 64");
  if (!is_cuda_program) return process::compile(check.compilation, folder);
  if (check.sized && check.launch.empty())
    throw Error(Category::argument,
                cat(check.compilation.what,
                    " takes no shape, which "
                    "--sweep chooses"),
                "--launch with a grid and arrays of m, n and k", {},
                "see 'A kernel without a program' in docs/plain_cuda.md");
  std::vector<fs::path> sources{check.compilation.source};
  sources.insert(sources.end(), check.more_sources.begin(), check.more_sources.end());
  return tessera::plain_cuda::build({.sources = std::move(sources),
                                     .flags = check.compilation.flags,
                                     .launch = check.launch,
                                     .for_debugger = check.compilation.for_debugger},
                                    folder);
}

}  // namespace

FileReport written(const check::Report& report, const check::DeviceModel& device,
                   const std::string& format, const std::vector<std::string>& others,
                   const check::SourceReader& source) {
  const auto in = [&](const std::string& name, std::size_t columns) {
    return check::find_format(name)->text(report, device, source, columns);
  };
  FileReport out{.code = check::exit_code(report.summary),
                 .printed = in(format, shell::terminal_columns(shell::Stream::out)),
                 .others = {}};
  for (const std::string& each : others) out.others[each] = in(each, 0);
  return out;
}

CheckedProgram::CheckedProgram(const FileCheck& check)
    : program_(program_of(check, folder_.path())) {}

FileReport CheckedProgram::run(const FileCheck& check) const {
  const fs::path& folder = folder_.path();
  fs::remove(folder / "report");  // from the previous run
  std::vector<std::string> words = {program_.string()};
  for (auto& each : arguments_of(check, folder)) words.push_back(std::move(each));
  if (!check.arguments.empty()) {
    words.emplace_back("--");
    words.insert(words.end(), check.arguments.begin(), check.arguments.end());
  }
  if (!check.stop_at.empty()) return debug(std::move(words), folder);
  std::vector<std::string> environment = {"TESSERA_PROGRAM=" + check.compilation.what};
  if (!check.arrays.empty()) environment.push_back("TESSERA_LAUNCH_ARRAYS=" + check.arrays);
  if (!check.results.empty()) environment.push_back("TESSERA_LAUNCH_RESULTS=" + check.results);
  // A program stops a slow kernel itself; this limit is for a program that no longer can.
  const double patience = 2.0 * check.kernel.seconds + 30;
  const process::ProgramEnd
      end =  // stdout is reserved for the report; the kernel's output would mix with it
      process::run_program({.words = words,
                            .prints_to_stderr = true,
                            .environment = environment,
                            .seconds = patience});
  const auto text = check::read_source((folder / "report").string());
  if (!text) return report_for(check, end);
  const auto first_line = text->find('\n');
  FileReport out{.code = std::stoi(*text), .printed = text->substr(first_line + 1), .others = {}};
  for (const std::string& each : check.others)
    out.others[each] = check::read_source((folder / each).string()).value_or("");
  return out;
}

FileReport check_file(const FileCheck& check) { return CheckedProgram(check).run(check); }

}  // namespace tessera::inspect
