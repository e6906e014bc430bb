// Starts the program with the kernels: see cuda_launch.hpp.
#include "cuda_launch.hpp"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tessera/check/file.hpp"
#include "tessera/check/format.hpp"
#include "tessera/check/html_report.hpp"
#include "tessera/core/text.hpp"
#include "tessera/io/io.hpp"

extern "C" char** environ;

namespace tessera::puzzle {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// Waits for it; how it has ended: "ended with exit code 1".
std::string run(const Words& words, const std::string& variable) {
  std::vector<char*> arguments, environment{const_cast<char*>(variable.c_str())};
  for (const auto& each : words) arguments.push_back(const_cast<char*>(each.c_str()));
  for (char** each = environ; *each != nullptr; ++each) environment.push_back(*each);
  arguments.push_back(nullptr), environment.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawn(&child, words.front().c_str(), nullptr, nullptr, arguments.data(),
                                 environment.data());
  if (failed != 0) return cat("could not be started: ", std::strerror(failed));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return cat("was ended by signal ", WTERMSIG(status));
  return cat("ended with exit code ", WEXITSTATUS(status), " before its report");
}

void write_input(const fs::path& file, const detail::CudaLaunch::Argument& argument) {
  const HostTensor<float>& values = *argument.input;
  std::vector<index_t> shape{values.rows(), values.cols()};
  if (argument.is_line) shape.erase(shape.begin());
  write_array(
      file.string(),
      Array::read_only(DType::f32, shape, contiguous_strides(shape, Order::c), values.data(), {}),
      {.overwrite = Overwrite::replace});
}

void read_output(const fs::path& file, HostTensor<float>& values) {
  if (!fs::exists(file)) return;
  const Array array = contiguous(read_array(file.string()));
  std::memcpy(values.data(), array.data(), static_cast<std::size_t>(values.size()) * sizeof(float));
}

/// The debug information of the program has the name of the learner's file after a folder.
void name_file(check::Report& report, const std::string& file) {
  const auto rename = [&](check::Location& at) {
    if (fs::path(at.file).filename() == file) at.file = file;
  };
  for (auto& finding : report.findings) {
    rename(finding.location), rename(finding.other);
    for (auto& each : finding.also) rename(each.location), rename(each.other);
  }
  for (auto& each : report.by_line) rename(each.location);
  for (auto& each : report.samples) rename(each.location);
}

}  // namespace

check::Report run_cuda_launch(const CudaProgram& cuda, const check::Options& options,
                              const detail::CudaLaunch& launch) {
  const fs::path folder = fs::path(cuda.program).parent_path() / (cuda.scope + ".launch");
  fs::remove_all(folder);
  fs::create_directories(folder);
  const fs::path report = folder / "report";
  Words words{cuda.program,
              cat("order=", name(options.order)),
              cat("threads=", options.threads),
              cat("time_limit_s=", options.time_limit_s),
              "format=json",
              cat("report=", report.string()),
              "--",
              cat(cuda.scope, "::", launch.kernel)};
  for (const Dim3& extents : {launch.grid, launch.block})
    for (const int each : {extents.x, extents.y, extents.z}) words.push_back(cat(each));
  for (const auto& each : launch.arguments) {
    const auto& values = each.output != nullptr ? *each.output : *each.input;
    const fs::path file = folder / (each.name + ".in.npy");
    if (each.output == nullptr) write_input(file, each);
    words.insert(words.end(), {each.name, cat(each.is_line ? 0 : values.rows()), cat(values.cols()),
                               each.output == nullptr   ? cat("file:", file.string())
                               : launch.adds_to_outputs ? "zeros"
                                                        : "unwritten"});
  }
  for (const index_t each : launch.numbers) words.push_back(cat(each));
  const std::string end = run(words, cat("TESSERA_LAUNCH_RESULTS=", folder.string()));
  const std::string text = check::read_source(report.string()).value_or("");
  const std::string_view json = std::string_view(text).substr(text.find('\n') + 1);
  check::Report out = json.empty() ? check::report_of_crash(launch.kernel, check::Kind::crash, end)
                                   : check::read_report(json);
  name_file(out, cuda.file);
  out.kernel = launch.kernel;
  out.grid = launch.grid, out.block = launch.block;
  for (const auto& each : launch.arguments)
    if (each.output != nullptr) read_output(folder / (each.name + ".npy"), *each.output);
  return out;
}

}  // namespace tessera::puzzle
