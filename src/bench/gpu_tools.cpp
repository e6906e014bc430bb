// See gpu_tools.hpp. The function types are copied from cublas_api.h and nvml.h, so that no header
// of CUDA is needed.
#include "gpu_tools.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include "base/environment.hpp"
#include "cublas/cublas.hpp"
#include "process/program.hpp"
#include "process/temporary_folder.hpp"
#include "shell/machine.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {

namespace {

/// The file of a loaded function.
std::string file_of(void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

GpuTool cublas() {
  GpuTool out{"cuBLAS", "the peer of tessera bench --device cuda", {}, {}};
  for (const auto& candidate : bench::cublas_candidates()) {
    void* const library = dlopen(candidate.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) continue;
    if (void* const found = dlsym(library, "cublasGetProperty")) {
      out.path = file_of(found);
      int numbers[3] = {};
      for (const int which : {0, 1, 2}) {  // libraryPropertyType: major, minor, patch
        if (reinterpret_cast<int (*)(int, int*)>(found)(which, &numbers[which]) != 0) return out;
      }
      out.version = cat(numbers[0], ".", numbers[1], ".", numbers[2]);
      return out;
    }
    dlclose(library);
  }
  return out;
}

GpuTool nvml() {
  GpuTool out{"NVML", "clock, power and temperature while tessera bench measures", {}, {}};
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return out;
  auto* init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  auto* shut_down = reinterpret_cast<int (*)()>(dlsym(library, "nvmlShutdown"));
  auto* version =
      reinterpret_cast<int (*)(char*, unsigned)>(dlsym(library, "nvmlSystemGetDriverVersion"));
  if (init != nullptr) out.path = file_of(reinterpret_cast<void*>(init));
  char text[80] = "";
  if (init != nullptr && version != nullptr && shut_down != nullptr && init() == 0) {
    if (version(text, sizeof text) == 0) out.version = cat("of driver ", text);
    shut_down();
  }
  dlclose(library);
  return out;
}

/// Nsight Compute. It prints its version in the last of several lines.
GpuTool ncu() {
  std::vector<std::string> folders = {"/usr/local/cuda/bin"};
  if (const char* home = std::getenv("CUDA_HOME"))
    folders.insert(folders.begin(), cat(home, "/bin"));
  GpuTool out{
      "ncu", "counts what kernels do, for scripts/gpu counters", find_program("ncu", folders), {}};
  if (out.path.empty()) return out;
  try {
    const process::TemporaryFolder folder;
    process::ProgramRun run;
    run.words = {out.path, "--version"};
    run.stdout_file = run.stderr_file = folder.path() / "version";
    run.seconds = 20;
    if (!process::run_program(run).good()) return out;
    std::ifstream file(run.stdout_file);
    const std::string said((std::istreambuf_iterator<char>(file)), {});
    if (std::smatch found; std::regex_search(said, found, std::regex(R"(Version ([\d.]+))")))
      out.version = found[1];
  } catch (const Error&) {  // it is installed but does not run
  }
  return out;
}

}  // namespace

std::vector<GpuTool> gpu_tools() { return {cublas(), nvml(), ncu()}; }

}  // namespace tessera::bench
