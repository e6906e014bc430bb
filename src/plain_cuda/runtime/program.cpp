// The report of a program in plain CUDA, and its main(): see program.hpp. The command links with
// --wrap=main, so that the program's own main() is __real_main here.
#include "program.hpp"

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "memory.hpp"
#include "tessera/check/device_model.hpp"
#include "tessera/check/file.hpp"
#include "tessera/check/merge_reports.hpp"
#include "tessera/core/text.hpp"

extern "C" int __real_main(int argc, char** argv, char** environment);
extern "C" char** environ;

namespace tessera::plain_cuda {

namespace {

std::jmp_buf leave_main;
bool in_main = false;
int exit_code = 0;
int user_argc = 0;
char** user_argv = nullptr;

check::Report run_main(const check::Options& options) {
  Program& program = Program::get();
  program.options = options;
  program.is_checked = true;
  const char* const called = std::getenv("TESSERA_PROGRAM");
  program.report.kernel = called != nullptr ? called : user_argv[0];
  program.report.order = name(options.order);
  in_main = true;
  if (setjmp(leave_main) == 0) exit_code = __real_main(user_argc, user_argv, environ);
  in_main = false;
  program.end(exit_code);
  return std::move(program.report);
}

}  // namespace

Program& Program::get() {
  static Program* const program = new Program;
  return *program;
}

cudaError_t Program::fail(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) error_ = error;
  return error;
}

cudaError_t Program::last_error(bool clear) {
  const cudaError_t out = error_;
  if (clear) {
    error_ = cudaSuccess;
    error_place_ = {};
  }
  return out;
}

void Program::find(check::Kind kind, check::Severity severity, const Place& place,
                   std::string problem, std::string hint, const Place& other) {
  check::Report one;
  check::Finding finding;
  finding.kind = kind;
  finding.severity = severity;
  finding.location = {place.file, place.line, place.column};
  if (other.line > 0) finding.other = {other.file, other.line, other.column};
  finding.block.linear = finding.other_block.linear = -1;
  finding.problem = std::move(problem);
  finding.hint = std::move(hint);
  one.findings.push_back(std::move(finding));
  check::merge_report(report, std::move(one));
}

cudaError_t Program::refuse(cudaError_t error, const Place& place, std::string problem,
                            std::string hint) {
  if (is_checked)
    find(check::Kind::runtime_misuse, check::Severity::error, place, std::move(problem),
         std::move(hint));
  return fail(error);
}

void Program::end(int code) {
  if (code != 0)
    find(check::Kind::program_failed, check::Severity::error, {},
         cat("the program ended with exit code ", code),
         "its own check failed: look at what it printed");
  for (const Allocation* each : DeviceMemory::get().live()) {
    if (each->kind != MemoryKind::device) continue;
    const Place place{each->here.file, each->here.line, each->here.column};
    find(check::Kind::runtime_misuse, check::Severity::note, place,
         cat(DeviceMemory::name_of(*each), ", ", each->bytes, " bytes, is never given back"),
         "cudaFree it");
  }
}

}  // namespace tessera::plain_cuda

/// What exit() in the program's own files calls: the report is still to come.
extern "C" void tessera_cuda_exit(int code) {
  using namespace tessera::plain_cuda;
  if (!in_main || tessera::detail::recorder != nullptr) std::exit(code);
  exit_code = code;
  std::longjmp(leave_main, 1);
}

/// The arguments are those of check::file_main, then `--` and the program's own.
extern "C" int __wrap_main(int argc, char** argv) {
  using namespace tessera::plain_cuda;
  int own = 1;
  while (own < argc && std::strcmp(argv[own], "--") != 0) ++own;
  user_argc = own < argc ? argc - own : 1;
  user_argv = own < argc ? argv + own : argv;
  user_argv[0] = argv[0];
  if (own == 1 && std::getenv("TESSERA_CUDA_RUN") != nullptr)
    return __real_main(user_argc, user_argv, environ);
  return tessera::check::file_main(own, argv, run_main, nullptr);
}
