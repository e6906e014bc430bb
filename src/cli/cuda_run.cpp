// `tessera cuda-run FILE.cu`: runs a program in plain CUDA on the CPU engine, unchecked. The
// command returns the program's exit code.
#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "plain_cuda/build.hpp"
#include "process/compile.hpp"
#include "process/program.hpp"
#include "process/signals.hpp"
#include "process/temporary_folder.hpp"
#include "shell/options.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

struct CudaRunRequest {
  std::vector<std::string> files;
  std::string flags, arguments, output, order = "forward";
  bool keeps_step = false;
};

void keep(const std::filesystem::path& program, const std::string& output) {
  std::error_code failed;
  std::filesystem::copy_file(program, output, std::filesystem::copy_options::overwrite_existing,
                             failed);
  if (failed) throw Error(Category::file, cat("cannot write ", output, ": ", failed.message()));
}

/// They belong to a run.
void check_output(const CudaRunRequest& request) {
  if (request.output.empty()) return;
  if (!request.arguments.empty())
    throw Error(Category::argument, "--args: -o does not run the program", "one of the two");
  if (request.order != "forward")
    throw Error(Category::argument, "--order: -o does not run the program", "one of the two", {},
                cat("set TESSERA_CUDA_ORDER=", request.order, " where it runs"));
}

int run_cuda(const CudaRunRequest& request) {
  check_output(request);
  const process::InterruptsAreNoted noted;
  const process::TemporaryFolder folder;
  const std::vector<std::filesystem::path> sources(request.files.begin(), request.files.end());
  const std::filesystem::path program = plain_cuda::build({.sources = sources,
                                                           .flags = request.flags,
                                                           .is_checked = false,
                                                           .keeps_step = request.keeps_step},
                                                          folder.path());
  if (!request.output.empty()) {
    keep(program, request.output);
    return 0;
  }
  std::vector<std::string> words = {program.string()};
  for (auto& each : process::split_words(request.arguments)) words.push_back(std::move(each));
  const process::ProgramEnd end = process::run_program(
      {.words = words, .environment = {"TESSERA_CUDA_ORDER=" + request.order}});
  if (end.exit_code >= 0) return end.exit_code;
  throw Error(Category::kernel, cat("cuda-run: the program ", end.text()), {}, {},
              "'tessera check' locates mistakes in kernels");
}

}  // namespace

void add_cuda_run(CLI::App& root, shell::Context& context) {
  auto request = std::make_shared<CudaRunRequest>();
  CLI::App* app = shell::add_command(root, context, "cuda-run",
                                     "Run a program in plain CUDA on the CPU, without checking it",
                                     "  tessera cuda-run saxpy.cu\n"
                                     "  tessera cuda-run main.cu kernels.cu -I include "
                                     "--args '1024 100'");
  shell::add_arguments(*app, "FILES", "FILE", request->files, "The files of the program")
      ->required();
  shell::add_text(*app, "--args", "WORDS", request->arguments,
                  "Its arguments, quoted as one argument");
  shell::add_choice(*app, "--order", request->order, {"forward", "backward", "shuffled"},
                    "The order of the threads between barriers");
  shell::add_flag(*app, "--lockstep", request->keeps_step,
                  "The lanes of a warp do each access to memory together");
  shell::add_text(*app, "-o,--output", "PROGRAM", request->output,
                  "Write the program here, and do not run it");
  shell::add_compiler_flags(*app, request->flags);
  shell::on_run(*app, context, [request] { return run_cuda(*request); });
}

}  // namespace tessera::cli
